// The lessons that need trained models: the knee, diversity over seeds, all models on one input,
// controls in which no head owns a relation. Read next: lessons.h.
#include "browser/lessons.h"

namespace headlab::browser { namespace {

using TrainedLessons = Exercises;

TEST_F(TrainedLessons, AreBroughtAlong) {
  const Study study;
  study.done({"page", "--textbook", "--out", "book.html"});
  const fs::path trained = study.path("book.html");
  EXPECT_LE(fs::file_size(trained), 1'500'000u);
  EXPECT_EQ(read_file(trained).find(fs::temp_directory_path().string()), std::string::npos);
  open(trained);
  EXPECT_TRUE(shows("#check", "✓ checked"));
  EXPECT_EQ(words("#views"), "LearnMore");
  EXPECT_EQ(tab().number("document.querySelectorAll('#lab-head option').length"), 2)
      << "it begins on a run with two heads";
  for (const char* name : kLessons) go_to(std::string("#view=learn&world=run&lesson=") + name);

  go_to("#view=learn&lesson=budget");
  EXPECT_NE(caption("loss-by-heads"), "");
  go_to("#view=learn&lesson=many");
  for (const char* part : {"8: 0.", "5 seeds", "95 % intervals"})
    EXPECT_NE(caption("diversity").find(part), std::string::npos) << caption("diversity");
  EXPECT_NE(caption("family").find("4 with 4, "), std::string::npos) << caption("family");
  EXPECT_EQ(table("family").size(), 1u + 2 + 3 + 4 + 5 + 8);

  const std::string tasks[] = {"memoryless", "random"};
  for (int i = 0; i < 2; ++i) {
    go_to("#view=learn&lesson=true&lab=control:" + std::to_string(i));
    EXPECT_NE(caption("control").find(tasks[i]), std::string::npos) << caption("control");
    EXPECT_NE(caption("control").find("is first"), std::string::npos) << caption("control");
    EXPECT_NE(caption("control").find("no head is its owner"), std::string::npos)
        << caption("control");
  }
  click("#control-again");
  EXPECT_NE(caption("control").find("Eight heads"), std::string::npos) << caption("control");

  go_to("#view=learn&lesson=exercises");
  expect_wrong(9, "0.0 0.1");
  EXPECT_NE(pair_that_is_right(8, 8), "");
}

}  // namespace
}  // namespace headlab::browser
