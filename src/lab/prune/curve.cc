// Pruning curves. Every subset of heads is evaluated once and fine-tuned once, independent of how
// many methods choose it, so a table of all methods costs little more than its distinct rows.
// Read next: over_runs.cc.
#include "headlab/lab/prune/curve.h"

#include <algorithm>
#include <map>
#include <utility>

#include "headlab/core/base/mean.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/runs/guards.h"
#include "lab/prune/subsets.h"
#include "lab/runs/timing.h"

namespace headlab {
namespace {

constexpr std::size_t kFewHeads = 12;  // evaluating all their subsets takes little time

using Subset = std::vector<bool>;  // by index in all_heads(model)
using Stages = std::vector<TrainingStage>;

/// Results on held-out examples, cached by subset of the heads of one run.
class SubsetResults {
 public:
  SubsetResults(const Run& run, const CurveOptions& options)
      : run_(run), options_(options), heads_(all_heads(run.model)) {}

  Judged pruned(const Choice& choice) {
    const auto prune = [&] { return judged(pruned_model(run_.model, choice)); };
    return choice.trained ? prune() : remembered(pruned_, choice.kept, prune);
  }

  /// Returns the loss of a choice on the choosing examples.
  std::optional<double> chosen_on(const Choice& choice) {
    if (choice.trained) return std::nullopt;
    if (!choosing_) choosing_.emplace(problem_of(run_, options_.settings), unused_);
    return (*choosing_)(choice.kept);
  }

  Judged finetuned(const Choice& choice) {
    const auto tune = [&] {
      Transformer model = pruned_model(run_.model, choice);
      Trainer(model, *run_.task, finetuning(run_.config.train, options_.finetune)).run();
      return judged(model);
    };
    if (choice.trained) return tune();
    return remembered(finetuned_, choice.kept, [&] {
      return kept("finetuned", choice.kept, later_stages(run_, 0, options_.finetune), tune);
    });
  }

  /// Returns the result of a model from scratch. Before training, all heads of an attention layer
  /// are alike, so the first ones represent any.
  Judged from_scratch(const Choice& choice) {
    std::vector<HeadId> first;
    for (const HeadId& head : heads_) {
      const Index layer = head.attention_layer;
      const auto chosen = std::ranges::count(first, layer, &HeadId::attention_layer);
      if (chosen < std::ranges::count(choice.kept, layer, &HeadId::attention_layer)) {
        first.push_back(head);
      }
    }
    const Stages more = later_stages(run_, choice.steps, options_.finetune);
    const auto train = [&] { return judged(train_from_scratch(run_, first, more)); };
    return remembered(from_scratch_[choice.steps], first,
                      [&] { return kept("from_scratch", first, more, train); });
  }

  /// Returns the model with all heads, trained further like a model of this choice; nothing if that
  /// is not trained.
  std::optional<Judged> unpruned(const Choice& choice) {
    const Stages more = later_stages(run_, choice.steps, options_.finetune);
    if (more.empty()) return std::nullopt;
    const auto train = [&] { return judged(train_on(run_, more)); };
    return remembered(unpruned_[choice.steps], heads_,
                      [&] { return kept("unpruned", heads_, more, train); });
  }

 private:
  Judged judged(const Transformer& model) const {
    const Index examples = options_.judged > 0 ? options_.judged : run_.config.train.eval_examples;
    const Key key = options_.test_split ? streams::test() : streams::held_out();
    const Split split = options_.test_split ? Split::test : Split::validation;
    return judge(model, *run_.task, {.examples = examples, .key = key, .split = split});
  }

  /// Runs a training once, even if several curves need it.
  Judged kept(const char* what, const std::vector<HeadId>& heads, const Stages& more,
              const std::function<Judged()>& train) const {
    Json settings = Json::object({{"heads", heads},
                                  {"stages", schedule_text(more)},
                                  {"judged", options_.judged},
                                  {"test_split", options_.test_split}});
    const Job job = part_of_run(run_, options_.keeping, what, std::move(settings),
                                [&] { return to_json(train()); });
    return read_as<Judged>(once(job, options_.keeping.should_stop));
  }

