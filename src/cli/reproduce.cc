// `headlab reproduce michel|voita RUN ...`: the experiments of the two papers that began head
// pruning, on any runs, with the published numbers beside ours. Runs are only read; the results go
// to a file of their own in each folder, cell by cell (of Voita et al. a run, a penalty and one of
// its two trainings; of Michel et al. a run), and what is there of the same weights and settings is
// not done again. The JSON has one shape, for one run and for several. Read next:
// lab/reproduce.h.
#include "headlab/lab/reproduce.h"

#include "cli/commands.h"
#include "cli/slices.h"
#include "headlab/report/prune_text.h"

namespace headlab::cli {
namespace {

struct ReproduceFlags {
  MichelOptions michel;
  VoitaOptions voita;
  Index examples = 512;
  RunsFlags runs;

  Settings settings() {
    Settings s;
    s.integer("examples", examples, 2, 1 << 24, "on which heads are chosen and scored");
    s.integer("stages", michel.stages, 1, 1000, "michel: points in training at which it is pruned");
    s.boolean("retrain", michel.retrain, "michel: train once more, to prune on the way");
    s.integer("turns", michel.timing.turns, 1, 100000, "michel: timings of each batch size");
    s.integer("gate_steps", voita.settings.gate_steps, 1, 1 << 30,
              "voita: steps of training gates");
    voita.finetune = voita.settings.gate_steps;
    s.integer("finetune", voita.finetune, 0, 1 << 30,
              "voita: steps of training after the closed gates are gone, if not as many as with "
              "them");
    s.integer("seed", voita.settings.seed, 0, kMostExact, "voita: of the gates' noise");
    runs.add_to(s, "michel.json or voita.json");
    return s;
  }
};

/// One paper's experiment on one run after another.
class Reproduction {
 public:
  Reproduction(const Invocation& call, ReproduceFlags& flags)
      : call_(call), flags_(flags), name_(call.positionals()[0] + ".json") {
    if (!call.given("finetune")) flags.voita.finetune = flags.voita.settings.gate_steps;
    flags.michel.examples = flags.voita.settings.examples = flags.examples;
    flags.michel.should_stop = flags.voita.should_stop = interrupted;
  }

  /// How many cells a run has.
  std::size_t cells() const {
    return name_ == "michel.json" ? 1 : 2 * flags_.voita.penalties.size();
  }
  /// What the experiment found, kept beside the run; nothing where Ctrl-C left some of it out. Of a
  /// single run the text is made too.
  std::optional<Json> of(const Run& run, const Cells& mine, bool several) {
    const auto tell = [&](const std::string& what) {
      note(several ? run.path.string() + ": " + what : what);
    };
    flags_.michel.progress = flags_.voita.progress = tell;
    const std::optional<Json> kept = known(run);
    if (kept && kept->at("complete").boolean()) {
      tell("its " + name_ + " holds this");
      if (several) return kept;
    }
    several_ = several;
    return name_ == "michel.json" ? michel(run, kept) : voita(run, mine);
  }
  const std::optional<Error>& unwritten() const { return unwritten_; }
  /// All that was found, of the one run or as means over several.
  Result shown(const RunsDone& done) const {
    Json json = done.to_json();
    json["paper"] = call_.positionals()[0];
    json["reports"] = done.found;
    json["settings"] = call_.settings().to_json();
    std::string text = text_;
    if (name_ == "michel.json")
      add_shares(done, json, text);
    else
      add_penalties(done, json, text);
    const std::string file =
        call_.given("out") ? call_.value("out")
        : done.paths.size() == 1
            ? (std::filesystem::path(done.paths[0]) / name_).string()
            : headlab::text(name_, " in each of the ", done.paths.size(), " runs");
    Result result = reproducible(call_, std::move(json),
                                 headlab::text(text, "\n", file, "\n", done.failures_text()));
    result.status = done.failed.empty() ? 0 : 1;
    result.unwritten = unwritten_;
    return result;
  }

 private:
  Json with_settings(Json json) const {
    json["settings"] = unsliced_settings(call_);
    return json;
  }
  Json kept(Result result) {
    if (result.unwritten) unwritten_ = result.unwritten;
    return std::move(result.json);
  }

