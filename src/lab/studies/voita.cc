// Experiments of Voita et al. Each penalty starts from the run's model, so that rows differ only in
// the penalty; a pruned model is evaluated as trained with its gates.
// Read next: src/lab/prune/gates.cc, how gates are trained.
#include <algorithm>
#include <array>
#include <iomanip>
#include <map>
#include <set>

#include "headlab/core/base/error.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/prune/methods.h"
#include "headlab/lab/studies/reproduce.h"

namespace headlab {
namespace {

Judged judge_like(const Run& run, const Transformer& model) {
  return judge(model, *run.task, {.examples = run.config.train.eval_examples});
}

/// Returns the evaluation with the loss on as many examples as heads are chosen on, by which a
/// penalty is chosen.
Json judge_both(const Run& run, const Transformer& model, Index examples) {
  Json both = judge_like(run, model);
  both["chosen_on"] =
      evaluate(model, *run.task,
               {.examples = examples, .key = streams::choosing(), .split = Split::train})
          .loss;
  return both;
}

/// Returns the head of each relation, the best one with its lift, before and after pruning.
Json drift_between(const Run& run, const HeadsReport& old, const Transformer& after,
                   Index examples) {
  const HeadsReport now = score_heads(after, *run.task, {.examples = examples});
  Json drift = Json::array();
  for (std::size_t r = 0; r < std::min(old.relations.size(), now.relations.size()); ++r) {
    const HeadScores& a = old.heads[old.relations[r].best];
    const HeadScores& b = now.heads[now.relations[r].best];
    drift.push_back(Json::object({{"relation", old.relations[r].relation.name},
                                  {"before", HeadId(a)},
                                  {"after", HeadId(b)},
                                  {"lift_before", a.relations[r].lift},
                                  {"lift_after", b.relations[r].lift}}));
  }
  return drift;
}

/// Trainings of one run, gates first.
class VoitaWork {
 public:
  VoitaWork(const Run& run, const PaperOptions& options) : run_(run), options_(options) {
    require(!options.penalties.empty(), "cannot train the gates: there is no penalty to try");
    for (const double penalty : options.penalties) {
      add("gates", penalty, [this, penalty] { return train_gates_of(penalty); });
    }
    for (std::size_t i = 0; i < options.penalties.size(); ++i) {
      add("scratch", options.penalties[i], [this, i] { return train_anew(i); });
    }
    add("unpruned", 0, [this] { return train_unpruned(); });
  }
  const std::vector<Job>& jobs() const { return jobs_; }
  std::string schedule() const {
    std::vector<TrainingStage> stages = training_stages(run_);
    for (TrainingStage& stage : stages_after()) stages.push_back(std::move(stage));
    return schedule_text(stages);
  }
  Json row(std::size_t penalty) const {
    Json row = found(penalty);
    row["from_scratch"] = read_as<Judged>(found(penalty + options_.penalties.size()));
    row["unpruned"] = read_as<Judged>(found(2 * options_.penalties.size()));
    std::erase_if(row.members(), [](const auto& member) { return member.first == "decided_by"; });
    return row;
  }

 private:
  void add(const std::string& what, double penalty, std::function<Json()> make) {
    PruneSettings gates = options_.settings;
    gates.penalty = penalty;
    Json settings = settings_of(gates).to_json();
    settings["finetune"] = options_.finetune;
    settings["chosen_on"] = "train";
    if (what != "gates") settings["references"] = "same schedule";
    jobs_.push_back(part_of_run(run_, options_.keeping, text("voita-", what, "-", penalty),
                                std::move(settings), std::move(make)));
    const std::string label = what == "unpruned" ? "the unpruned model" : what + " with penalty";
    jobs_.back().label = text(name_of(run_), ": ", label, penalty > 0 ? text(" ", penalty) : "");
  }
  Json found(std::size_t job) const { return once(jobs_[job], options_.keeping.should_stop); }

