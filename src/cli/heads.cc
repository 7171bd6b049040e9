// `headlab heads`: the table of heads against gold relations, one head's pattern as a heatmap, or
// when the role of each head was born. A pattern is what the model did in a forward pass, and
// example N is the Nth of those that the table is computed from. Read next: heads/scores.h.
#include "cli/commands.h"
#include "cli/terminal.h"
#include "headlab/heads/scores.h"
#include "headlab/report/heads_text.h"
#include "headlab/report/heatmap.h"
#include "headlab/report/history_text.h"
#include "headlab/report/scores_text.h"
#include "headlab/tensor/tape.h"
#include "headlab/train/streams.h"

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

/// The pattern of one head on one held-out example, [queries, keys], with their tokens.
struct HeadPattern {
  HeadId head;
  Index example = 0;
  std::vector<Scalar> weights{};
  std::vector<std::string> queries{}, keys{};
};

HeadPattern pattern_of(const Transformer& model, const Task& task, const HeadId& id,
                       Index example) {
  const Index place = place_of(model, id);
  const NoGrad no_grad;
  const Batch batch =
      task.make(streams::scored(), example + 1, Split::validation).batch.rows(example, example + 1);
  ModelCaptures captures;
  model.forward(batch, {}, {.captures = &captures});
  const AttentionKind kind = model.attention_modules()[id.layer].kind;
  const Tensor& all = captures.attention[id.layer].pattern;  // [1, H, T, S]
  HeadPattern pattern{.head = id, .example = example};
  const auto shown = [&](bool source, Index t) {
    return task.token_text(source ? batch.source_token(0, t) : batch.token(0, t));
  };
  for (Index t = 0; t < batch.queries_of(kind, 0); ++t)
    pattern.queries.push_back(shown(kind == AttentionKind::encoder, t));
  for (Index s = 0; s < batch.keys_of(kind, 0); ++s)
    pattern.keys.push_back(shown(kind != AttentionKind::self, s));
  for (Index t = 0; t < std::ssize(pattern.queries); ++t) {
    const Scalar* row = all.data() + (place * all.size(2) + t) * all.size(3);
    pattern.weights.insert(pattern.weights.end(), row, row + std::ssize(pattern.keys));
  }
  return pattern;
}

Json to_json(const HeadPattern& pattern) {
  Json rows = Json::array();
  for (std::size_t t = 0; t < pattern.queries.size(); ++t) {
    const Scalar* row = pattern.weights.data() + t * pattern.keys.size();
    rows.push_back(std::vector<Scalar>(row, row + pattern.keys.size()));
  }
  return Json::object({{"layer", pattern.head.layer},
                       {"head", pattern.head.head},
                       {"example", pattern.example},
                       {"tokens", pattern.queries},
                       {"keys", pattern.keys},
                       {"pattern", std::move(rows)}});
}

Result show_pattern(const Invocation& call, const Run& run, const HeadsFlags& flags) {
  const HeadId id = parse_head("--pattern", flags.pattern);
  as_usage([&] { place_of(run.model, id); });
  const HeadPattern pattern = pattern_of(run.model, *run.task, id, flags.example);
  const std::string opening =
      text("head ", head_text(id), " (", run.model.attention_modules()[id.layer].name,
           ") on held-out example ", flags.example,
           ": a row for each position, a column for each\n"
           "position it may look at; at its end the row's largest weight\n\n");
  return reproducible(
      call, stamped(to_json(pattern).members()),
      opening +
          heatmap(pattern.weights, pattern.queries, pattern.keys, {.color = stdout_wants_color()}) +
          "\n");
}

Result show_scores(const Invocation& call, Run& run, const HeadsFlags& flags) {
  Transformer untrained = initial_model(run.config);
  HeadsOptions options = flags.options;
  options.untrained = &untrained;
  const HeadsReport report = score_heads(run.model, *run.task, options);
  Json json = report.to_json();
  json["seed"] = run.config.train.seed;
  json["settings"] = settings_of(run.config).to_json();
  std::string shown = heads_text(report);
  if (flags.scores || flags.all) shown += "\n" + scores_text(report);
  if (flags.map || flags.all) shown += "\n" + map_text(report);
  return reproducible(
      call, std::move(json),
      text(shown, "\n", options.examples, " held-out examples, the same every time\n"),
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
    return reproducible(call, history.to_json(), history_text(history) + "\n");
  }
  return flags.pattern.empty() ? show_scores(call, run, flags) : show_pattern(call, run, flags);
}

}  // namespace headlab::cli
