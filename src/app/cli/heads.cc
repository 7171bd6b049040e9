// `headlab heads`: scores every head on every ground-truth relation. For several runs: in how many
// of them each relation has an owner. The held-out examples are the same every time. With
// --patterns, the heads are those of any model. Read next: lab/heads/scores/scores.h; pattern.cc,
// which shows attention patterns; history.cc, which shows emergence steps.
#include <cmath>
#include <map>
#include <optional>

#include "app/cli/commands.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"
#include "lab/heads/scores/named_arrays.h"

namespace headlab::cli {
namespace {

struct HeadsFlags {
  HeadsOptions options;
  HeadsShown shown;
  bool explain = false;
  std::string npy;
  PictureFlags picture;
  StoredPatternFlags stored;
  TaskFlag task;

  Flags settings() {
    Flags s;
    s.group("how");
    s.integer("examples", options.examples, 2, 1 << 24, "held-out examples to score on");
    s.integer("permutations", options.permutations, 199, 1 << 20,
              "number of permutations for p; its smallest value is 1/(N+1)");
    s.group("what");
    s.boolean("scores", shown.scores, "also show scores without ground truth: induction ...");
    s.boolean("map", shown.map, "show which heads attend to the same keys");
    s.boolean("all", shown.all, "show every head, and all that is hidden by default");
    s.boolean("explain", explain, "explain the columns, one a line");
    s.mark_display({"scores", "map", "all", "explain"});
    task.add_to(s);
    s.group("output");
    s.naming(ValueKind::file, "npy", npy, "attention mass [relations, heads, examples] (NumPy)");
    picture.add_to(s);
    stored.add_to(s);
    s.excludes({"scores", "map", "all", "explain", "npy", "svg"}, {several_arguments()});
    s.excludes({"task"}, {flag_given("patterns")});
    return s;
  }
};

void write_masses(const Invocation& call, const HeadsFlags& flags, const HeadedModel& model,
                  const Task& task) {
  if (flags.npy.empty()) return;
  const ExampleMasses masses = masses_by_example(model, task, flags.options.examples);
  const NamedArray array{"mass", {masses.relations, masses.heads, masses.examples}, masses.values};
  write_array(call, flags.npy, array, [&] {
    std::vector<NamedArray> joins = example_arrays(task, Split::validation, 0, masses.examples);
    joins.push_back(heads_array(all_heads(model)));
    return joins;
  });
}

Output show_stored(const Invocation& call, const HeadsFlags& flags) {
  const StoredPatterns patterns = flags.stored.read(call);
  Output shown = reproducible(call, scores_of_stored(call, patterns, flags.options, flags.shown,
                                                     flags.explain));
  write_masses(call, flags, patterns.model(), patterns.task());
  if (const std::string out = call.value("out"); !out.empty()) {
    write_out(call, out, shown.json.dump(2) + "\n");
  }
  if (!flags.picture.wanted()) return shown;
  const HeadsReport report = score_heads(patterns, flags.options);
  return with_picture(call, flags.picture, std::move(shown),
                      [&](double units) { return heads_figure(report, units); });
}

Output show_scores(const Invocation& call, Run& run, const HeadsFlags& flags) {
  HeadsOptions options = flags.options;
  options.rises = true;
  std::optional<Transformer> untrained;
  const bool is_known = run.config.imported.empty() && run.config.from.empty();
  if (is_known) untrained.emplace(with_length(initial_model(run.config), run.task->shape()));
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
  Output shown = scores_output(report, flags.shown, flags.explain);
  call.check_table(shown.tables);
  shown.json = to_json(found);
  shown.text += text("\n", examples_text(run, report.examples), "\n");
  if (const std::string one = overfitting_text(run); !one.empty()) {
    shown.json["overfitting"] = one;
    shown.text += wrapped(one, "", text_width());
  }
  return with_picture(call, flags.picture, store_result(call, run, std::move(shown), "heads.json"),
                      [&](double units) { return heads_figure(report, units); });
}

/// Values of a relation in several runs.
struct RelationInRuns {
  std::string name;
  std::vector<double> lifts{}, owned{};  // in the runs in which the relation can be tested
  std::vector<Division> divisions{};     // in the runs in which heads share the relation