  template <class Compute>
  Judged remembered(std::map<Subset, Judged>& known, std::span<const HeadId> kept,
                    Compute compute) {
    Subset subset;
    for (const HeadId& head : heads_) subset.push_back(contains(kept, head));
    const auto found = known.find(subset);
    return found != known.end() ? found->second : known[subset] = compute();
  }

  const Run& run_;
  const CurveOptions& options_;
  std::vector<HeadId> heads_;
  PassCount unused_;
  std::optional<SubsetLoss> choosing_;
  std::map<Subset, Judged> pruned_, finetuned_;
  std::map<Index, std::map<Subset, Judged>> from_scratch_, unpruned_;  // by steps of gates
};

/// Determines the owners of each relation from their patterns.
Json find_owners(const Run& run, Index examples) {
  const HeadsReport report = score_heads(run.model, *run.task, {.examples = examples});
  Json owners = Json::object();
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    std::vector<HeadId> own;
    for (const HeadScores& head : report.heads) {
      if (head.relations[r].owns()) own.push_back(head);
    }
    if (!own.empty()) owners[report.relations[r].relation.name] = own;
  }
  return owners;
}

/// Fills in recall and precision.
void score_against_owners(CurvePoint& point, const Json& owners) {
  std::vector<HeadId> unmatched = point.heads;
  std::size_t recalled = 0;
  for (const auto& [relation, list] : owners.members()) {
    const auto owns = [own = heads_of(list)](const HeadId& head) { return contains(own, head); };
    recalled += std::ranges::any_of(point.heads, owns);
    const auto match = std::ranges::find_if(unmatched, owns);
    if (match != unmatched.end()) unmatched.erase(match);
  }
  const auto share = [](std::size_t part, std::size_t all) {
    return Mean(static_cast<double>(part), static_cast<Index>(all)).or_nan();
  };
  point.owned = std::ssize(owners.members());
  point.recall = share(recalled, owners.members().size());
  point.precision = share(point.heads.size() - unmatched.size(), point.heads.size());
}

/// Fills the mean over sizes of the loss minus that of the exhaustive choice.
void add_regrets(Curve& curve) {
  const auto best = std::ranges::find(curve.methods, "exhaustive", &MethodCurve::method);
  if (best == curve.methods.end()) return;
  for (MethodCurve& method : curve.methods) {
    Mean regret;
    for (std::size_t i = 0; i < method.points.size(); ++i) {
      regret.add(method.points[i].pruned.loss - best->points[i].pruned.loss);
    }
    method.regret = regret.value();
    method.sizes = regret.count();
  }
}

/// Parts of a run's curve.
class CurveWork {
 public:
  CurveWork(const Run& run, const CurveOptions& options)
      : run_(run), options_(options), results_(run, options_), sizes_(options.sizes) {
    const Index fewest = fewest_heads(problem_of(run, options.settings)),
                heads = std::ssize(all_heads(run.model));
    for (Index size = fewest; options.sizes.empty() && size <= heads; ++size) {
      sizes_.push_back(size);
    }
    std::ranges::sort(sizes_);
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
    add("about", "the unpruned model", [this] { return to_json(about()); });
    const std::vector<std::string> methods = curve_methods(run.model, options);
    for (const std::string& name : methods) {
      const PruneMethod& method = find_prune_method(name);
      add(name, "method " + name, [this, &method] { return to_json(curve_by(method)); });
    }
    searched_ = std::ranges::find(methods, "exhaustive") != methods.end() &&
                std::cmp_less_equal(heads, kFewHeads);
    if (searched_) {
      add("subsets", "all subsets of heads",
          [this] { return to_json(judge_all_subsets(run_.model, *run_.task)); });
    }
  }

  /// Returns the jobs: the unpruned model, one for each method, and all subsets if searched.
  const std::vector<Job>& jobs() const { return jobs_; }

  Curve curve() {
    Curve curve = known();
    for (std::size_t i = 1; i + (searched_ ? 1 : 0) < jobs_.size(); ++i) {
      curve.methods.push_back(read_as<MethodCurve>(found(i)));
      require(curve.methods.back().points.size() == sizes_.size(), "cannot read ",
              jobs_[i].file.string(), ": it is damaged; delete it to compute it again");
    }
    add_regrets(curve);
    if (searched_) curve.subsets = read_as<SubsetTable>(found(jobs_.size() - 1));
    return curve;
  }

