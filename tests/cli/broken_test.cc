// What once did not work as its help said. Read next: mistakes_test.cc.
#include "cli/program.h"

namespace headlab::cli { namespace {

using Mended = Program;

TEST_F(Mended, BenchTakesHeadsThatAreLeft) {
  const Outcome bench = run({"bench", "step", "--config", "toy", "--steps", "1", "--batch", "1",
                             "--attention", R"({"blocks.0.attn":{"heads":[0,2]}})", "--json"});
  EXPECT_EQ(bench.status, 0) << bench.err;
}

TEST_F(Mended, CircuitsNamesTheTargetsThereAre) {
  done(tiny({"--out", "a"}));
  expect_refused(run({"circuits", "a", "--head", "0.1", "--target", "7"}), 2,
                 {"--target 7", "from 0 to 3"});
}

TEST_F(Mended, FlagsOfEveryCommandMayStandBeforeIt) {
  EXPECT_EQ(done({"--json", "list", "tasks"}).out, done({"list", "tasks", "--json"}).out);
  EXPECT_EQ(done({"--threads", "1", "list", "tasks"}).out, done({"list", "tasks"}).out);
  EXPECT_EQ(run({"--json"}).status, 2);
}

}  // namespace
}  // namespace headlab::cli
