// `headlab heads`: scores every head on every ground-truth relation. For several runs: in how many
// of them each relation has an owner. The held-out examples are the same every time. With
// --patterns, the heads are those of any model. Read next: lab/heads/scores/scores.h; pattern.cc,
// which shows attention patterns; history.cc, which shows emergence steps.
#include <cmath>
#include <optional>

#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"

namespace headlab::cli {
namespace {

struct HeadsFlags {
  HeadsOptions options;
  HeadsShown shown;
  std::string npy;
  PictureFlags picture;
  StoredPatternFlags stored;

  Flags settings() {
    Flags s;
    s.group("how");
    s.integer("examples", options.examples, 2, 1 << 24, "held-out examples to score on");
    s.integer("permutations", options.permutations, 199, 1 << 20,
              "permutations of the truth for p (p >= 1/(N+1))");
    s.group("what");
    s.boolean("scores", shown.scores, "also show scores without ground truth: induction ...");
    s.boolean("map", shown.map, "show which heads attend to the same keys");
    s.boolean("all", shown.all, "show all results, including those hidden by default");
    s.group("output");
    s.string("npy", npy, "attention mass [relations, heads, examples] (NumPy)", "FILE");
    picture.add_to(s);
    stored.add_to(s);
    s.excludes({"scores", "map", "all", "npy", "svg"}, {several_arguments()});
    return s;
  }
};

void write_masses(const Invocation& call, const HeadsFlags& flags, const HeadedModel& model,
                  const Task& task) {
  if (flags.npy.empty()) return;
  const ExampleMasses masses = masses_by_example(model, task, flags.options.examples);
  const NamedArray array{"mass", {masses.relations, masses.heads, masses.examples}, masses.values};
  write_array(call, flags.npy, array,
              [&] { return held_out_examples(task, masses.examples).batch; });
}

Output show_stored(const Invocation& call, const HeadsFlags& flags) {
  const StoredPatterns patterns = flags.stored.read(call);
  Output shown = reproducible(call, scores_of_stored(call, patterns, flags.options, flags.shown));
  write_masses(call, flags, patterns.model(), patterns.task());
  if (const std::string out = call.value("out"); !out.empty()) {
    write_out(call, out, shown.json.dump(2) + "\n");
  }
  if (!flags.picture.wanted()) return shown;
  const HeadsReport report = score_heads(patterns, flags.options);
  return with_picture(call, flags.picture, std::move(shown),
                      [&](double units) { return divisions_figure(report, units); });
}

Output show_scores(const Invocation& call, Run& run, const HeadsFlags& flags) {
  HeadsOptions options = flags.options;
  options.rises = true;
  std::optional<Transformer> untrained;
  const bool is_known = run.config.imported.empty() && run.config.from.empty();
  if (is_known) untrained.emplace(initial_model(run.config));
  if (untrained) options.untrained = &*untrained;
  std::optional<Steps> both;  // the scores, and the masses of --npy
  if (!flags.npy.empty()) both.emplace(2);
  const HeadsReport report = score_heads(run.model, *run.task, options);
  if (both) both->done();
  write_masses(call, flags, run.model, *run.task);
  if (both) both->done();
  Result found = result_of(report, {.all = true});
  found.about["seed"] = run.config.train.seed;
  found.about["settings"] = settings_of(run.config).to_json();
  Output shown = output_of(result_of(report, flags.shown));
  call.check_table(shown.tables);
  shown.json = to_json(found);
  shown.text += text("\n", examples_text(*run.task, report.examples),
                     "\none half of them chooses the head of a relation, the other judges it\n");
  if (const std::string one = overfitting_text(run); !one.empty()) {
    shown.json["overfitting"] = one;
    shown.text += wrapped(one, "", text_width());
  }
  return with_picture(call, flags.picture, store_result(call, run, std::move(shown), "heads.json"),
                      [&](double units) { return divisions_figure(report, units); });
}

/// Returns in how many runs heads share a relation, by what they split it, and the agreement of two
/// runs.
Json::Array division_cells(const std::vector<Division>& divisions, double runs) {
  std::map<std::string, Index> ways;
  std::vector<double> agreements;
  for (const Division& a : divisions) {
    ++ways[a.how()];
    for (const Division& b : divisions) {
      if (&a < &b && !a.by().empty() && a.by() == b.by()) agreements.push_back(agreement(a, b));
    }
  }
  std::erase_if(agreements, [](double one) { return std::isnan(one); });
  std::vector<std::string> words;
  for (const auto& [way, count] : ways) words.push_back(text(way, " (", count, ")"));
  return {static_cast<double>(std::ssize(divisions)) / runs, join(words, ", "),
          agreements.empty() ? kUndefined : t_interval(agreements).mean};
}

Table runs_table() {
  return {
      "relations",
      {Column("relation", "relation", "the keys to attend to").no_legend(),
       Column("owned", "owned", "share of the runs in which a head owns it").fixed(2).no_legend(),
       Column("lift", "lift", "lift of the best head, mean over runs").fixed(3).no_legend(),
       Column("low", "low", "lower end of the 95% interval of this mean").fixed(3).no_legend(),
       Column("high", "high", "upper end of this interval").fixed(3).no_legend(),
       Column("shared", "shared", "share of the runs in which heads share it").fixed(2),
       {"divided", "split by", "how these heads divide it, in so many runs"},
       Column("alike", "agreement",
              "adjusted Rand index of two runs' classes by the head that gives most: 1 the same "
              "parts, 0 by chance; mean over pairs of runs")
           .fixed(2)}};
}

/// Values by relation and run.
struct OverRuns {
  const std::vector<std::vector<double>>& lifts;
  const std::vector<std::vector<double>>& owned;
  const std::vector<std::vector<Division>>& divisions;
};

/// Adds the means over runs to the rows of the relations.
void fill_rows(Table& roles, const OverRuns& values, double runs) {
  for (std::size_t r = 0; r < roles.rows.size(); ++r) {
    const Interval lift = within(t_interval(values.lifts[r]), -HUGE_VAL, 1);
    for (const double cell : {t_interval(values.owned[r]).mean, lift.mean, lift.low, lift.high}) {
      roles.rows[r].push_back(cell);
    }
    roles.rows[r] = row_with(roles.rows[r], division_cells(values.divisions[r], runs));
  }
}

/// Returns in how many runs each relation has an owner, and how well its best head scores.
Output show_runs(const Invocation& call, const HeadsFlags& flags) {
  Result found{.about = stamped({{"runs", call.positionals()}})};
  Json reports = Json::array();
  std::vector<std::vector<double>> lifts, owned;  // by relation and run
  std::vector<std::vector<Division>> divisions;
  Table roles = runs_table();
  Steps steps(std::ssize(call.positionals()));
  for (const std::string& path : call.positionals()) {
    const Run run = open_run(path);
    const HeadsReport report = score_heads(run.model, *run.task, flags.options);
    const auto names = texts_of(report.relations, [](const auto& r) { return r.relation.name; });
    if (reports.items().empty()) {
      for (const std::string& name : names) roles.rows.push_back({name});
    }
    lifts.resize(names.size());
    owned.resize(names.size());
    divisions.resize(names.size());
    for (std::size_t r = 0; r < names.size(); ++r) {
      require(names.size() == roles.rows.size() && roles.rows[r][0] == Json(names[r]),
              "cannot average ", path, ": its relations differ from those of ",
              call.positionals()[0]);
      lifts[r].push_back(report.best_score(r).lift);
      owned[r].push_back(report.relations[r].owned ? 1 : 0);
      if (const Division* one = report.division_of(r)) divisions[r].push_back(*one);
    }
    reports.push_back(to_json(report));
    steps.done();
  }
  fill_rows(roles, {lifts, owned, divisions}, double(call.positionals().size()));
  found.about["reports"] = std::move(reports);
  found.tables = {roles};
  return reproducible(call, found, text("\nover ", call.positionals().size(), " runs\n"));
}

}  // namespace

Output heads(Invocation& call) {
  HeadsFlags flags;
  Flags out = call.out_setting();
  out.excludes({"out"}, {several_arguments()});
  call.read(flags.settings(), out);
  flags.picture.units();
  require_array("--npy", flags.npy);
  if (flags.stored.wanted()) return show_stored(call, flags);
  if (call.positionals().empty() || call.positionals()[0].empty()) {
    throw UsageError("missing argument RUN", call.example());
  }
  if (call.positionals().size() > 1) return show_runs(call, flags);
  Run run = open_run(call.positionals()[0]);
  return show_scores(call, run, flags);
}

}  // namespace headlab::cli