  Interval lift() const { return within(t_interval(lifts), -HUGE_VAL, 1); }
  double shared() const {
    return static_cast<double>(divisions.size()) / static_cast<double>(lifts.size());
  }
  /// Returns how heads split the relation, with the number of runs.
  std::string ways() const {
    std::map<std::string, Index> counts;
    for (const Division& one : divisions) ++counts[one.how()];
    std::vector<std::string> words;
    for (const auto& [way, count] : counts) words.push_back(text(way, " (", count, ")"));
    return join(words, ", ");
  }
  /// Returns the mean agreement of two runs in how heads split the relation.
  double mean_agreement() const {
    std::vector<double> pairs;
    for (const Division& a : divisions) {
      for (const Division& b : divisions) {
        if (&a < &b && !a.by().empty() && a.by() == b.by()) pairs.push_back(agreement(a, b));
      }
    }
    std::erase_if(pairs, [](double one) { return std::isnan(one); });
    return pairs.empty() ? kUndefined : t_interval(pairs).mean;
  }
};

/// Returns a note on the relations that no run can test; "" if there are none.
std::string untested_note(const std::vector<RelationInRuns>& relations) {
  std::vector<std::string> names;
  for (const RelationInRuns& one : relations) {
    if (one.lifts.empty()) names.push_back(one.name);
  }
  if (names.empty()) return "";
  return text("not tested, because fewer than ", kFewestExamples,
              " examples ask for the keys or every sequence has the same keys: ",
              join(names, ", "));
}

Table table_over_runs(const std::vector<RelationInRuns>& relations) {
  using Row = RelationInRuns;
  Fields<Row> fields;
  fields.add(Column("relation", "relation", "the keys to attend to").no_legend(), &Row::name);
  fields.add(Column("tested", "tested",
                    "runs in which it can be tested; the other columns are about these"),
             [](const Row& row) { return std::ssize(row.lifts); });
  fields.add(
      Column("owned", "owned", "share of these runs in which a head owns it").fixed(2).no_legend(),
      [](const Row& row) { return t_interval(row.owned).mean; });
  fields.add(Column("lift", "lift", "lift of the best head, mean over runs").fixed(3).no_legend(),
             [](const Row& row) { return row.lift().mean; });
  fields.add(
      Column("low", "low", "lower end of the 95% interval of this mean").fixed(3).no_legend(),
      [](const Row& row) { return row.lift().low; });
  fields.add(Column("high", "high", "upper end of this interval").fixed(3).no_legend(),
             [](const Row& row) { return row.lift().high; });
  fields.add(Column("shared", "shared", "share of the runs in which heads share it").fixed(2),
             &Row::shared);
  fields.add({"divided", "split by", "how these heads divide it, in so many runs"}, &Row::ways);
  fields.add(Column("alike", "agreement",
                    "adjusted Rand index of two runs' classes by the head that gives most: 1 the "
                    "same parts, 0 by chance; mean over pairs of runs")
                 .fixed(2),
             &Row::mean_agreement);
  return fields.table({.name = "relations", .note = untested_note(relations)}, relations);
}

std::vector<std::string> relation_names(const HeadsReport& report) {
  return texts_of(report.relations, [](const RelationWinner& one) { return one.relation.name; });
}

/// Adds the values of a run for the relations that can be tested in it.
void add_run(const HeadsReport& report, std::vector<RelationInRuns>& relations) {
  for (const std::size_t r : indices(relations.size())) {
    if (!report.is_judged(r)) continue;
    relations[r].lifts.push_back(report.best_score(r).lift);
    relations[r].owned.push_back(report.relations[r].owned ? 1 : 0);
    if (const Division* one = report.division_of(r)) relations[r].divisions.push_back(*one);
  }
}

/// Returns in how many runs each relation has an owner, and how well its best head scores.
Output show_runs(const Invocation& call, const HeadsFlags& flags) {
  Result found{.about = stamped({{"runs", call.positionals()}})};
  Json reports = Json::array();
  std::vector<RelationInRuns> relations;
  Steps steps(std::ssize(call.positionals()));
  for (const std::string& path : call.positionals()) {
    const Run run = flags.task.open(path);
    const HeadsReport report = score_heads(run.model, *run.task, flags.options);
    const std::vector<std::string> names = relation_names(report);
    if (reports.items().empty()) {
      for (const std::string& name : names) relations.push_back({name});
    }
    require(names == texts_of(relations, &RelationInRuns::name), "cannot average ", path,
            ": its relations differ from those of ", call.positionals()[0]);
    add_run(report, relations);
    reports.push_back(to_json(report));
    steps.done();
  }
  found.about["reports"] = std::move(reports);
  found.tables = {table_over_runs(relations)};
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
  Run run = flags.task.open(call.positionals()[0]);
  return show_scores(call, run, flags);
}

}  // namespace headlab::cli