 private:
  void add(const std::string& name, const std::string& label, std::function<Json()> make) {
    CurveOptions options = options_;
    Json settings = settings_of(options).to_json();
    settings["sizes"] = sizes_;
    // Parts of curves with another schedule of the references are not reused.
    if (options_.finetune > 0 || options_.from_scratch) settings["references"] = "same schedule";
    jobs_.push_back(part_of_run(run_, options_.keeping, "curve-" + name, settings, make));
    jobs_.back().label = name_of(run_) + ": " + label;
  }
  Json found(std::size_t job) const { return once(jobs_[job], options_.keeping.should_stop); }

  Curve about() {
    Curve curve;
    curve.task = run_.task->spec();
    curve.attention = attention_layer_names(run_.model);
    const std::vector<HeadId> heads = all_heads(run_.model);
    curve.heads = std::ssize(heads);
    if (const Index needed = run_.task->needed_heads(); needed > 0) curve.needed = needed;
    curve.full = results_.pruned({heads});
    curve.none = results_.pruned({});
    const Index judged = options_.judged > 0 ? options_.judged : run_.config.train.eval_examples;
    const Batch examples = held_out_examples(*run_.task, judged).batch;
    curve.at_guessing = against_guessing(run_.model, examples).is_at_guessing();
    PassCount unused;
    curve.ablation =
        find_prune_method("ablation").scores(problem_of(run_, options_.settings), unused);
    if (!heads.empty()) curve.owners = find_owners(run_, options_.settings.examples);
    return curve;
  }
  const Curve& known() {
    if (!known_) known_ = read_as<Curve>(found(0));
    return *known_;
  }

  MethodCurve curve_by(const PruneMethod& method) {
    MethodCurve result{.method = method.name};
    const bool random = method.kind == MethodKind::baseline;
    const Index draws = random ? std::max<Index>(1, options_.draws) : 1;
    Steps steps(draws);
    for (Index draw = 0; draw < draws; ++draw, steps.done()) add_draw(method, draw, result);
    summarise(result);
    return result;
  }

  void tell(const std::string& what) const {
    if (options_.progress) options_.progress(run_.path.string() + ": " + what);
  }

  /// Chooses and evaluates all sizes once more. Losses and accuracies become running means over the
  /// draws, in a form that equal draws do not change by a bit.
  void add_draw(const PruneMethod& method, Index draw, MethodCurve& result) {
    tell(draw > 0 ? text(method.name, ", draw ", draw + 1) : method.name);
    PruneProblem problem = problem_of(run_, options_.settings);
    problem.settings.seed += draw;
    std::vector<Choice> choices;
    result.seconds +=
        milliseconds([&] { choices = choose_heads(problem, method, sizes_, &result.cost); }) / 1e3;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      result.steps = trained_steps(run_) + choices[i].steps + options_.finetune;
      if (draw == 0) {
        result.points.push_back(first_point(method, sizes_[i], choices[i]));
        result.schedule = schedule_of(choices[i]);
      }
      const Judged judged = results_.pruned(choices[i]);
      Judged& mean = result.points[i].pruned;
      mean.loss += (judged.loss - mean.loss) / static_cast<double>(draw + 1);
      mean.accuracy += (judged.accuracy - mean.accuracy) / static_cast<double>(draw + 1);
    }
  }

  /// Returns the training of models of this choice and of the references; nothing if they are not
  /// trained.
  std::optional<std::string> schedule_of(const Choice& choice) const {
    const Stages more = later_stages(run_, choice.steps, options_.finetune);
    if (more.empty()) return std::nullopt;
    Stages all = training_stages_or_none();
    all.insert(all.end(), more.begin(), more.end());
    return schedule_text(all);
  }
  /// Returns the run's own stages; none if they cannot be repeated, which only models from scratch
  /// need.
  Stages training_stages_or_none() const {
    if (options_.from_scratch) return training_stages(run_);
    try {
      return training_stages(run_);
    } catch (const Error&) {
      return {};
    }
  }

