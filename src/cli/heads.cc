// `headlab heads`: the table of heads against gold relations, one head's pattern as a heatmap, or
// when the role of each head was born. A pattern is what the model did in a forward pass, and
// example N is the Nth of those that the table is computed from. Read next: heads/scores.h.
#include "cli/commands.h"
#include "cli/terminal.h"
#include "headlab/heads/activations.h"
#include "headlab/heads/scores.h"
#include "headlab/report/heads_text.h"
#include "headlab/report/heatmap.h"
#include "headlab/report/history_text.h"
#include "headlab/report/scores_text.h"

namespace headlab::cli {
namespace {

struct HeadsFlags {
  HeadsOptions options;
  bool scores = false, map = false, all = false, over_training = false;
  std::string pattern;
  Index example = 0;

  Settings settings() {
    Settings s;
    s.integer("examples", options.examples, 2, 1 << 24, "held-out examples to score on");
    s.integer("permutations", options.permutations, 199, 1 << 20,
              "of the gold, for p, which cannot be below 1 / (N + 1)");
    s.boolean("scores", scores, "show what needs no gold too: previous, induction, labels ...");
    s.boolean("map", map, "show which heads look at the same keys");
    s.boolean("all", all, "show all of it");
    s.add(named_text("pattern", "LAYER.HEAD", pattern, "show this head's pattern, such as 0.2"));
    s.integer("example", example, 0, 65535, "the example that --pattern shows");
    s.boolean("over_training", over_training,
              "when each role was born (needs `train --track-heads`)");
    return s;
  }
};

Result show_pattern(const Invocation& call, const Run& run, const HeadsFlags& flags) {
  const HeadId id = parse_head("--pattern", flags.pattern);
  as_usage([&] { return place_of(run.model, id); });
  const HeadPattern pattern = pattern_of(run.model, *run.task, id, flags.example);
  const std::string opening =
      text("head ", head_text(id), " (", module_names(run.model)[id.layer],
           ") on held-out example ", flags.example,
           ": a row for each position, a column for each\n"
           "position it may look at; at its end the row's largest weight\n\n");
  return reproducible(call, stamped(to_json(pattern).members()),
                      opening +
                          heatmap(pattern.weights, pattern.queries, pattern.keys,
                                  {.color = stdout_wants_color()}) +
                          "\n");
}

Result show_scores(const Invocation& call, Run& run, const HeadsFlags& flags) {
  const Transformer untrained = initial_model(run.config);
  HeadsOptions options = flags.options;
  options.untrained = &untrained;
  const HeadsReport report = score_heads(run.model, *run.task, options);
  Json json = report;
  json["seed"] = run.config.train.seed;
  json["settings"] = settings_of(run.config).to_json();
  std::string shown = heads_text(report);
  if (flags.scores || flags.all) shown += "\n" + scores_text(report);
  if (flags.map || flags.all) shown += "\n" + map_text(report);
  return reproducible(call, std::move(json),
                      text(shown, "\n", options.examples,
                           " held-out examples, the same every time\n"),
                      run.path / "heads.json");
}

}  // namespace

Result heads(Invocation& call) {
  HeadsFlags flags;
  call.read(flags.settings());
  if (!flags.pattern.empty()) parse_head("--pattern", flags.pattern);  // before anything slow
  Run run = open_run(call.positionals()[0]);
  if (flags.over_training) {
    const HeadsHistory history = read_heads_history(run);
    return reproducible(call, to_json(history), history_text(history) + "\n");
  }
  return flags.pattern.empty() ? show_scores(call, run, flags) : show_pattern(call, run, flags);
}

}  // namespace headlab::cli