  Json train_gates_of(double penalty) {
    options_.tell(run_, text("training gates, lambda ", penalty));
    PruneSettings settings = options_.settings;
    settings.penalty = penalty;
    if (!before_) before_ = score_heads(run_.model, *run_.task, {.examples = settings.examples});
    const TrainedGates trained = train_gates(problem_of(run_, settings));
    const std::vector<HeadId> heads = all_heads(run_.model);
    const auto attention_layers = run_.model.attention_layers();
    std::vector<HeadId> survivors;
    std::array<Index, 3> of_kind{};  // AttentionKind
    for (std::size_t h = 0; h < heads.size(); ++h) {
      if (trained.gates[h] <= 0) continue;
      survivors.push_back(heads[h]);
      ++of_kind[static_cast<std::size_t>(attention_layers[heads[h].attention_layer].kind)];
    }
    Transformer model = remove_heads(*trained.model, survivors);
    Json row = Json::object({{"lambda", penalty},
                             {"survivors", survivors},
                             {"self", of_kind[0]},
                             {"encoder", of_kind[1]},
                             {"cross", of_kind[2]},
                             {"pruned", judge_both(run_, model, settings.examples)}});
    if (options_.finetune > 0) {
      Trainer(model, *run_.task, finetuning(run_.config.train, options_.finetune)).run();
      row["finetuned"] = judge_both(run_, model, settings.examples);
    }
    row["drift"] = drift_between(run_, *before_, model, settings.examples);
    return row;
  }
  /// Returns the stages of training that follow those of the run: gates, and fine-tuning.
  std::vector<TrainingStage> stages_after() const {
    return later_stages(run_, options_.settings.gate_steps, options_.finetune);
  }
  /// Trains the same heads from initial values on the combined schedule of the run, the gates and
  /// the fine-tuning.
  Json train_anew(std::size_t penalty) const {
    const std::vector<HeadId> survivors = heads_of(found(penalty).at("survivors"));
    options_.tell(run_, text("training ", survivors.size(), " heads from scratch"));
    return judge_like(run_, train_from_scratch(run_, survivors, stages_after()));
  }
  /// Trains all heads without gates for as long.
  Json train_unpruned() const {
    options_.tell(run_, "training the unpruned model on");
    return judge_like(run_, train_on(run_, stages_after()));
  }