  /// Returns a point without the result of its removal.
  CurvePoint first_point(const PruneMethod& method, Index size, const Choice& choice) {
    CurvePoint point{.kept = size, .heads = choice.kept};
    point.chosen_on = results_.chosen_on(choice);
    if (options_.finetune > 0) {
      tell(text(method.name, ", fine-tuning ", size, " heads"));
      point.finetuned = results_.finetuned(choice);
    }
    if (options_.from_scratch) {
      tell(text(method.name, ", training ", size, " heads from scratch"));
      point.from_scratch = results_.from_scratch(choice);
    }
    point.unpruned = results_.unpruned(choice);
    score_against_owners(point, known().owners);
    return point;
  }

  /// Computes area, rank correlation and heads used.
  void summarise(MethodCurve& result) {
    const std::vector<CurvePoint>& points = result.points;
    for (std::size_t i = 1; i < points.size(); ++i) {
      const auto width = static_cast<double>(points[i].kept - points[i - 1].kept);
      result.area += width * (points[i].pruned.loss + points[i - 1].pruned.loss) / 2;
    }
    result.area /= static_cast<double>(points.back().kept - points[0].kept);  // NaN of one size
    std::vector<double> stays;                                                // at how many sizes
    for (const HeadId& head : all_heads(run_.model)) {
      const auto has = [&](const CurvePoint& point) { return contains(point.heads, head); };
      stays.push_back(static_cast<double>(std::ranges::count_if(points, has)));
    }
    result.rank_correlation = spearman(stays, known().ablation);
    conclude(result, known(), fewest_heads(problem_of(run_, options_.settings)));
  }

  const Run& run_;
  const CurveOptions options_;
  SubsetResults results_;
  std::vector<Index> sizes_;
  std::vector<Job> jobs_;
  bool searched_ = false;
  std::optional<Curve> known_;
};

/// Returns all methods without training; the exhaustive search only if the model has few heads.
std::vector<std::string> default_methods(const Transformer& model) {
  std::vector<std::string> names;
  for (const PruneMethod& method : prune_table()) {
    const bool large =
        method.name == std::string("exhaustive") && all_heads(model).size() > kFewHeads;
    if (method.kind != MethodKind::training && !large) names.emplace_back(method.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> curve_methods(const Transformer& model, const CurveOptions& options) {
  return options.methods.empty() ? default_methods(model) : options.methods;
}

std::vector<Job> curve_jobs(const std::vector<std::filesystem::path>& runs,
                            const CurveOptions& options) {
  return jobs_of_runs<CurveWork>(runs, options);
}

Curve prune_curve(const Run& run, const CurveOptions& options) {
  return CurveWork(run, options).curve();
}

SubsetTable judge_all_subsets(const Transformer& model, const Task& task, Index examples) {
  SubsetTable table{.heads = all_heads(model),
                    .examples = at_most_different(task, examples),
                    .losses = {}};
  std::vector<HeadSet> ablated(std::size_t{1} << table.heads.size());
  for (std::size_t set = 0; set < ablated.size(); ++set) {
    for (std::size_t h = 0; h < table.heads.size(); ++h) {
      if ((set >> h & 1U) == 0) ablated[set].push_back(table.heads[h]);
    }
  }
  table.losses = Ablation(model, held_out_examples(task, examples).batch).mean_losses(ablated);
  return table;
}

Settings settings_of(CurveOptions& options) {
  Settings s;
  s.integers("sizes", options.sizes, 0, 1 << 20, "numbers of heads to keep (empty: all)");
  s.integer("finetune", options.finetune, 0, 1 << 30, "training steps after each removal");
  s.boolean("from_scratch", options.from_scratch,
            "also train models with as many heads from scratch");
  s.boolean("test_split", options.test_split, "judge on the test split");
  const Settings shared = settings_of(options.settings);
  s.add(*shared.find("examples"));
  s.integer("judged", options.judged, 0, 1 << 24,
            "examples to judge on (0: those of an evaluation)");
  s.integer("draws", options.draws, 1, 1000, "random orders to average (method random)");
  s.add(shared);
  return s;
}

}  // namespace headlab
