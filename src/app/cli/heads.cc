// `headlab heads`: the table of heads against gold relations, one head's pattern as a heatmap, the
// patterns of all at one glance, or when the role of each was born. A pattern is what the model did
// in a forward pass, and example N is the Nth of those that the table is computed from. Read next:
// heads/scores.h.
#include <cmath>
#include <optional>

#include "cli/commands.h"
#include "results/npy.h"

namespace headlab::cli {
namespace {

struct HeadsFlags {
  HeadsOptions options;
  HeadsShown shown;
  bool over_training = false, grid = false;
  std::string pattern, relation, input, npy, z;
  PictureFlags picture;
  Index example = 0;

  Flags settings() {
    Flags s;
    s.integer("examples", options.examples, 2, 1 << 24, "held-out examples to score on");
    s.integer("permutations", options.permutations, 199, 1 << 20,
              "of the gold, for p, which cannot be below 1 / (N + 1)");
    s.boolean("scores", shown.scores,
              "show what needs no gold too: previous, induction, labels ...");
    s.boolean("map", shown.map, "show which heads look at the same keys");
    s.boolean("all", shown.all, "show all of it");
    s.string("pattern", pattern, "show this head's pattern, such as 0.2, or of all heads",
             "LAYER.HEAD|all");
    s.boolean("grid", grid, "show the patterns of all heads, with what they own");
    s.integer("example", example, 0, 65535, "the held-out example that is shown");
    s.string("input", input, "or: your own input, tokens apart by blanks");
    s.string("relation", relation, "whose truth is marked; empty: that which the pattern fits best",
             "NAME");
    s.string("npy", npy,
             "also write a NumPy array: the patterns [heads, queries, keys]; without --pattern the "
             "mass by example [relations, heads, examples]",
             "FILE");
    s.string("z", z, "also write what heads put out [heads, queries, d_value]", "FILE");
    s.boolean("over_training", over_training,
              "when each role was born (needs `train --track-heads`)");
    picture.add_to(s);
    s.only({"grid", "over_training", "examples", "permutations", "scores", "map", "all"},
           {"!pattern"});
    s.only({"over_training", "scores", "map", "all", "npy"}, {"!grid"});
    s.only({"examples", "permutations", "scores", "map", "all", "npy"}, {"!over_training"});
    s.only({"input", "relation", "z"}, {"pattern"});
    s.only({"example"}, {"pattern", "grid", "!input"});
    s.only({"pattern", "grid", "over_training", "scores", "map", "all", "npy", "svg", "pdf"},
           {text("!", kSeveralRuns)});
    s.only({"svg", "pdf"}, {"!pattern=all"});
    return s;
  }
};

/// The pattern on a held-out example, or on what the user gave.
HeadPattern pattern_on(const Run& run, const HeadId& head, const HeadsFlags& flags) {
  if (flags.input.empty()) return pattern_of(run.model, *run.task, head, flags.example);
  require(!run.model.config().has_source(), "an encoder-decoder reads two inputs, not one");
  const std::vector<std::int32_t> tokens = run.task->encode(flags.input);
  require(!tokens.empty(), "the input has no token");
  return pattern_of(run.model, *run.task, head, run.task->example_of(tokens));
}

/// The truth that is marked; nullptr where there is none. UsageError for a relation that the head
/// cannot find.
const GoldCells* marked_gold(const HeadPattern& pattern, const std::string& relation) {
  if (!relation.empty()) {
    require_known("relation", relation, texts_of(pattern.gold, &GoldCells::relation));
  }
  return pattern.gold_of(relation);
}

/// The weights of one head, a row for each query.
Table weights_table(const HeadPattern& pattern) {
  Table table{"weights", {{"query", "query"}}};
  const std::size_t keys = pattern.keys.size();
  for (std::size_t k = 0; k < keys; ++k)
    table.columns.push_back(element_column("weights", k, pattern.keys[k]));
  for (std::size_t q = 0; q < pattern.queries.size(); ++q) {
    Json::Array row = {pattern.queries[q]};
    for (std::size_t k = 0; k < keys; ++k) row.push_back(pattern.weights[q * keys + k]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string pattern_text(const Run& run, const HeadPattern& pattern, const HeadsFlags& flags) {
  const GoldCells* gold = marked_gold(pattern, flags.relation);
  HeatmapOptions options;
  if (gold != nullptr) options.gold = gold->cells;
  return text("head ", head_text(pattern.head), " (", module_names(run.model)[pattern.head.module],
              ") on ",
              flags.input.empty() ? text("held-out example ", flags.example) : "your input",
              ":\na row for each position, a column for each position it may look at;\n"
              "at its end the row's largest weight\n",
              gold == nullptr ? ""
                              : text("gold: ", gold->relation, ", mean weight on it ",
                                     fixed(gold->mass, 3), "\n"),
              "\n", heatmap(pattern.weights, pattern.queries, pattern.keys, options), "\n");
}

/// [heads, queries, rest] of one member of the patterns; the modules of an encoder-decoder differ
/// in their sizes.
void write_npy(const Invocation& call, const std::string& file,
               const std::vector<HeadPattern>& patterns, std::vector<Scalar> HeadPattern::*member) {
  if (file.empty()) return;
  const auto queries = std::ssize(patterns[0].queries);
  const std::size_t count = (patterns[0].*member).size();
  std::vector<float> all;
  for (const HeadPattern& one : patterns) {
    require(std::ssize(one.queries) == queries && (one.*member).size() == count,
            "the heads see different numbers of tokens: write one at a time");
    all.insert(all.end(), (one.*member).begin(), (one.*member).end());
  }
  const std::array<std::int64_t, 3> shape = {std::ssize(patterns), queries,
                                             static_cast<Index>(count) / queries};
  write_out(call, file, npy_bytes(shape, all));
}

void write_masses(const Invocation& call, const std::string& file, const Run& run, Index examples) {
  if (file.empty()) return;
  const ExampleMasses masses = masses_by_example(run.model, *run.task, examples);
  const std::array<std::int64_t, 3> shape = {masses.relations, masses.heads, masses.examples};
  write_out(call, file, npy_bytes(shape, masses.values));
}

Result show_pattern(const Invocation& call, const Run& run, const HeadsFlags& flags) {
  const bool one = flags.pattern != "all";
  const std::vector<HeadId> heads =
      one ? std::vector{parse_head("--pattern", flags.pattern, &run.model)} : all_heads(run.model);
  std::vector<HeadPattern> patterns;
  for (const HeadId& head : heads) patterns.push_back(pattern_on(run, head, flags));
  require(!patterns.empty(), "the model has no head");
  std::string shown;
  for (const HeadPattern& pattern : patterns) shown += pattern_text(run, pattern, flags);
  write_npy(call, flags.npy, patterns, &HeadPattern::weights);
  write_npy(call, flags.z, patterns, &HeadPattern::z);
  Finding found{one ? stamped(to_json(patterns[0]).members()) : stamped({{"patterns", patterns}})};
  if (!one) found.about["attention"] = module_names(run.model);
  for (const HeadPattern& pattern : patterns) {
    found.tables.push_back(weights_table(pattern));
    if (!one) found.tables.back().name += " " + head_text(pattern.head);
  }
  const Result all{.json = to_json(found), .text = shown, .tables = found.tables};
  return with_picture(call, flags.picture, finding(call, run, all, ""), [&](double units) {
    return pattern_figure(patterns[0], flags.relation, units);
  });
}

Result show_grid(const Invocation& call, const Run& run, const HeadsFlags& flags) {
  HeadsOptions options = flags.options;
  options.without_gold = false;
  const HeadsReport report = score_heads(run.model, *run.task, options);
  const std::vector<HeadPattern> patterns = patterns_of(run.model, *run.task, flags.example);
  const Result shown{.json = stamped({{"example", flags.example}, {"patterns", patterns}}),
                     .text = grid_text(run.config.model, patterns, report) + "\n"};
  return with_picture(call, flags.picture, finding(call, run, shown, ""), [&](double units) {
    return grid_figure(run.config.model, patterns, report, units);
  });
}

Result show_history(const Invocation& call, const Run& run, const HeadsFlags& flags) {
  const HeadsHistory history = read_heads_history(run);
  return with_picture(call, flags.picture, finding(call, run, finding_of(history), "", ""),
                      [&](double units) { return history_figure(history, units); });
}

Result show_scores(const Invocation& call, Run& run, const HeadsFlags& flags) {
  HeadsOptions options = flags.options;
  options.rises = true;
  std::optional<Transformer> untrained;
  if (run.config.imported.empty()) untrained.emplace(initial_model(run.config));
  if (untrained) options.untrained = &*untrained;
  const HeadsReport report = score_heads(run.model, *run.task, options);
  write_masses(call, flags.npy, run, options.examples);
  Finding found = finding_of(report, {.all = true});
  found.about["seed"] = run.config.train.seed;
  found.about["settings"] = settings_of(run.config).to_json();
  Result shown = result_of(finding_of(report, flags.shown));
  call.check_table(shown.tables);
  shown.json = to_json(found);
  shown.text += text("\n", examples_text(*run.task, report.examples), "\n");
  if (const std::string one = overfitting_text(run); !one.empty()) {
    shown.json["overfitting"] = one;
    shown.text += wrapped(one, "", 80);
  }
  return with_picture(call, flags.picture, finding(call, run, std::move(shown), "heads.json"),
                      [&](double units) { return divisions_figure(report, units); });
}

/// In how many runs heads share a relation, by what, and how alike two of them divide it.
Json::Array division_cells(const std::vector<Division>& divisions, double runs) {
  std::map<std::string, Index> ways;
  std::vector<double> alike;
  for (const Division& a : divisions) {
    ++ways[a.how()];
    for (const Division& b : divisions)
      if (&a < &b && !a.by().empty() && a.by() == b.by()) alike.push_back(likeness(a, b));
  }
  std::erase_if(alike, [](double one) { return std::isnan(one); });
  std::vector<std::string> words;
  for (const auto& [way, count] : ways) words.push_back(text(way, " (", count, ")"));
  return {static_cast<double>(std::ssize(divisions)) / runs, join(words, ", "),
          alike.empty() ? kUndefined : t_interval(alike).mean};
}

Table runs_table() {
  return {
      "relations",
      {Column("relation", "relation", "what the head would have to look at").no_legend(),
       Column("owned", "owned", "share of the runs in which a head owns it").fixed(2).no_legend(),
       Column("lift", "lift", "of the best head, mean over runs").fixed(3).no_legend(),
       Column("low", "low", "of the 95% interval of this mean").fixed(3).no_legend(),
       Column("high", "high", "its other end").fixed(3).no_legend(),
       Column("shared", "shared", "share of the runs in which heads share it").fixed(2),
       {"divided", "divided", "how these heads divide it, in so many runs"},
       Column("alike", "alike",
              "adjusted Rand index of two runs' classes by the head that gives most: 1 the same "
              "parts, 0 by chance; mean over pairs of runs")
           .fixed(2)}};
}

/// In how many runs each relation has an owner, and how well its best head finds it.
Result show_runs(const Invocation& call, const HeadsFlags& flags) {
  Finding found{.about = stamped({{"runs", call.positionals()}})};
  Json reports = Json::array();
  std::vector<std::vector<double>> lifts, owned;  // by relation and run
  std::vector<std::vector<Division>> divisions;
  Table roles = runs_table();
  for (const std::string& path : call.positionals()) {
    const Run run = open_run(path);
    const HeadsReport report = score_heads(run.model, *run.task, flags.options);
    const auto names = texts_of(report.relations, [](const auto& r) { return r.relation.name; });
    if (reports.items().empty())
      for (const std::string& name : names) roles.rows.push_back({name});
    lifts.resize(names.size()), owned.resize(names.size()), divisions.resize(names.size());
    for (std::size_t r = 0; r < names.size(); ++r) {
      require(names.size() == roles.rows.size() && roles.rows[r][0] == Json(names[r]), path,
              " has other relations than ", call.positionals()[0]);
      lifts[r].push_back(report.best_score(r).lift);
      owned[r].push_back(report.relations[r].owned ? 1 : 0);
      if (const Division* one = report.division_of(r)) divisions[r].push_back(*one);
    }
    reports.push_back(to_json(report));
  }
  for (std::size_t r = 0; r < roles.rows.size(); ++r) {
    const Interval lift = within(t_interval(lifts[r]), -HUGE_VAL, 1);
    for (const double cell : {t_interval(owned[r]).mean, lift.mean, lift.low, lift.high})
      roles.rows[r].push_back(cell);
    roles.rows[r] =
        row_with(roles.rows[r], division_cells(divisions[r], double(call.positionals().size())));
  }
  found.about["reports"] = std::move(reports);
  found.tables = {roles};
  return reproducible(call, found, text("\nover ", call.positionals().size(), " runs\n"));
}

}  // namespace

Result heads(Invocation& call) {
  HeadsFlags flags;
  Flags out = call.out_setting();
  out.only({"out"}, {text("!", kSeveralRuns)});
  call.read(flags.settings(), out);
  if (!flags.pattern.empty() && flags.pattern != "all")
    parse_head("--pattern", flags.pattern);  // before anything slow
  flags.picture.units();
  require_ending("--npy", flags.npy, ".npy");
  require_ending("--z", flags.z, ".npy");
  if (call.positionals().size() > 1) return show_runs(call, flags);
  Run run = open_run(call.positionals()[0]);
  if (flags.over_training) return show_history(call, run, flags);
  if (flags.grid) return show_grid(call, run, flags);
  return flags.pattern.empty() ? show_scores(call, run, flags) : show_pattern(call, run, flags);
}

}  // namespace headlab::cli
