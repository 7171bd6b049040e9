// `headlab heads`: the table of heads against gold relations, or one head's pattern as a heatmap.
// A pattern is what the model did in a forward pass, and example N is the Nth of those that the
// table is computed from. Read next: heads/scores.h.
#include "cli/findings.h"
#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/version.h"
#include "headlab/heads/scores.h"
#include "headlab/report/heads_text.h"
#include "headlab/report/heatmap.h"
#include "headlab/report/scores_text.h"
#include "headlab/tensor/tape.h"

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

/// The pattern of one head on one held-out example, [queries, keys], with their tokens.
struct Pattern {
  std::vector<Scalar> weights;
  std::vector<std::string> queries, keys;
};

Pattern pattern_of(Run& run, const HeadId& id, Index example) {
  const Index place = as_usage([&] { return place_of(run.model, id); });
  const NoGrad no_grad;
  const Batch batch = run.task->make(Key{}.fold("heads"), example + 1, Split::validation)
                          .batch.rows(example, example + 1);
  ModelCaptures captures;
  run.model.forward(batch, {}, {.captures = &captures});
  const auto layer = static_cast<std::size_t>(id.layer);
  const AttentionKind kind = run.model.attention_modules()[layer].kind;
  const Tensor& all = captures.attention[layer].pattern;  // [1, H, T, S]
  const auto tokens = [&](bool source) {
    std::vector<std::string> shown;
    for (Index t = 0; t < (source ? batch.source_length_of(0) : batch.length_of(0)); ++t)
      shown.push_back(run.task->token_text(source ? batch.source_token(0, t) : batch.token(0, t)));
    return shown;
  };
  Pattern pattern{{}, tokens(kind == AttentionKind::encoder), tokens(kind != AttentionKind::self)};
  for (Index t = 0; t < std::ssize(pattern.queries); ++t) {
    const Scalar* row = all.data() + (place * all.size(2) + t) * all.size(3);
    pattern.weights.insert(pattern.weights.end(), row, row + std::ssize(pattern.keys));
  }
  return pattern;
}

Json pattern_to_json(const HeadId& id, Index example, const Pattern& pattern) {
  Json json = Json::object();
  json["headlab"] = version();
  json["layer"] = id.layer;
  json["head"] = id.head;
  json["example"] = example;
  json["tokens"] = Json(pattern.queries);
  json["keys"] = Json(pattern.keys);
  Json& rows = json["pattern"] = Json::array();
  for (std::size_t t = 0; t < pattern.queries.size(); ++t) {
    const Scalar* row = pattern.weights.data() + t * pattern.keys.size();
    rows.push_back(Json(std::vector<Scalar>(row, row + pattern.keys.size())));
  }
  return json;
}

int show_pattern(Run& run, const HeadsFlags& flags, Arguments arguments) {
  const HeadId id = parse_head("--pattern", flags.pattern);
  const Pattern shown = pattern_of(run, id, flags.example);
  const std::string command = again("heads", arguments);
  if (flags.common.json) {
    Json json = pattern_to_json(id, flags.example, shown);
    json["command"] = command;
    print(json);
    return 0;
  }
  const auto modules = run.model.attention_modules();
  print(text("head ", head_text(id), " (", modules[id.layer].name, ") on held-out example ",
             flags.example, ": a row for each position, a column for each\n",
             "position it may look at; at its end the row's largest weight\n\n"));
  print(heatmap(shown.weights, shown.queries, shown.keys, {.color = stdout_wants_color()}));
  print("\nagain: " + command + "\n");
  return 0;
}

int show_scores(Run& run, const HeadsFlags& flags, Arguments arguments) {
  Transformer untrained = initial_model(run.config);
  HeadsOptions options = flags.options;
  options.untrained = &untrained;
  const HeadsReport report = score_heads(run.model, *run.task, options);
  Json json = report.to_json();
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
