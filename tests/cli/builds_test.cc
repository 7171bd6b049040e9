// Agreement of builds. Bits are promised for one binary alone: compilers and processors
// round differently. A run says which build made it and goes on with any other; and how far two
// builds are apart after 100 steps is bounded here, where HEADLAB_OTHER_BUILD names the program of
// a second one. Read next: src/lab/runs/run.cc.
#include <cmath>

#include "cli/program.h"
#include "headlab/lab/runs/run.h"

namespace headlab::cli { namespace {

class Builds : public Program {
 protected:
  /// The lines of a run's metrics.
  std::vector<Json> metrics(const std::string& run) const {
    return read_log(folder / run / "metrics.jsonl");
  }
};

TEST_F(Builds, ResumeRunsOfOtherBuildsWithANote) {
  done(tiny({"--out", "a", "--steps", "2"}));
  EXPECT_EQ(done({"train", "--resume", "a", "--steps", "3"}).err.find("another build"),
            std::string::npos);
  Json config = Json::parse(file("a/config.json"));
  config["build"] = "g++ 3.3, for a toaster";
  write_file(folder.path() / "a" / "config.json", config.dump(2) + "\n");
  expect_parts(done({"train", "--resume", "a", "--steps", "4"}).err,
               {"begun by another build (g++ 3.3, for a toaster)"});
  EXPECT_EQ(metrics("a").back().at("step").integer(), 4);
}

/// Losses of the same training by both; a state goes from one to the other.
TEST_F(Builds, AreNotFarApartAfter100Steps) {
  const char* other = std::getenv("HEADLAB_OTHER_BUILD");
  if (other == nullptr || *other == '\0') GTEST_SKIP() << "HEADLAB_OTHER_BUILD names no program";
  const Words training =
      typed("train --task relations --steps 100 --eval-every 50 --save-every 50");
  const auto train = [&](const char* program, const std::string& out) {
    std::string line = text("cd ", folder.path().string(), " && ", program);
    for (const std::string& word : training) line += " " + word;
    return std::system((line + " --threads 1 --quiet --out " + out + " >/dev/null").c_str());
  };
  ASSERT_EQ(train(HEADLAB_PROGRAM, "mine"), 0);
  ASSERT_EQ(train(other, "theirs"), 0);
  const auto mine = metrics("mine"), theirs = metrics("theirs");
  ASSERT_EQ(mine.size(), theirs.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const double a = mine[i].at("loss").number(), b = theirs[i].at("loss").number();
    std::printf("step %2lld: losses %.9g and %.9g, relative difference %.2g\n",
                static_cast<long long>(mine[i].at("step").integer()), a, b, std::abs(a / b - 1));
    EXPECT_LT(std::abs(a / b - 1), 1e-2);
  }
  expect_parts(done({"train", "--resume", "theirs", "--steps", "101"}).err,
               {"begun by another build"});
}

}  // namespace
}  // namespace headlab::cli
