// `headlab heads`: the table of heads against gold relations, one head's pattern as a heatmap, the
// patterns of all at one glance, or when the role of each was born. A pattern is what the model did
// in a forward pass, and example N is the Nth of those that the table is computed from. Read next:
// heads/scores.h.
#include <algorithm>
#include <array>

#include "base/npy.h"
#include "cli/commands.h"
#include "cli/pictures.h"
#include "headlab/heads/activations.h"
#include "headlab/heads/scores.h"
#include "headlab/report/figures.h"
#include "headlab/report/heads_text.h"
#include "headlab/report/heatmap.h"

namespace headlab::cli {
namespace {

struct HeadsFlags {
  HeadsOptions options;
  bool scores = false, map = false, all = false, over_training = false, grid = false;
  std::string pattern, relation, input, npy, z, like;
  PictureFlags picture;
  Index example = 0;

  Settings settings() {
    Settings s;
    s.integer("examples", options.examples, 2, 1 << 24, "held-out examples to score on");
    s.integer("permutations", options.permutations, 199, 1 << 20,
              "of the gold, for p, which cannot be below 1 / (N + 1)");
    s.boolean("scores", scores, "show what needs no gold too: previous, induction, labels ...");
    s.boolean("map", map, "show which heads look at the same keys");
    s.boolean("all", all, "show all of it");
    s.string("pattern", pattern, "show this head's pattern, such as 0.2, or of all heads",
             "LAYER.HEAD|all");
    s.boolean("grid", grid, "show the patterns of all heads, with what they own");
    s.integer("example", example, 0, 65535, "the example that --pattern and --grid show");
    s.string("input", input, "or: your own input for --pattern, tokens apart by blanks");
    s.string("relation", relation,
             "whose truth --pattern marks; empty: that which the pattern fits best", "NAME");
    s.string("like", like, "how far each head is from known patterns, nearest to this one first",
             join(pattern_names(), "|"));
    s.string("npy", npy,
             "also write a NumPy array: the patterns [heads, queries, keys]; without --pattern the "
             "mass by example [relations, heads, examples]",
             "FILE");
    s.string("z", z, "with --pattern: also write what heads put out [heads, queries, d_value]",
             "FILE");
    s.boolean("over_training", over_training,
              "when each role was born (needs `train --track-heads`)");
    picture.add_to(s);
    return s;
  }
  /// Before anything slow. A picture is of one head, of all, or of their births.
  void check(const Invocation& call) const {
    const bool one = !pattern.empty() && pattern != "all", known = !like.empty();
    if (one) parse_head("--pattern", pattern);
    if (known) require_known("pattern", like, pattern_names());
    if (int{!pattern.empty()} + int{known} + int{grid} + int{over_training} > 1)
      throw UsageError("--pattern, --like, --grid and --over-training each show something else",
                       "give one of them");
    if (pattern.empty())
      call.refuse({"input", "relation", "z"}, "is for --pattern", "add --pattern 0.2, or all");
    if (pattern.empty() && !grid)
      call.refuse({"example"}, "is for --pattern and --grid", "add one of them");
    if (known || grid || over_training)
      call.refuse({"npy"}, "writes patterns, or the mass by example",
                  "leave --like, --grid and --over-training out");
    picture.units();
    if (picture.wanted() && !one && !grid && !over_training)
      throw UsageError("--svg and --pdf need to know of what",
                       "add --pattern LAYER.HEAD, --grid or --over-training");
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
    std::vector<std::string> known;
    for (const GoldCells& gold : pattern.gold) known.push_back(gold.relation);
    require_known("relation", relation, known);
  }
  return pattern.gold_of(relation);
}

/// The weights of one head, a row for each query.
Table weights_table(const HeadPattern& pattern) {
  Table table{"weights", {{"query", "query"}}};
  const std::size_t keys = pattern.keys.size();
  for (std::size_t k = 0; k < keys; ++k)
    table.columns.push_back({text("weights.", k), pattern.keys[k]});
  for (std::size_t q = 0; q < pattern.queries.size(); ++q) {
    Json::Array row = {pattern.queries[q]};
    for (std::size_t k = 0; k < keys; ++k) row.push_back(pattern.weights[q * keys + k]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string pattern_text(const Run& run, const HeadPattern& pattern, const HeadsFlags& flags) {
  const GoldCells* gold = marked_gold(pattern, flags.relation);
  HeatmapOptions options{.shades = stdout_shades()};
  if (gold != nullptr) options.gold = gold->cells;
  return text("head ", head_text(pattern.head), " (", module_names(run.model)[pattern.head.layer],
              ") on ",
              flags.input.empty() ? text("held-out example ", flags.example) : "your input",
              ": a row for each position, a column for each\n"
              "position it may look at; at its end the row's largest weight\n",
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
  std::vector<HeadPattern> patterns;
  if (one) {
    const HeadId id = parse_head("--pattern", flags.pattern);
    as_usage([&] { return place_of(run.model, id); });
    patterns.push_back(pattern_on(run, id, flags));
  } else {
    for (const HeadId& id : all_heads(run.model)) patterns.push_back(pattern_on(run, id, flags));
  }
  require(!patterns.empty(), "the model has no head");
  std::string shown;
  for (const HeadPattern& pattern : patterns) shown += pattern_text(run, pattern, flags);
  write_npy(call, flags.npy, patterns, &HeadPattern::weights);
  write_npy(call, flags.z, patterns, &HeadPattern::z);
  Json json = one ? stamped(to_json(patterns[0]).members()) : stamped({{"patterns", patterns}});
  if (!one) json["attention"] = module_names(run.model);
  Result result = finding(call, run, std::move(json), shown, "");
  for (const HeadPattern& pattern : patterns) result.tables.push_back(weights_table(pattern));
  if (!flags.picture.wanted()) return result;
  return with_picture(call, flags.picture,
                      pattern_figure(patterns[0], flags.relation, flags.picture.units()), result);
}

Result show_grid(const Invocation& call, const Run& run, const HeadsFlags& flags) {
  HeadsOptions options = flags.options;
  options.without_gold = false;
  const HeadsReport report = score_heads(run.model, *run.task, options);
  const std::vector<HeadPattern> patterns = patterns_of(run.model, *run.task, flags.example);
  const Result result =
      finding(call, run, stamped({{"example", flags.example}, {"patterns", patterns}}),
              grid_text(run.config.model, patterns, report, stdout_shades()) + "\n", "");
  if (!flags.picture.wanted()) return result;
  return with_picture(call, flags.picture,
                      grid_figure(run.config.model, patterns, report, flags.picture.units()),
                      result);
}

Result show_likeness(const Invocation& call, const Run& run, const HeadsFlags& flags) {
  const LikenessReport report =
      compare_with_patterns(run.model, *run.task, std::min<Index>(flags.options.examples, 512));
  Json json = to_json(report);
  json["like"] = flags.like;
  return finding(call, run, std::move(json),
                 text(likeness_text(report, flags.like), "\n",
                      examples_text(*run.task, report.examples), "\n"),
                 "");
}

Result show_history(const Invocation& call, const Run& run, const HeadsFlags& flags) {
  const HeadsHistory history = read_heads_history(run);
  const Result result = finding(call, run, to_json(history), history_text(history) + "\n", "");
  if (!flags.picture.wanted()) return result;
  return with_picture(call, flags.picture, history_figure(history, flags.picture.units()), result);
}

Result show_scores(const Invocation& call, Run& run, const HeadsFlags& flags) {
  const Transformer untrained = initial_model(run.config);
  HeadsOptions options = flags.options;
  options.untrained = &untrained;
  const HeadsReport report = score_heads(run.model, *run.task, options);
  write_masses(call, flags.npy, run, options.examples);
  Finding found = finding_of(report);
  found.about["seed"] = run.config.train.seed;
  found.about["settings"] = settings_of(run.config).to_json();
  std::string shown = heads_text(report, flags.all);
  if (flags.scores || flags.all) shown += "\n" + scores_text(report);
  if (flags.map || flags.all) shown += "\n" + map_text(report);
  Result result =
      finding(call, run, to_json(found),
              text(shown, "\n", examples_text(*run.task, report.examples), "\n"), "heads.json");
  result.tables = std::move(found.tables);
  return result;
}

}  // namespace

Result heads(Invocation& call) {
  HeadsFlags flags;
  call.read(flags.settings(), call.out_setting());
  flags.check(call);
  Run run = open_run(call.positionals()[0]);
  if (flags.over_training) return show_history(call, run, flags);
  if (flags.grid) return show_grid(call, run, flags);
  if (!flags.like.empty()) return show_likeness(call, run, flags);
  return flags.pattern.empty() ? show_scores(call, run, flags) : show_pattern(call, run, flags);
}

}  // namespace headlab::cli
