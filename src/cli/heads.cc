// `headlab heads`: the table of heads against gold relations, or one head's pattern as a heatmap.
// A pattern is what the model did in a forward pass, and example N is the Nth of those that the
// table is computed from. Read next: heads/scores.h.
#include "cli/findings.h"
#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/heads/activations.h"
#include "headlab/heads/scores.h"
#include "headlab/report/heads_text.h"
#include "headlab/report/heatmap.h"
#include "headlab/report/scores_text.h"

namespace headlab::cli {
namespace {

struct HeadsFlags {
  HeadsOptions options;
  bool scores = false, map = false, all = false;
  std::string pattern;
  Index example = 0;
  bool over_training = false;
  CommonFlags common;

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
    s.add(common.settings());
    return s;
  }
};

int show_pattern(Run& run, const HeadsFlags& flags, Arguments arguments) {
  const HeadId id = parse_head("--pattern", flags.pattern);
  as_usage([&] { return place_of(run.model, id); });
  const HeadPattern shown = pattern_of(run.model, *run.task, id, flags.example);
  const std::string command = again("heads", arguments);
  if (flags.common.json) {
    Json json = stamped(to_json(shown).members());
    json["command"] = command;
    print(json);
    return 0;
  }
  print(text("head ", head_text(id), " (", module_names(run.model)[id.layer],
             ") on held-out example ", flags.example,
             ": a row for each position, a column for each\n",
             "position it may look at; at its end the row's largest weight\n\n"));
  print(heatmap(shown.weights, shown.queries, shown.keys, {.color = stdout_wants_color()}));
  print("\nagain: " + command + "\n");
  return 0;
}

int show_scores(Run& run, const HeadsFlags& flags, Arguments arguments) {
  const Transformer untrained = initial_model(run.config);
  HeadsOptions options = flags.options;
  options.untrained = &untrained;
  const HeadsReport report = score_heads(run.model, *run.task, options);
  Json json = report;
  json["seed"] = run.config.train.seed;
  json["settings"] = settings_of(run.config).to_json();
  json["command"] = again("heads", arguments);
  write_file(run.path / "heads.json", json.dump(2) + "\n");
  if (flags.common.json) {
    print(json);
    return 0;
  }
  print(heads_text(report));
  if (flags.scores || flags.all) print("\n" + scores_text(report));
  if (flags.map || flags.all) print("\n" + map_text(report));
  print(text("\n", options.examples,
             " held-out examples, the same every time\nagain: ", again("heads", arguments), "\n"));
  return 0;
}

}  // namespace

int heads_command(Arguments arguments) {
  HeadsFlags flags;
  const Settings settings = flags.settings();
  if (wants_help(arguments)) return print_help("heads", "RUN", settings);
  const auto paths = parse_arguments(arguments, signature_of("heads", {"RUN"}), settings);
  if (!flags.pattern.empty()) parse_head("--pattern", flags.pattern);  // before anything slow
  flags.common.apply();
  Run run = open_run(paths[0]);
  if (flags.over_training) return show_heads_over_training(run, flags.common.json, arguments);
  return flags.pattern.empty() ? show_scores(run, flags, arguments)
                               : show_pattern(run, flags, arguments);
}

}  // namespace headlab::cli