  const Run& run_;
  const PaperOptions options_;
  std::vector<Job> jobs_;
  std::optional<HeadsReport> before_;  // roles of heads in the run itself
};

/// Evaluates the model after the gates, fine-tuned if requested.
const Json& left_in(const Json& row) {
  const Json* finetuned = row.find("finetuned");
  return finetuned != nullptr ? *finetuned : row.at("pruned");
}

/// Returns the row with the fewest survivors whose loss on the choosing examples is within the
/// limit of used_heads (lab/prune/curve.h); if there is none, the row with the lowest loss there.
std::size_t choose_row(const Json::Array& rows, const Json& full, const Json& none) {
  const auto loss_of = [](const Json& judged) { return judged.at("chosen_on").number(); };
  const double limit = loss_of(full) + 0.01 * (loss_of(none) - loss_of(full));
  const auto count = [](const Json& row) { return row.at("survivors").items().size(); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double loss = loss_of(left_in(rows[i])), before = loss_of(left_in(rows[best]));
    const bool fewer = count(rows[i]) <= count(rows[best]);
    if (loss <= limit ? !(before <= limit) || fewer : loss < before) best = i;
  }
  return best;
}

std::vector<Job> voita_jobs(const std::vector<std::filesystem::path>& runs,
                            const PaperOptions& options) {
  return jobs_of_runs<VoitaWork>(runs, options);
}

Json voita(const Run& run, const PaperOptions& options) {
  require(!all_heads(run.model).empty(), "cannot prune: the model has no head to prune");
  const VoitaWork work(run, options);
  const Index needed = run.task->needed_heads();
  const Index examples = options.settings.examples;
  const Json full = judge_both(run, run.model, examples),
             none = judge_both(run, remove_heads(run.model, {}), examples);
  Json rows = Json::array();
  for (std::size_t i = 0; i < options.penalties.size(); ++i) rows.push_back(work.row(i));
  const std::size_t chosen = choose_row(rows.items(), full, none);
  return stamped({{"attention", attention_layer_names(run.model)},
                  {"heads", all_heads(run.model).size()},
                  {"needed", needed > 0 ? Json(needed) : Json()},
                  {"steps", trained_steps(run) + options.settings.gate_steps + options.finetune},
                  {"schedule", work.schedule()},
                  {"full", full},
                  {"none", none},
                  {"rows", rows},
                  {"chosen", chosen},
                  {"drift", rows.items()[chosen].at("drift")}});
}

constexpr const char* kVoitaPublished =
    "published (another model: WMT English-Russian, 48 encoder heads, authors' page): 10 stay "
    "within .15 BLEU, 17 keep every function\n"
    "published (another model, base 29.60 BLEU; heads in encoder/decoder/cross, pruned / from "
    "scratch, as transcribed): 14/31/30 29.62 / 29.47; 12/21/25 29.36 / 28.95; 8/13/15 29.06 / "
    "28.56; 5/9/12 28.90 / 28.41";

Table voita_rows_table() {
  return {"rows",
          {{"lambda", "lambda", "the price of an open gate in nats"},
           {"pruned.loss", "loss", "loss after training gates and weights together"},
           Column("pruned.accuracy", "accuracy").fixed(3),
           {"finetuned.loss", "fine-tuned", "loss after fine-tuning"},
           {"from_scratch.loss", "from scratch",
            "loss of these heads trained from initial values on the same schedule"},
           {"unpruned.loss", "unpruned",
            "loss of the unpruned model, trained further without gates on the same schedule"},
           Column("from_scratch.accuracy", "accuracy there",
                  "accuracy of the model trained from scratch")
               .hidden(),
           {"self", "self",
            "survivors in self-attention, in the encoder, and in "
            "cross-attention"},
           {"encoder", "encoder"},
           {"cross", "cross"},
           Column("survivors", "survivors", "heads whose gates stay above 0").of(CellKind::heads)}};
}

Table drift_table() {
  return {
      "drift",
      {Column("relation", "relation").no_legend(),
       Column("before", "before", "best head of the relation before pruning").of(CellKind::head),
       Column("lift_before", "lift before", "lift of that head before pruning").fixed(3),
       Column("after", "after", "best head of the relation after pruning").of(CellKind::head),
       Column("lift_after", "lift after", "lift of that head after pruning").fixed(3)}};
}

/// Describes how the number of survivors depends on lambda.
std::string survivors_text(const Json::Array& rows) {
  std::set<std::size_t> counts;
  for (const Json& row : rows) {
    counts.insert(row.at("survivors").items().size());
  }
  if (counts.size() > 1) {
    return "the count of survivors is a function of lambda";
  }
  return rows.size() == 1 ? "a single lambda"
                          : "the count of survivors is the same for each lambda";
}

Result voita_found(const Json& report) {
  Table rows = voita_rows_table();
  Table drift = drift_table();
  if (report.is_null()) {
    return {.tables = {rows, drift}};
  }
  const Json::Array& found = report.at("rows").items();
  const Json& needed = report.at("needed");
  const std::string needs =
      needed.is_null() ? std::string() : text("; the task needs ", needed.integer());
  rows.title = text("1. trained gates: ", survivors_text(found), "\n", report.at("heads").integer(),
                    " heads, loss ", std::setprecision(4), read_as<Judged>(report.at("full")).loss,
                    " with all, ", read_as<Judged>(report.at("none")).loss, " with none", needs,
                    "; ", report.at("steps").integer(), " steps of training for each model");
  if (const Json* schedule = report.find("schedule")) {
    rows.title += text("\nschedule of all arms: ", schedule->string());
  }
  rows.note = kVoitaPublished;
  drift.note =
      "published (authors' page): the functions of removed heads move to the heads that survive";
  const Json& chosen = found.at(report.at("chosen").integer());
  drift.title = text("2. roles of heads, before and after lambda ", chosen.at("lambda").number());
  return {.about = report, .tables = {table_of(report, rows), table_of(report, drift)}};
}

Table voita_columns_over_runs(std::size_t runs) {
  Table table{.name = "over_runs",
              .columns = {Column("lambda", "lambda").no_legend(),
                          {"survivors", "survivors", "the heads kept, for each run"},
                          interval_column("pruned", "loss").no_legend(),
                          interval_column("finetuned", "fine-tuned").no_legend(),
                          interval_column("from_scratch", "from scratch").no_legend(),
                          interval_column("unpruned", "unpruned").no_legend()},
              .title = text("gates over ", runs, " runs: geometric means of losses with 95% ",
                            "intervals")};
  table.append(ratio_columns("against_scratch", "left, times from scratch"));
  table.append(ratio_columns("against_unpruned", "left, times the unpruned"));
  table.note = chance_text(static_cast<Index>(runs)) + "\n" + kVoitaPublished;
  return table;
}

/// Returns the penalties of each report. Error unless all have the same number.
std::size_t rows_in(std::span<const Json> reports) {
  std::vector<std::size_t> rows(reports.empty());
  for (const Json& report : reports) rows.push_back(report.at("rows").items().size());
  for (const std::size_t one : rows) {
    require(one == rows[0], "cannot average reports with ", rows[0], " and ", one,
            " rows: compute them again with the same settings");
  }
  return rows[0];
}

Table voita_over_runs(std::span<const Json> reports) {
  Json rows = Json::array();
  std::map<std::string, std::vector<Paired>> against;  // by the key of the reference
  const std::size_t count = rows_in(reports);
  for (std::size_t i = 0; i < count; ++i) {
    Json row = Json::object({{"survivors", Json::array()}});
    std::map<std::string, std::vector<double>> losses;
    for (const Json& report : reports) {
      const Json& one = report.at("rows").items()[i];
      row["lambda"] = one.at("lambda");
      row["survivors"].push_back(one.at("survivors").items().size());
      for (const char* key : {"pruned", "finetuned", "from_scratch", "unpruned"}) {
        if (const Json* judged = one.find(key)) {
          losses[key].push_back(read_as<Judged>(*judged).loss);
        }
      }
      losses["left"].push_back(read_as<Judged>(left_in(one)).loss);
    }
    for (const auto& [key, values] : losses) row[key] = geometric_interval(values);
    for (const char* key : {"from_scratch", "unpruned"}) {
      if (losses[key].size() == losses["left"].size()) {
        against[key].push_back(paired(log_ratios(losses["left"], losses[key])));
      }
    }
    rows.push_back(std::move(row));
  }
  const std::map<std::string, std::string> names = {{"from_scratch", "against_scratch"},
                                                    {"unpruned", "against_unpruned"}};
  for (auto& [key, pairs] : against) {
    std::vector<Paired*> asked;
    for (Paired& one : pairs) asked.push_back(&one);
    correct(asked);
    for (std::size_t i = 0; i < pairs.size() && pairs.size() == count; ++i) {
      rows.items()[i][names.at(key)] = pairs[i];
    }
  }
  return table_of(Json::object({{"over_runs", rows}}), voita_columns_over_runs(reports.size()));
}

}  // namespace

extern const Paper kMichel;

std::span<const Paper> papers() {
  static const Paper all[] = {kMichel, {"voita", voita_jobs, voita, voita_found, voita_over_runs}};
  return all;
}

}  // namespace headlab
