// Results that a page measures before it is written. A row of the table is a command with the
// number of passes over one sequence that it takes. Operations are counted from sizes, not timed,
// so that a page does not depend on the machine. Read next: page.cc.
#include "app/cli/measure.h"

#include <unistd.h>

#include <algorithm>

#include "app/cli/commands.h"
#include "headlab/lab/heads/causes/pairs.h"

namespace headlab::cli {
namespace {

/// Operations that a page may take for all results of a run: about ten seconds of a slow core.
constexpr double kMostOperations = 3e11;
/// There are many pairs: a quarter of the examples of a single ablation.
constexpr Index kExamplesOfPairs = 512;

struct Measurement {
  const char* file;
  const char* what;
  std::vector<std::string> flags;  // after the run
  std::vector<std::string> words;  // before it
  /// Returns the number of passes over one sequence for a model of H heads.
  double (*passes)(double H);
  double least_heads = 1;
};

const std::vector<Measurement>& measurements() {
  static const std::vector<Measurement> all = {
      {"heads.json",
       "the scores of all heads",
       {},
       {"heads"},
       [](double) { return 4.0 * double(HeadsOptions().examples); }},
      {"ablation.json",
       "the loss without each head",
       {},
       {"ablate"},
       [](double H) { return (H + 1) * double(kPairedExamples); }},
      {"curve.json",
       "the order in which heads can be removed",
       {"--methods", "greedy"},
       {"curve"},
       [](double H) { return (H + 1) * (H + 2) / 2 * double(PruneSettings().examples); }},
      {"interactions.json",
       "the loss without each pair of heads",
       {"--pairs", "--examples", text(kExamplesOfPairs)},
       {"ablate"},
       [](double H) { return (H * (H - 1) / 2 + H + 1) * double(kExamplesOfPairs); },
       2}};
  return all;
}

/// Returns the operations of a pass over one sequence; a multiply-add counts two.
double operations_of_pass(const Run& run) {
  const TransformerConfig& model = run.model.config();
  const auto positions = static_cast<double>(model.tokens_per_sequence());
  const double maps = 2 * double(run.model.parameter_count()) * positions;
  double attention = 0;
  for (const AttentionSlotSizes& slot : attention_layers_of(run.model)) {
    attention += 4 * double(slot.queries) * double(slot.keys) * double(model.d_model);
  }
  return maps + attention;
}

/// Returns whether the run lacks a result of its present weights.
bool is_missing(const Run& run, const std::string& file) {
  if (!is_there(result_file(run, file))) return true;
  const std::vector<std::string> outdated = outdated_results(run);
  return std::ranges::find(outdated, result_file(run, file).filename().string()) != outdated.end();
}

/// Returns why the results of a run cannot be stored; "" if they can.
std::string unwritable_because(const Run& run) {
  if (access(run.path.c_str(), W_OK) != 0) return "the folder cannot be written";
  try {
    lock_run(run.path);
  } catch (const RunBusy&) {
    return "another process is writing the run";
  }
  return "";
}

/// Runs the command of a result and reports it.
Measured measure_one(const Run& run, const std::string& name, const Measurement& row) {
  std::vector<std::string> words = row.words;
  words.push_back(name);
  words.insert(words.end(), row.flags.begin(), row.flags.end());
  Measured one{.run = name_of(run), .file = row.file};
  const std::string why_not = unwritable_because(run);
  words.emplace_back("--quiet");
  try {
    const Output output = output_of_words(words, why_not.empty());
    if (output.status == 130) throw Stopped();
    const bool is_kept = why_not.empty() && !output.unwritten;
    const std::string reason =
        why_not.empty() && output.unwritten ? output.unwritten->what() : "not kept: " + why_not;
    one.said =
        text("measured ", row.what,
             is_kept ? text(" -> ", result_file(run, row.file).string()) : text(" (", reason, ")"));
    const Json* curves = output.json.find("curves");  // `curve` may be given several runs
    if (!is_kept) one.found = curves != nullptr ? curves->items()[0] : output.json;
  } catch (const Error& error) {
    one.said = text("could not measure ", row.what, ": ", error.what());
  }
  return one;
}

}  // namespace

std::vector<Measured> measure_missing(const std::vector<std::string>& runs) {
  std::vector<Measured> all;
  for (const std::string& name : runs) {
    if (!is_there(named_run(name).path / "config.json")) continue;  // a sweep, or no run
    const Run run = open_run(name);
    const auto heads = static_cast<double>(all_heads(run.model).size());
    double left = kMostOperations;
    for (const Measurement& row : measurements()) {
      if (heads < row.least_heads || !is_missing(run, row.file)) continue;
      const double operations = row.passes(heads) * operations_of_pass(run);
      if (operations > left) {
        Measured& one = all.emplace_back(Measured{.run = name_of(run), .file = row.file});
        one.said = text("not measured, because it takes long: ", row.what);
        continue;
      }
      left -= operations;
      all.push_back(measure_one(run, name, row));
    }
  }
  return all;
}

}  // namespace headlab::cli
