// `headlab eval`: loss and accuracy of a run. The held-out examples are fixed, so the numbers are
// the same every time. This is the shortest command on a run: flags, a library call, a result. Read
// next: heads.cc.
#include <cmath>
#include <numbers>

#include "cli/commands.h"
#include "results/npy.h"

namespace headlab::cli {

namespace {

void write_losses(const Invocation& call, const std::string& file, const Run& run,
                  const EvaluateOptions& options) {
  const std::vector<float> losses = losses_by_example(run.model, *run.task, options);
  const Index targets = run.model.config().targets;
  const std::array<std::int64_t, 3> shape = {std::ssize(losses) / (2 * targets), targets, 2};
  write_out(call, file, npy_bytes(shape, losses));
}

}  // namespace

Result eval(Invocation& call) {
  Index examples = 512;
  Flags settings;
  bool best = false;
  std::string npy, without;
  settings.string("without", without, "ablate these heads", "LAYER.HEAD[,...]");
  settings.integer("examples", examples, 1, 1 << 24, "held-out sequences");
  settings.boolean("best", best, "use the parameters with the lowest held-out loss");
  settings.group("output");
  settings.string("npy", npy, "sums and counts of losses [examples, targets, 2] (NumPy)", "FILE");

  call.read(settings);
  require_ending("--npy", npy, ".npy");
  Run run = open_run(call.positionals()[0]);
  require(!best || std::filesystem::exists(best_file(run)), run.path.string(),
          " has its last parameters alone: tasks that read a file (text, file) keep the best");
  if (best) read_model(best_file(run), run.model);
  std::vector<HeadId> kept = all_heads(run.model);
  for (const HeadId& head : parse_heads("--without", without, run.model)) std::erase(kept, head);
  const Split split = best ? Split::test : Split::validation;
  const EvaluateOptions options{.examples = examples,
                                .split = split,
                                .edits = gates_for(run.model, kept)};
  const Evaluation held_out = evaluate(run.model, *run.task, options);
  if (!npy.empty()) write_losses(call, npy, run, options);
  const Index judged = at_most_different(*run.task, examples, split);
  Finding found{.about = stamped({{"loss", held_out.loss},
                                  {"accuracy", held_out.accuracy},
                                  {"examples", judged}}),
                .tables = {target_table(held_out)}};
  if (const std::string data = run.task->about_data(); !data.empty()) found.about["data"] = data;
  const std::string bits = add_bits(found.about, run, held_out);
  const std::string overfitting = best ? "" : overfitting_text(run);
  if (!overfitting.empty()) found.about["overfitting"] = overfitting;
  return reproducible(call, found,
                      text(bits, "\n", examples_text(*run.task, judged, split), "\n",
                           overfitting.empty() ? "" : wrapped(overfitting, "", 80)));
}

std::string add_bits(Json& json, const Run& run, const Evaluation& held_out) {
  if (std::string_view(find_task(run.config.task).name) != "text") return "";
  const double bits = held_out.loss / std::numbers::ln2, perplexity = std::exp(held_out.loss);
  json["bits_per_character"] = bits;
  json["perplexity"] = perplexity;
  return text("\n", significant(bits), " bits per character, perplexity ", significant(perplexity),
              "\n");
}

}  // namespace headlab::cli