  std::optional<Json> michel(const Run& run, const std::optional<Json>& before) {
    if (before) {
      flags_.michel.known_curve = curve_of(before->at("curve"));
      flags_.michel.known_steps = pruned_steps_of(*before);
    }
    const MichelReport report = reproduce_michel(run, flags_.michel);
    Json found = kept(finding(call_, run, with_settings(to_json(report)), "", name_));
    if (!several_) text_ = michel_text(report);
    return report.complete ? std::optional(std::move(found)) : std::nullopt;
  }

  std::optional<Json> voita(const Run& run, const Cells& mine) {
    VoitaOptions& options = flags_.voita;
    options.wanted = [&](std::size_t i, VoitaMethod method) {
      return mine[i + (method == VoitaMethod::gates ? 0 : options.penalties.size())];
    };
    options.known = [&] { return rows_of(known(run)); };
    options.after_training = [&](const VoitaReport& so_far) { keep_rows(run, so_far); };
    VoitaReport report = reproduce_voita(run, options);
    Json found = keep_rows(run, report);
    if (!several_) text_ = voita_text(report);
    return report.complete || !interrupted() ? std::optional(std::move(found)) : std::nullopt;
  }

  /// What the run's file holds of this, unless it is to be done anew.
  std::optional<Json> known(const Run& run) const {
    const bool anew = flags_.runs.force || call_.given("out");
    return anew ? std::nullopt : kept_finding(call_, run, name_);
  }
  static std::vector<PenaltyRow> rows_of(const std::optional<Json>& kept) {
    return kept ? voita_of(*kept).rows : std::vector<PenaltyRow>{};
  }
  /// Keeps the rows beside those that others made meanwhile.
  Json keep_rows(const Run& run, VoitaReport report) {
    return kept(merged_finding(call_, run, name_, [&](const std::optional<Json>& there) {
      add_rows(report, rows_of(there), flags_.voita.penalties);
      return with_settings(to_json(report));
    }));
  }

  /// Means as "over_runs"; as text where there are several runs.
  static void add_penalties(const RunsDone& done, Json& json, std::string& text) {
    std::vector<VoitaReport> reports;
    for (const Json& found : done.found) reports.push_back(voita_of(found));
    const std::vector<PenaltyOverRuns> rows = penalties_over_runs(reports);
    json["over_runs"] = rows;
    if (reports.size() > 1) text = penalties_text(rows, reports.size());
  }

  static void add_shares(const RunsDone& done, Json& json, std::string& text) {
    std::vector<std::vector<PrunedAtStep>> stages;
    for (const Json& found : done.found) stages.push_back(pruned_steps_of(found));
    const std::vector<ShareOverRuns> rows = shares_over_runs(stages);
    json["over_runs"] = rows;
    if (stages.size() > 1) text = shares_text(rows, stages.size());
  }

  const Invocation& call_;
  ReproduceFlags& flags_;
  std::string name_;
  bool several_ = false;
  std::string text_{};  // of a single run
  std::optional<Error> unwritten_{};
};

}  // namespace

Result reproduce(Invocation& call) {
  ReproduceFlags flags;
  call.read(flags.settings(), call.out_setting());
  require_known("paper", call.positionals()[0], {"michel", "voita"});
  const SweepSlice slice = parse_slice(call);
  const std::vector<std::string> paths(call.positionals().begin() + 1, call.positionals().end());
  if (paths.size() > 1 && call.given("out"))
    throw UsageError("--out keeps what one run showed", "leave it out: each run keeps its own");
  std::vector<Run> runs;
  for (const std::string& path : paths) runs.push_back(open_run(path));
  catch_interrupts();
  Reproduction reproduction(call, flags);
  RunsDone done = do_runs(runs, reproduction.cells(), slice, [&](Run& run, const Cells& mine) {
    return reproduction.of(run, mine, runs.size() > 1);
  });
  done.unwritten = reproduction.unwritten();
  if (done.stopped || slice.count > 1) return slice_result(call, done, flags.runs.shard);
  require(!done.found.empty(), done.failures_text());
  return reproduction.shown(done);
}

}  // namespace headlab::cli
