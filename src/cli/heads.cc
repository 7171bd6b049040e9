// `headlab heads`: the table of heads against gold relations, or one head's pattern as a heatmap.
#include "cli/all_commands.h"
#include "cli/terminal.h"
#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/heads/scores.h"
#include "headlab/report/heads_text.h"
#include "headlab/report/heatmap.h"
#include "headlab/tensor/tape.h"

namespace headlab::cli {
namespace {

/// "0.2": module 0, head born as 2.
HeadId parse_head(const std::string& name) {
  HeadId id;
  char rest = 0;
  std::istringstream in(name);
  char dot = 0;
  const bool read = (in >> id.layer >> dot >> id.head) && dot == '.' && !(in >> rest);
  if (!read) {
    throw UsageError(text("--pattern ", name, ": a head is LAYER.HEAD, such as 0.2"),
                     "`headlab heads RUN` lists them");
  }
  return id;
}

/// The pattern of one head on one held-out example, [T, T], with the tokens of its positions.
struct Pattern {
  std::vector<Scalar> weights;
  std::vector<std::string> tokens;
};

Pattern pattern_of(Run& run, const HeadId& id, Index example) {
  const auto numbers = run.model.head_numbers();
  const bool known = id.layer >= 0 && id.layer < std::ssize(numbers);
  const auto& heads =
      known ? numbers[static_cast<std::size_t>(id.layer)] : std::vector<std::int32_t>{};
  const auto place = std::find(heads.begin(), heads.end(), id.head) - heads.begin();
  require(place < std::ssize(heads), "the model has no head ", id.layer, ".", id.head);
  const NoGrad no_grad;
  const Batch batch = run.task->make(Key{}.fold("heads"), example + 1, Split::validation)
                          .batch.rows(example, example + 1);
  ModelCaptures captures;
  run.model.forward(batch, {}, {.captures = &captures});
  const Tensor& all =
      captures.attention[static_cast<std::size_t>(id.layer)].pattern;  // [1, H, T, T]
  Pattern pattern;
  const Index length = batch.length_of(0);
  for (Index t = 0; t < length; ++t) {
    const Scalar* row = all.data() + (place * batch.length + t) * batch.length;
    pattern.weights.insert(pattern.weights.end(), row, row + length);
    pattern.tokens.push_back(run.task->token_text(batch.token(0, t)));
  }
  return pattern;
}

Json pattern_to_json(const HeadId& id, Index example, const Pattern& pattern) {
  Json json = Json::object();
  json["layer"] = id.layer;
  json["head"] = id.head;
  json["example"] = example;
  json["tokens"] = Json(pattern.tokens);
  Json& rows = json["pattern"] = Json::array();
  const std::size_t length = pattern.tokens.size();
  for (std::size_t t = 0; t < length; ++t) {
    const Scalar* row = pattern.weights.data() + t * length;
    rows.push_back(Json(std::vector<Scalar>(row, row + length)));
  }
  return json;
}

}  // namespace

int heads_command(Arguments arguments) {
  CommonFlags common;
  HeadsOptions options;
  std::string pattern;
  Index example = 0;
  Settings settings;
  settings.integer("examples", options.examples, 2, 1 << 24, "held-out examples to score on");
  settings.text("pattern", pattern, "LAYER.HEAD: show this head's pattern instead, such as 0.2");
  settings.integer("example", example, 0, 1 << 24, "the example that --pattern shows");
  settings.add(common.settings());
  const auto paths = parse_arguments(arguments, {{"RUN"}, true}, settings);
  if (common.help) {
    print_help("heads", "RUN", settings);
    return 0;
  }
  if (paths.empty()) {
    throw UsageError("missing argument RUN", "see --help for an example");
  }
  common.apply();
  if (!pattern.empty()) {
    const HeadId id = parse_head(pattern);
    Run run = open_run(paths[0]);
    const Pattern shown = pattern_of(run, id, example);
    if (common.json) {
      print(pattern_to_json(id, example, shown));
    } else {
      print(heatmap(shown.weights, shown.tokens, shown.tokens, {.color = stdout_wants_color()}));
    }
    return 0;
  }
  Run run = open_run(paths[0]);
  const HeadsReport report = score_heads(run.model, *run.task, options);
  const Json json = report.to_json();
  write_file(run.path / "heads.json", json.dump(2) + "\n");
  if (common.json) {
    print(json);
  } else {
    print(heads_text(report));
  }
  return 0;
}

}  // namespace headlab::cli
