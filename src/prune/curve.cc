// Every subset of heads is judged once, however many methods choose it, and fine-tuned once: the
// table that compares the methods costs little more than its distinct rows.
// Read next: report/curve_text.cc.
#include "headlab/prune/curve.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include "headlab/base/error.h"
#include "headlab/base/statistics.h"
#include "headlab/base/version.h"
#include "headlab/heads/scores.h"
#include "prune/judge.h"

namespace headlab {
namespace {

using Subset = std::vector<bool>;  // by place in all_heads(model)

/// Judges subsets of the heads of one run.
class Jury {
 public:
  Jury(Run& run, const CurveOptions& options)
      : run_(run), options_(options), heads_(all_heads(run.model)) {}

  Judged pruned(const Choice& choice) {
    if (choice.trained) return judge(remove_heads(*choice.trained, choice.kept));
    return once(pruned_, choice.kept, [&] { return judge(remove_heads(run_.model, choice.kept)); });
  }

  Judged finetuned(const Choice& choice) {
    const auto tune = [&] {
      Transformer model = remove_heads(choice.trained ? *choice.trained : run_.model, choice.kept);
      const TrainConfig config = finetuning(run_.config.train, options_.finetune);
      Trainer(model, *run_.task, config).run();
      return judge(model);
    };
    return choice.trained ? tune() : once(finetuned_, choice.kept, tune);
  }

  /// Which heads of a module it is makes no difference before training: the first ones.
  Judged from_scratch(const Choice& choice) {
    std::vector<HeadId> first;
    for (const HeadId& head : heads_) {
      const auto beside = [&](const HeadId& other) { return other.layer == head.layer; };
      if (std::count_if(first.begin(), first.end(), beside) <
          std::count_if(choice.kept.begin(), choice.kept.end(), beside))
        first.push_back(head);
    }
    return once(from_scratch_, first, [&] { return judge(train_from_scratch(run_, first)); });
  }

 private:
  Judged judge(const Transformer& model) const {
    const Index examples = options_.judged > 0 ? options_.judged : run_.config.train.eval_examples;
    const Key key = options_.test_split ? Key{}.fold("test") : Key{};
    const Evaluation held_out = evaluate(model, *run_.task, {.examples = examples, .key = key});
    return {held_out.loss, held_out.accuracy};
  }

  template <class Compute>
  Judged once(std::map<Subset, Judged>& known, std::span<const HeadId> kept, Compute compute) {
    Subset subset;
    for (const HeadId& head : heads_)
      subset.push_back(std::find(kept.begin(), kept.end(), head) != kept.end());
    const auto found = known.find(subset);
    if (found != known.end()) return found->second;
    return known[subset] = compute();
  }

  Run& run_;
  const CurveOptions& options_;
  std::vector<HeadId> heads_;
  std::map<Subset, Judged> pruned_, finetuned_, from_scratch_;
};

/// Computes one curve after another.
class CurveMaker {
 public:
  CurveMaker(Run& run, const CurveOptions& options, Curve& curve)
      : run_(run), options_(options), curve_(curve), jury_(run, options), sizes_(options.sizes) {
    const PruneProblem problem = this->problem(0);
    curve_.heads = std::ssize(all_heads(run.model));
    curve_.needed = run.task->needed_heads();
    for (Index size = fewest_heads(problem); options.sizes.empty() && size <= curve_.heads; ++size)
      sizes_.push_back(size);
    std::sort(sizes_.begin(), sizes_.end());
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
    curve_.full = jury_.pruned({all_heads(run.model)});
    curve_.none = jury_.pruned({});
    PassCount unused;
    curve_.ablation = zero_ablation_scores(problem, unused);
    find_owners();
  }

  void add(const PruneMethod& method) {
    MethodCurve result;
    result.method = method.name;
    result.points = draw(method, 0, result);
    const bool random = method.kind == MethodKind::baseline;
    const Index draws = random ? std::max<Index>(1, options_.draws) : 1;
    for (Index i = 1; i < draws; ++i) {
      const std::vector<CurvePoint> more = draw(method, i, result);
      for (std::size_t p = 0; p < more.size(); ++p) {
        result.points[p].pruned.loss += more[p].pruned.loss;
        result.points[p].pruned.accuracy += more[p].pruned.accuracy;
      }
    }
    for (CurvePoint& point : result.points) {
      point.pruned.loss /= static_cast<double>(draws);
      point.pruned.accuracy /= static_cast<double>(draws);
    }
    summarise(result);
    curve_.methods.push_back(std::move(result));
  }

 private:
  PruneProblem problem(Index draw) {
    return {.model = run_.model,
            .task = *run_.task,
            .examples = options_.examples,
            .seed = options_.seed + draw,
            .per_layer_min = options_.per_layer_min,
            .train = run_.config.train,
            .gate_steps = options_.gate_steps,
            .penalty = options_.penalty};
  }

