// The model in the browser against the program, head set by head set: all 256 sets of the 8 heads
// of the model of `demo`, silenced by zero and by the mean, example by example, and against the
// losses of all sets that `curve` wrote. HEADLAB_EXAMPLES=512 takes all examples (minutes). Read
// next: page_test.cc.
#include <cmath>
#include <cstdlib>

#include "browser/study.h"
#include "headlab/heads/ablation.h"
#include "headlab/train/run.h"

namespace headlab::browser { namespace {

int sets_examples() {
  const char* asked = std::getenv("HEADLAB_EXAMPLES");
  return asked != nullptr ? std::atoi(asked) : 16;
}

/// Losses [set][example] of a run with the heads of each set at 0, by bits of the set.
std::vector<std::vector<double>> program_losses(const headlab::Run& run, AblationKind kind) {
  const std::vector<HeadId> heads = all_heads(run.model);
  std::vector<HeadSet> sets(std::size_t{1} << heads.size());
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (std::size_t h = 0; h < heads.size(); ++h)
      if ((set >> h & 1U) != 0) sets[set].push_back(heads[h]);
  const Batch batch = held_out_examples(*run.task, 512).batch;
  std::vector<std::vector<double>> losses;
  for (const auto& of_set : Ablation(run.model, batch, {.kind = kind}).losses(sets))
    losses.emplace_back(of_set.begin(), of_set.begin() + sets_examples());
  return losses;
}

class EverySet : public OnPage {};

TEST_F(EverySet, OfEightHeadsLosesWhatTheProgramLoses) {
  const Study& study = the_study();
  study.done({"train", "--task", "relations", "--heads", "8", "--out", "eight"});
  study.done({"curve", "eight", "--methods", "exhaustive"});
  const headlab::Run run = open_run(study.path("eight"));
  open(study.page("eight"));
  for (const AblationEntry& entry : ablation_table()) {
    if (std::string(entry.name) == "resample") continue;
    const auto program = program_losses(run, entry.kind);
    ASSERT_EQ(program.size(), 256u);
    double largest = 0;
    for (int first = 0; first < 256; first += 8) {  // a call that takes too long has no answer
      const Json page = tab().evaluate(
          "Array.from({length: 8}, (_, i) => Array.from(evaluate(run(), {count: " +
          std::to_string(sets_examples()) + ", replacement: " + Json(entry.name).dump() +
          ", gates: [Float32Array.from({length: 8}, (_, h) => 1 - (" + std::to_string(first) +
          " + i >> h & 1))]}).by))");
      for (std::size_t i = 0; i < 8; ++i) {
        const std::vector<double>& theirs = program[static_cast<std::size_t>(first) + i];
        for (std::size_t e = 0; e < theirs.size(); ++e) {
          const double ours = page.items()[i].items()[e].number();
          largest = std::max(largest, std::abs(ours - theirs[e]) / (1 + std::abs(theirs[e])));
        }
      }
    }
    std::printf("%s: 256 sets x %d examples, largest |difference| / (1 + loss) %.2g\n", entry.name,
                sets_examples(), largest);
    EXPECT_LE(largest, 1e-4) << entry.name;
    EXPECT_GT(program[255][0], program[0][0]) << "silence costs something";
  }
  // of every 15th set, none and the whole one among them, all examples, as `curve` took them
  const Json losses = study.json("eight/curve.json").at("subsets").at("losses");
  for (int kept = 0; kept < 256; kept += 15) {
    const double ours =
        tab().number("evaluate(run(), {gates: [Float32Array.from({length: 8}, (_, h) => " +
                     std::to_string(kept) + " >> h & 1)]}).loss");
    const double theirs = losses.items()[static_cast<std::size_t>(kept)].number();
    EXPECT_NEAR(ours, theirs, 1e-5 + 1e-4 * theirs) << kept;
  }
}

}  // namespace
}  // namespace headlab::browser
