// Runs of every block wiring, as users make them: train, analyse, prune, page, export; and the
// settings that do not fit.
#include "cli/program.h"
#include "headlab/core/model/config.h"

namespace headlab::cli { namespace {

struct BlockWirings : Program {
  /// Trains a small run with this wiring.
  void train(const std::string& wiring, const std::string& out) {
    done(
        typed("train --task relations:length=8,vocab=6 --layers 2 --heads 2 --d-model 16 --d-ff 8 "
              "--steps 4 --eval-examples 16 --batch 4 --force --norm-place " +
              wiring + " --out " + out));
  }
};

TEST_F(BlockWirings, EveryCommandTakesParallelBlocks) {
  train("parallel", "run");
  EXPECT_TRUE(holds(file("run/config.json"), "\"norm_place\": \"parallel\""));
  for (const char* command :
       {"eval run", "heads run --examples 32", "ablate run --examples 32",
        "ablate run --pairs --examples 32", "export run --to npz --out arrays",
        "ablate run --truth-edges --examples 32", "attribute run --examples 32",
        "patch run --examples 32", "circuits run",
        "prune run --method greedy --keep 2 --examples 32 --out less", "eval less",
        "page run --out page.html", "cost --model run"}) {
    SCOPED_TRACE(command);
    EXPECT_FALSE(done(typed(command)).out.empty());
  }
  EXPECT_TRUE(holds(file("page.html"), "parallel"));
}

TEST_F(BlockWirings, OtherFormatsRefuseParallelBlocks) {
  train("parallel", "run");
  for (const char* layout : {"transformerlens", "huggingface-gpt2", "nanogpt"}) {
    SCOPED_TRACE(layout);
    const Outcome refused = run(typed(text("export run --to ", layout, " --out other")));
    EXPECT_EQ(refused.status, 1);
    EXPECT_TRUE(holds(refused.err, "norm_place=parallel")) << refused.err;
  }
}

TEST_F(BlockWirings, ParallelBlocksAreRefusedInAnEncoderDecoder) {
  const Outcome refused =
      run(typed("train --task reverse_cross --norm-place parallel --steps 1 --out other"));
  EXPECT_NE(refused.status, 0);
  EXPECT_TRUE(holds(refused.err, "cannot use norm_place parallel in an encoder-decoder"))
      << refused.err;
}

TEST_F(BlockWirings, AreExplainedAndListed) {
  EXPECT_TRUE(holds(done(typed("explain parallel")).out, "Wang and Komatsuzaki 2021"));
  EXPECT_TRUE(holds(done(typed("list kinds")).out, "--norm-place parallel"));
  const std::string error = run(typed("train --norm-place paralel --out x")).err;
  EXPECT_TRUE(holds(error, "pre, post, parallel")) << error;
}

}  // namespace
}  // namespace headlab::cli