  void say(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  /// Which heads own which relation, by their patterns.
  void find_owners() {
    if (curve_.heads == 0) return;
    const HeadsReport report = score_heads(run_.model, *run_.task, {.examples = options_.examples});
    for (std::size_t r = 0; r < report.relations.size(); ++r) {
      std::vector<HeadId> owners;
      for (const HeadScores& head : report.heads) {
        const RelationScore& score = head.relations[r];
        const bool owns = score.p < kOwnerP && score.lift >= kOwnerLift;
        if (owns) owners.push_back({head.layer, head.head});
      }
      if (!owners.empty()) curve_.owners.emplace_back(report.relations[r].relation.name, owners);
    }
  }

  /// Chooses and judges all sizes once.
  std::vector<CurvePoint> draw(const PruneMethod& method, Index number, MethodCurve& result) {
    say(text(method.name, number > 0 ? text(", draw ", number + 1) : std::string()));
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Choice> choices = choose_heads(problem(number), method, sizes_, &result.cost);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    result.seconds += took.count();
    std::vector<CurvePoint> points;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      points.push_back({.kept = sizes_[i], .heads = choices[i].kept});
      points.back().pruned = jury_.pruned(choices[i]);
      if (options_.finetune > 0 && number == 0) {
        say(text(method.name, ", fine-tuning ", sizes_[i], " heads"));
        points.back().finetuned = jury_.finetuned(choices[i]);
      }
      if (options_.from_scratch && number == 0) {
        say(text(method.name, ", training ", sizes_[i], " heads from scratch"));
        points.back().from_scratch = jury_.from_scratch(choices[i]);
      }
      score_against_owners(points.back());
    }
    return points;
  }

  /// A relation is recalled if any of its owners was kept; a kept head is a hit if it owns a
  /// relation for which no other hit is needed.
  void score_against_owners(CurvePoint& point) const {
    std::vector<HeadId> unused = point.heads;
    double recalled = 0, hits = 0;
    for (const auto& [relation, owners] : curve_.owners) {
      const auto is_owner = [&, &list = owners](const HeadId& head) {
        return std::find(list.begin(), list.end(), head) != list.end();
      };
      recalled += std::any_of(point.heads.begin(), point.heads.end(), is_owner) ? 1 : 0;
      const auto hit = std::find_if(unused.begin(), unused.end(), is_owner);
      if (hit == unused.end()) continue;
      unused.erase(hit);
      ++hits;
    }
    const auto share = [](double part, std::size_t all) {
      return all > 0 ? part / static_cast<double>(all) : 0;
    };
    point.recall = share(recalled, curve_.owners.size());
    point.precision = share(hits, point.heads.size());
  }

  void summarise(MethodCurve& result) const {
    const std::vector<CurvePoint>& points = result.points;
    for (std::size_t i = 1; i < points.size(); ++i) {
      const auto width = static_cast<double>(points[i].kept - points[i - 1].kept);
      result.area += width * (points[i].pruned.loss + points[i - 1].pruned.loss) / 2;
    }
    if (points.size() > 1) result.area /= static_cast<double>(points.back().kept - points[0].kept);
    std::vector<double> stays;
    for (const HeadId& head : all_heads(run_.model)) {
      stays.push_back(static_cast<double>(
          std::count_if(points.begin(), points.end(), [&](const CurvePoint& point) {
            return std::find(point.heads.begin(), point.heads.end(), head) != point.heads.end();
          })));
    }
    result.rank_correlation = spearman(stays, curve_.ablation);
    result.knee = knee_of(result, curve_.full, curve_.none);
  }

  Run& run_;
  const CurveOptions& options_;
  Curve& curve_;
  Jury jury_;
  std::vector<Index> sizes_;
};

/// Mean over sizes of the loss above that of the exhaustive choice.
void add_regrets(Curve& curve) {
  const auto best = std::find_if(curve.methods.begin(), curve.methods.end(),
                                 [](const MethodCurve& m) { return m.method == "exhaustive"; });
  if (best == curve.methods.end()) return;
  for (MethodCurve& method : curve.methods) {
    double sum = 0;
    for (std::size_t i = 0; i < method.points.size(); ++i)
      sum += method.points[i].pruned.loss - best->points[i].pruned.loss;
    method.regret = sum / static_cast<double>(std::max<std::size_t>(1, method.points.size()));
  }
}

/// All methods that can be had without training, and the exhaustive search where it is small.
std::vector<std::string> default_methods(Index heads) {
  constexpr Index kSmall = 12;
  std::vector<std::string> names;
  for (const PruneMethod& method : prune_table()) {
    const bool exhaustive = std::string(method.name) == "exhaustive";
    if (method.kind != MethodKind::training && (!exhaustive || heads <= kSmall))
      names.emplace_back(method.name);
  }
  return names;
}

}  // namespace

std::optional<Index> knee_of(const MethodCurve& method, const Judged& full, const Judged& none) {
  const double limit = full.loss + 0.01 * (none.loss - full.loss);
  for (const CurvePoint& point : method.points)
    if (point.finetuned.value_or(point.pruned).loss <= limit) return point.kept;
  return std::nullopt;
}

Curve prune_curve(Run& run, const CurveOptions& options) {
  std::vector<const PruneMethod*> methods;
  const std::vector<std::string> names =
      options.methods.empty() ? default_methods(std::ssize(all_heads(run.model))) : options.methods;
  for (const std::string& name : names) methods.push_back(&find_prune_method(name));
  Curve curve;
  for (const AttentionModule& module : run.model.attention_modules())
    curve.attention.push_back(module.name);
  CurveMaker maker(run, options, curve);
  for (const PruneMethod* method : methods) maker.add(*method);
  add_regrets(curve);
  return curve;
}

}  // namespace headlab
