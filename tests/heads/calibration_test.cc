// The rate of conclusions on data without any effect, and the strength from which an effect is
// found. A few seeds by default, of those that chose no margin; the numbers in
// examples/RESULTS.md are of
//   HEADLAB_SEEDS=200 build/test_heads --gtest_filter='Calibration.*:Power.*'
// The ground truth is shuffled among the examples of a task, so that it has nothing to do with what
// heads look at; heads are those of random models and of models built by hand that do their
// relation perfectly. In the controls the ground truth is what it says, and no head has a use for
// it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>

#include "headlab/core/model/initial.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"
#include "headlab/core/train/trainer.h"
#include "headlab/lab/heads/causes/pairs.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "support/hand_built.h"
#include "support/induction_pair.h"
#include "support/models.h"
#include "support/tasks.h"

namespace headlab { namespace {

Index given(const char* name, Index otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

/// Seeds that no setting and no margin was chosen on: every `stride`-th of them.
std::vector<Index> seeds(Index stride = 1) {
  const Index first = given("HEADLAB_FIRST_SEED", 10'000);
  std::vector<Index> drawn;
  for (Index i = 0; i < given("HEADLAB_SEEDS", 6); i += stride) drawn.push_back(first + i);
  return drawn;
}

using Keys = std::vector<std::int32_t>;

Keys without(std::span<const std::int32_t> keys, std::span<const std::int32_t> left_out) {
  Keys kept;
  for (const std::int32_t key : keys)
    if (std::ranges::find(left_out, key) == left_out.end()) kept.push_back(key);
  return kept;
}

/// A task whose sequences carry the ground truth of each other, at the same positions, except for
/// what is true of a sequence itself: few distinct sequences share many of their edges.
class Shuffled : public TaskAround {
 public:
  Shuffled(const Task& task, Key key) : TaskAround(task), key_(key) {}
  Example make(Key key, Index count, Split split) const override {
    Example example = task_.make(key, count, split);
    std::vector<Index> from(count);
    std::iota(from.begin(), from.end(), Index{0});
    Generator random(key_);
    random.shuffle(std::span(from));
    for (GroundTruth& truth : example.truth) {
      GroundTruth exchanged;
      for (Index b = 0; b < count; ++b)
        for (Index t = 0; t < example.batch.length; ++t)
          if (const Keys keys = without(truth.keys(from[b], t), truth.keys(b, t)); !keys.empty())
            exchanged.add(b, t, keys);
      truth = exchanged;
    }
    return example;
  }

 private:
  Key key_;
};

/// The rate of an event, with Wilson's 95% interval.
struct Rate {
  Index matches = 0, trials = 0;

  void add(bool hit) { matches += hit, ++trials; }
  double share() const { return static_cast<double>(matches) / static_cast<double>(trials); }
  double bound(double sign) const {
    const auto n = static_cast<double>(trials);
    const double z = 1.96, p = share(), middle = p + z * z / (2 * n);
    const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return std::clamp((middle + sign * half) / (1 + z * z / n), 0.0, 1.0);
  }
  void expect_at_most_one_percent(const char* what) const {
    std::cout << "  " << what << ": " << matches << " of " << trials << " [" << bound(-1) << ", "
              << bound(1) << "]\n";
    EXPECT_LE(bound(-1), 0.01) << what;
    if (trials >= 200) {
      EXPECT_LE(share(), 0.01) << what;
    }
  }
};

constexpr const char* kRelationsToShuffle = "relations:length=10,vocab=6,classes=3,relations=same";

TEST(Calibration, FalseOwnersAreRare) {
  Rate random, perfect, shared;
  for (const Index seed : seeds()) {
    const auto task = make_task(kRelationsToShuffle);
    const Shuffled shuffled(*task, Key{7}.fold(seed));
    const HeadsOptions options{.examples = 100, .without_truth = false, .patterns_only = true};
    const Transformer model = random_model(small_config(task->shape()), Key{1}.fold(seed));
    const HeadsReport scores = score_heads(model, shuffled, options);
    for (std::size_t r = 0; r < scores.relations.size(); ++r) {
      random.add(scores.relations[r].owned);
      shared.add(scores.division_of(r) != nullptr);
    }
    const Transformer same = hand_built(task->shape(), 3, {kSame, 1, kUniform});
    for (const RelationWinner& winner : score_heads(same, shuffled, options).relations)
      perfect.add(winner.owned);
  }
  random.expect_at_most_one_percent("owns, random models, shuffled ground truth");
  shared.expect_at_most_one_percent("shares, random models, shuffled ground truth");
  perfect.expect_at_most_one_percent("owns, a perfect head, shuffled ground truth");
}

TEST(Calibration, FalseCausesAreRare) {
  Rate random, perfect;
  for (const Index seed : seeds()) {
    const auto task = make_task(kInduction);
    const Shuffled shuffled(*task, Key{7}.fold(seed));
    const EdgeOptions options{.examples = 120, .draws = 2, .seed = seed};
    const auto count = [&](const Transformer& model, Rate& rate) {
      const EdgeExperiment experiment(model, shuffled, options);
      for (const HeadId& head : all_heads(model)) rate.add(experiment.test(0, {head}).is_cause());
    };
    count(random_model(small_config(task->shape()), Key{1}.fold(seed)), random);
    count(induction_pair(task->shape()), perfect);
  }
  random.expect_at_most_one_percent("cause, random models, shuffled ground truth");
  perfect.expect_at_most_one_percent("cause, the induction pair, shuffled ground truth");
}

/// Two layers, trained until heads own relations: pairs of which one alone owns the relation that
/// is asked about, and the other does not even do it in part. Both conclusions are possible: the
/// other may write to its logits as well. A training for every fourth of the seeds.
TEST(Calibration, FalsePairsAreRare) {
  Rate redundant, takes_over, found;
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+3+same");
  for (const Index seed : seeds(4)) {
    TransformerConfig config = small_config(task->shape());
    config.d_model = 24;
    Transformer model(config);
    initialize(model, streams::initial_values(seed));
    Trainer(model, *task, {.steps = 300, .batch = 32, .lr = 1e-2, .warmup = 15, .seed = seed})
        .run();
    const HeadsReport scores = score_heads(model, *task, {.without_truth = false});
    const auto lift_of = [&](const HeadId& head, const std::string& relation) {
      const auto h = std::ranges::find_if(scores.heads, [&](const HeadId& x) { return x == head; });
      for (std::size_t r = 0; r < scores.relations.size(); ++r)
        if (scores.relations[r].relation.name == relation) return h->relations[r].lift;
      return 1.0;
    };
    for (const HeadPairReport& pair : ablate_pairs(model, *task, {}, 256).pairs) {
      const auto is_strong = [&](const HeadId& head) {
        return lift_of(head, pair.relation) >= 0.5;
      };
      if (is_strong(pair.first) && is_strong(pair.second) && !pair.relation.empty())
        found.add(pair.redundant());
      const HeadId other = pair.of_first.owns ? pair.second : pair.first;
      if (pair.relation.empty() || lift_of(other, pair.relation) >= 0.1) continue;
      redundant.add(pair.redundant());
      takes_over.add(pair.first_takes_over() || pair.second_takes_over());
    }
  }
  std::cout << "  redundant, of pairs with a lift of .5 each: " << found.matches << " of "
            << found.trials << "\n";
  EXPECT_GT(redundant.trials, 0);
  redundant.expect_at_most_one_percent("redundant, unrelated pairs of trained models");
  takes_over.expect_at_most_one_percent("takes over, unrelated pairs of trained models");
}

/// The controls, trained until `memoryless` is known: nothing in them is a head's work.
TEST(Calibration, FalseOwnersInRandomTasksAreRare) {
  for (const char* spec :
       {"memoryless:length=10,vocab=6,classes=3", "random:length=10,vocab=6,classes=3"}) {
    Rate owned, causes, pairs, shared;
    double loss = 0;
    const auto task = make_task(spec);
    for (const Index seed : seeds()) {
      Transformer model(small_config(task->shape()));
      initialize(model, streams::initial_values(seed));
      Trainer(model, *task, {.steps = 150, .batch = 32, .lr = 1e-2, .warmup = 15, .seed = seed})
          .run();
      loss +=
          evaluate(model, *task, {.examples = 60}).loss / static_cast<double>(std::ssize(seeds()));
      const HeadsReport scores =
          score_heads(model, *task,
                      {.examples = 100, .without_truth = false, .patterns_only = true});
      for (std::size_t r = 0; r < scores.relations.size(); ++r) {
        owned.add(scores.relations[r].owned);
        shared.add(scores.division_of(r) != nullptr);
      }
      const EdgeExperiment experiment(model, *task, {.examples = 120, .draws = 2, .seed = seed});
      for (std::size_t r = 0; r < scores.relations.size(); ++r)
        for (const HeadId& head : all_heads(model))
          causes.add(experiment.test(r, {head}).is_cause());
      for (const HeadPairReport& pair : ablate_pairs(model, *task, {}, 100).pairs)
        pairs.add(!pair.conclusion().empty());
    }
    std::cout << "  " << spec << ", mean loss " << loss << "\n";
    EXPECT_LT(loss, *spec == 'm' ? 0.1 : 2);
    owned.expect_at_most_one_percent("owns, a control");
    shared.expect_at_most_one_percent("shares, a control");
    causes.expect_at_most_one_percent("cause, a control");
    pairs.expect_at_most_one_percent("redundant or takes over, a control");
  }
}

/// Heads that do `relation` with their logits scaled down: the lift of each falls from 1 to 0.
Transformer weakened(const TaskShape& shape, Index relation, std::vector<double> strengths) {
  const auto heads = std::ssize(strengths);
  Transformer model =
      hand_built(shape, 3, std::vector<Index>(static_cast<std::size_t>(heads), relation));
  const Tensor& W = model.attention(0).Q.W;
  for (Index i = 0; i < W.count(); ++i) {
    const Index head = i % W.size(1) / (W.size(1) / heads);
    W.data()[i] *= static_cast<Scalar>(strengths[static_cast<std::size_t>(head)]);
  }
  return model;
}

/// Two heads that do the same at other strengths share a relation and divide nothing.
TEST(Calibration, FalseSplitsAreRare) {
  Rate divided;
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+same");
  for (const Index seed : seeds()) {
    Generator random(Key{9}.fold(seed));
    for (const Index relation : {Index{1}, kSame}) {
      const double scale = relation == kSame ? 1.3e-3 : 5e-5;
      const Transformer alike =
          weakened(task->shape(), relation,
                   {scale * (1 + 0.5 * random.uniform()), scale * (1 + 0.5 * random.uniform())});
      const HeadsReport report =
          score_heads(alike, *task,
                      {.examples = 400, .without_truth = false, .patterns_only = true});
      for (const Division& division : report.divisions) divided.add(!division.by().empty());
    }
  }
  EXPECT_GT(divided.trials, 0);
  divided.expect_at_most_one_percent("divides, heads that do the same");
}

/// Other examples for each seed.
struct Later : Shuffled {
  Later(const Task& of, Index by) : Shuffled(of, Key{}), of_(of), by_(by) {}
  Example make(Key key, Index count, Split split) const override {
    return of_.make(key.fold(by_), count, split);
  }
  const Task& of_;
  Index by_;
};

/// Two heads, each of which lacks a share of the positions that are its own to lack, are weak
/// everywhere else.
TEST(Power, SplitsGainPowerWithTheSplitShare) {
  std::cout << "  divided positions, and the share of seeds in which that is found with 100 and "
               "400 examples\n";
  const auto task = make_task("relations:length=10,vocab=6,classes=3,relations=1+same");
  for (const double divided : {0.0, 0.2, 0.4, 1.0}) {
    Rate found[2];
    for (const Index seed : seeds()) {
      Transformer model = weakened(task->shape(), 1, {6e-5, 6e-5});
      const Tensor& W = model.attention(0).Q.W;
      Generator random(Key{5}.fold(seed));
      for (Index t = 0; t < task->shape().length; ++t)
        if (random.uniform() < divided)
          std::fill_n(W.data() + (2 * t + random.below(2)) * W.size(1) / 2, W.size(1) / 2,
                      Scalar{0});
      for (const bool many : {false, true}) {
        const HeadsReport report = score_heads(model, Later(*task, seed),
                                               {.examples = many ? 400 : 100,
                                                .without_truth = false,
                                                .patterns_only = true});
        const Division* division = report.division_of(0);
        found[many].add(division != nullptr && division->by() == "position");
      }
    }
    std::cout << "  " << divided << "  " << found[0].share() << "  " << found[1].share() << "\n";
    if (divided == 0) {
      EXPECT_EQ(found[1].matches, 0);
    }
    if (divided == 1) {
      EXPECT_GT(found[1].share(), 0.8);  // where all of them lack the same, one does it alone
    }
  }
}

/// The output of one head of a pair built by hand is scaled down.
Transformer quieter(Transformer model, Index heads, double strength) {
  const Tensor& W = model.attention(1).O.W;  // the last head's rows come last
  for (Index i = W.count() - W.count() / heads; i < W.count(); ++i)
    W.data()[i] *= static_cast<Scalar>(strength);
  return model;
}

TEST(Power, CausesAndPairsGainPowerWithStrength) {
  std::cout << "  strength of one head, and the share of seeds in which a pair is redundant, one "
               "takes over, a head is a cause\n";
  const auto induction = make_task(kInduction);
  const auto before = make_task("relations:length=10,vocab=6,classes=3,relations=1");
  for (const double strength : {0.001, 0.01, 0.2, 0.4, 0.6, 1.0}) {
    Rate redundant, takes_over, cause;
    for (const Index seed : seeds(4)) {
      const Transformer two = quieter(induction_pair(induction->shape(), 2), 2, strength);
      redundant.add(ablate_pairs(two, Later(*induction, seed), {}, 80).pairs[2].redundant());
      takes_over.add(ablate_pairs(quieter(one_takes_over(before->shape()), 1, strength),
                                  Later(*before, seed), {}, 80)
                         .pairs[0]
                         .second_takes_over());
      const Transformer one = quieter(induction_pair(induction->shape()), 1, strength);
      cause.add(EdgeExperiment(one, Later(*induction, seed), {.examples = 120, .draws = 2})
                    .test(0, {{1, 0}})
                    .is_cause());
    }
    std::cout << "  " << strength << "  " << redundant.share() << "  " << takes_over.share() << "  "
              << cause.share() << "\n";
    if (strength <= 0.01) {
      EXPECT_EQ(redundant.matches + takes_over.matches, 0);
    }
    if (strength == 1) {
      EXPECT_EQ(redundant.share() + takes_over.share() + cause.share(), 3);
    }
  }
}

TEST(Power, OwnersGainPowerWithLiftAndExamples) {
  std::cout << "  strength, lift, and the share of seeds in which the head is found with "
               "20, 40, 100 and 400 examples\n";
  for (const double strength : {4e-4, 1e-3, 1.3e-3, 1.6e-3, 2e-3, 1e-2}) {
    const auto task = make_task(kRelationsToShuffle);
    const Transformer model = weakened(task->shape(), kSame, {strength});
    double lift = 0;
    std::vector<double> found;
    for (const Index examples : {20, 40, 100, 400}) {
      Rate rate;
      for (const Index seed : seeds()) {
        const HeadsReport report =
            score_heads(model, Later(*task, seed),
                        {.examples = examples, .without_truth = false, .patterns_only = true});
        rate.add(report.heads[0].relations[0].owns());
        lift = report.heads[0].relations[0].lift;
      }
      found.push_back(rate.share());
    }
    std::cout << "  " << strength << "  " << lift;
    for (const double share : found) std::cout << "  " << share;
    std::cout << "\n";
    if (lift > 0.5) {
      EXPECT_EQ(found.back(), 1);
    }
    if (lift < 0.2) {
      EXPECT_EQ(found.back(), 0);
    }
  }
}

}  // namespace
}  // namespace headlab
