// `headlab eval`: loss and accuracy of a run. The held-out examples are fixed, so the numbers are
// the same every time. This is the shortest command on a run: flags, a library call, a result. Read
// next: heads.cc.
#include <cmath>
#include <numbers>

#include "app/cli/commands.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/results/words.h"
#include "lab/heads/scores/named_arrays.h"

namespace headlab::cli {

namespace {

struct EvalFlags {
  Index examples = 512, early = 4, late = 49;
  bool best = false;
  TargetGroups by = TargetGroups::target;
  std::string npy, logits, without;
  TaskFlag task;

  Flags settings() {
    Flags s;
    s.naming(ValueKind::heads, "without", without, "ablate these heads", {.several = true});
    s.integer("examples", examples, 1, 1 << 24, "held-out sequences");
    s.boolean("best", best, "use the parameters with the lowest held-out loss");
    task.add_to(s);
    s.choice("by", by, {"target", "position", "answer"}, "groups whose losses are shown");
    s.integer("early", early, 0, 1 << 24, "a position of the in-context score, from 0");
    s.integer("late", late, 0, 1 << 24, "the other position of the in-context score");
    s.group("output");
    s.naming(ValueKind::file, "npy", npy,
             "losses [examples, targets, 2]: sum, count (NPZ: and tokens)");
    s.naming(ValueKind::file, "logits", logits,
             "logits [examples, positions, targets, outputs] (same)");
    s.needs({"early", "late"}, {has_value("by", {"position"})});
    return s;
  }
};

/// Returns the arrays that name the examples of an evaluation.
std::vector<NamedArray> examples_of(const Run& run, const EvaluateOptions& options) {
  const Index examples = at_most_different(*run.task, options.examples, options.split);
  return example_arrays(*run.task, options.split, 0, examples);
}

void write_losses(const Invocation& call, const std::string& file, const Run& run,
                  const EvaluateOptions& options) {
  if (file.empty()) return;
  const std::vector<float> losses = losses_by_example(run.model, *run.task, options);
  const Index targets = run.model.config().targets;
  const NamedArray array{"losses", {std::ssize(losses) / (2 * targets), targets, 2}, losses};
  write_array(call, file, array, [&] { return examples_of(run, options); });
}

void write_logits(const Invocation& call, const std::string& file, const Run& run,
                  const EvaluateOptions& options, const AnsweredTargets& answered) {
  if (file.empty()) return;
  const TransformerConfig& config = run.model.config();
  const NamedArray array{"logits",
                         {answered.examples, answered.length, config.targets, config.outputs()},
                         answered.logits};
  write_array(call, file, array, [&] { return examples_of(run, options); });
}

/// Returns the in-context score of the positions of the flags; those that are not given are moved
/// to the last position of a shorter sequence.
std::optional<InContextScore> score_asked(const Invocation& call, EvalFlags flags,
                                          const AnsweredTargets& answered) {
  const Index last = answered.length - 1;
  if (!call.given("early")) flags.early = std::min(flags.early, last);
  if (!call.given("late")) flags.late = std::min(flags.late, last);
  const bool is_asked = call.given("early") || call.given("late");
  if (!is_asked && flags.early == flags.late) return std::nullopt;
  return in_context_score(answered, flags.early, flags.late);
}

/// Adds the table of groups and the in-context score; returns a line about the score.
std::string add_groups(const Invocation& call, Result& found, const Run& run,
                       const EvalFlags& flags, const AnsweredTargets& answered) {
  if (flags.by == TargetGroups::target) return "";
  found.tables.push_back(grouped_table(*run.task, answered.targets, flags.by));
  if (flags.by != TargetGroups::position) return "";
  const std::optional<InContextScore> score = score_asked(call, flags, answered);
  found.about["in_context"] = score ? to_json(*score) : Json();
  const bool is_asked = call.given("early") || call.given("late");
  if (!score && !is_asked) return "";
  if (!score) {
    return text("\nin-context score: no example has targets at positions ", flags.early, " and ",
                flags.late, "\n");
  }
  const Interval& d = score->difference;
  return text("\nin-context score ", significant(d.mean), " (", significant(d.low), " to ",
              significant(d.high), "): loss at position ", score->late, " less that at ",
              score->early, ", over ", score->examples, " examples\n");
}

EvaluateOptions options_of(const Run& run, const EvalFlags& flags) {
  std::vector<HeadId> kept = all_heads(run.model);
  for (const HeadId& head : parse_heads("--without", flags.without, run.model)) {
    std::erase(kept, head);
  }
  return {.examples = flags.examples,
          .split = run.best ? Split::test : Split::validation,
          .interventions = gates_for(run.model, kept)};
}

/// Returns whether --table names single targets, a large table that JSON has only then.
bool wants_single_targets(const Invocation& call) { return call.value("table") == kSingleTargets; }

/// Returns the answers to single targets if the result shows or writes them; else none.
AnsweredTargets answered_if_asked(const Invocation& call, const Run& run, const EvalFlags& flags,
                                  const EvaluateOptions& options) {
  const bool writes_logits = !flags.logits.empty();
  const bool shows = flags.by != TargetGroups::target || wants_single_targets(call);
  if (!shows && !writes_logits) return {};
  return answer_targets(run.model, *run.task, options, writes_logits);
}

}  // namespace

Output eval(Invocation& call) {
  EvalFlags flags;
  call.read(flags.settings(), {}, kPromptLines);
  require_array("--npy", flags.npy);
  require_array("--logits", flags.logits);
  const std::string name = call.positionals()[0];
  const bool adds_best = flags.best && !named_run(name).best;
  const Run run = flags.task.open(adds_best ? name + "@best" : name);
  const EvaluateOptions options = options_of(run, flags);
  const Evaluation held_out = evaluate(run.model, *run.task, options);
  const AnsweredTargets answered = answered_if_asked(call, run, flags, options);
  write_losses(call, flags.npy, run, options);
  write_logits(call, flags.logits, run, options, answered);
  const Index judged = at_most_different(*run.task, flags.examples, options.split);
  Result found{.about = stamped({{"loss", held_out.loss},
                                 {"accuracy", held_out.accuracy},
                                 {"examples", judged}}),
               .tables = {target_table(held_out)}};
  const AgainstReport against = read_against(run.model, *run.task, options);
  if (!against.means.empty()) found.tables.push_back(against_table(against.means, false));
  const std::string score = add_groups(call, found, run, flags, answered);
  if (const std::string data = run.task->about_data(); !data.empty()) found.about["data"] = data;
  const std::string bits = add_bits(found.about, run, held_out);
  const std::string overfitting = run.best ? "" : overfitting_text(run);
  if (!overfitting.empty()) found.about["overfitting"] = overfitting;
  const std::string examples = examples_text(run, judged, options.split);
  const std::string shown = overfitting.empty() ? "" : wrapped(overfitting, "", text_width());
  Output output = reproducible(call, found, text(bits, score, "\n", examples, "\n", shown));
  if (wants_single_targets(call)) {
    output.tables.push_back(single_target_table(*run.task, answered.targets));
  }
  if (call.value("table") == kSingleAgainst) {
    output.tables.push_back(with_rows(single_against_table(against.rows, false)));
  }
  return output;
}

std::string add_bits(Json& json, const Run& run, const Evaluation& held_out) {
  if (std::string_view(find_task(run.task->spec()).name) != "text") return "";
  const double bits = held_out.loss / std::numbers::ln2, perplexity = std::exp(held_out.loss);
  json["bits_per_character"] = bits;
  json["perplexity"] = perplexity;
  return text("\n", significant(bits), " bits per character, perplexity ", significant(perplexity),
              "\n");
}

}  // namespace headlab::cli
