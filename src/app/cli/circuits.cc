// `headlab circuits`: analyses QK and OV circuits from the weights alone: which tokens heads match
// and copy, and what they read from one another; or one head's matrix over the vocabulary. The
// run's model is only read. Read next: lab/heads/weights/circuits.h.

#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab::cli {
namespace {

struct CircuitFlags {
  CircuitOptions options;
  std::string head, matrix = "ov";
  Index target = 0;

  Flags settings() {
    Flags s;
    s.naming(ValueKind::heads, "head", head, "show the matrix of this head over the vocabulary");
    s.naming(ValueKind::other, "matrix", matrix,
             "logits that tokens add (ov), or tokens that match (qk)", {.choices = {"ov", "qk"}});
    s.integer("target", target, 0, 1 << 20, "index of the target, if there are several");
    s.group("how");
    s.integer("draws", options.draws, 10, 1 << 20, "random pairs to compare compositions with");
    s.integer("seed", options.seed, 0, kMostExact, "random seed for these pairs");
    s.integer("distance", options.distance, 0, 1 << 20, "positions from key to query (rotary)");
    s.needs({"matrix", "target"}, {flag_given("head")});
    s.excludes({"target"}, {has_value("matrix", {"qk"})});
    s.excludes({"draws", "seed"}, {flag_given("head")});
    return s;
  }
};

/// Returns a note with the distance of the scores if the model has rotary positions.
std::string at_distance(const Run& run, Index distance) {
  if (kind_of(run.model.config().positions).rotary_table == nullptr) return "";
  return text("; queries are ", distance, " positions after their keys: --distance N for others");
}

/// Returns a sentence about the parts of this model's attention that scores from the weights leave
/// out; "" for softmax without a distance bias.
std::string beyond_scores(const Run& run) {
  const TransformerConfig& config = run.model.config();
  const AttentionFunctionEntry& function = kind_of(config.attention_function);
  std::string sentence;
  if (kind_of(config.positions).slope != nullptr) {
    sentence += text("Scores are those of the tokens: the distance bias of ",
                     kind_of(config.positions).name, " positions is left out.\n");
  }
  if (!function.normalises) {
    sentence += text("Weights are those of `", function.name,
                     "` attention: the rows of a pattern do not sum to 1.\n");
  }
  if (config.answers > 0) {
    sentence += text("The model's ", config.answers,
                     " answers are not tokens: there are no scores of copying.\n");
  }
  return sentence;
}

std::vector<std::string> texts_of_tokens(const Run& run) {
  std::vector<std::string> tokens;
  for (std::int32_t v = 0; v < run.model.config().vocab; ++v) {
    tokens.push_back(run.task->token_text(v));
  }
  return tokens;
}

std::vector<std::string> texts_of_answers(const Run& run) {
  std::vector<std::string> answers;
  for (std::int32_t v = 0; v < run.model.config().outputs(); ++v) {
    answers.push_back(run.task->answer_text(v));
  }
  return answers;
}

/// Returns one matrix over the vocabulary; writes no file.
Output show_matrix(const Invocation& call, const Run& run, const CircuitFlags& flags) {
  const HeadId head = parse_head("--head", flags.head);
  const Index targets = run.model.config().targets;
  if (flags.target >= targets) {
    throw UsageError(text("cannot use --target ", flags.target, ": the model has no such target"),
                     text("name one from 0 to ", targets - 1));
  }
  as_usage([&] { return slot_of(run.model, head); });
  const TokenCircuits circuits = token_circuits(run.model, head, flags.options.distance);
  const bool qk = flags.matrix == "qk";
  if (!qk && !circuits.ov.defined()) {
    throw UsageError(text("cannot show --matrix ov: head ", flags.head,
                          " is in the encoder and writes to no logit"),
                     "use --matrix qk to see which tokens it attends to");
  }
  const Tensor& matrix = qk ? circuits.qk : circuits.ov;
  const std::vector<std::string> tokens = texts_of_tokens(run);
  const std::vector<std::string> answers = texts_of_answers(run);
  Json rows = Json::array();
  for (Index i = 0; i < matrix.size(0); ++i) {
    const Scalar* row = matrix.data() + i * matrix.size(1);
    rows.push_back(std::vector<Scalar>(row, row + matrix.size(1)));
  }
  const std::string shown =
      token_matrix_text(matrix, tokens, qk ? tokens : answers, qk ? 0 : flags.target);
  Json json = stamped({{"layer", head.attention_layer},
                       {"head", head.head},
                       {"tokens", tokens},
                       {flags.matrix, std::move(rows)}});
  if (!qk && answers != tokens) json["answers"] = answers;
  return store_result(call, run,
                      {.json = std::move(json),
                       .text = text(shown, "\n", flags.matrix, " of head ", flags.head,
                                    qk ? at_distance(run, flags.options.distance) : "", "\n",
                                    beyond_scores(run))},
                      "");
}

}  // namespace

Output circuits(Invocation& call) {
  CircuitFlags flags;
  call.read(flags.settings(), call.out_setting());
  require_known("matrix", flags.matrix, {"ov", "qk"});
  if (!flags.head.empty()) parse_head("--head", flags.head);  // before anything slow
  const Run run = open_run(call.positionals()[0]);
  if (!flags.head.empty()) return show_matrix(call, run, flags);
  CircuitsReport report = find_circuits(run.model, flags.options);
  report.tokens = texts_of_tokens(run);
  report.answers = texts_of_answers(run);
  return store_result(call, run, result_of(report),
                      text("from the weights alone; ", flags.options.draws, " random pairs, seed ",
                           flags.options.seed, at_distance(run, flags.options.distance), "\n",
                           beyond_scores(run)),
                      "circuits.json");
}

}  // namespace headlab::cli
