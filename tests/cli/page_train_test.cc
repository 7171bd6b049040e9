// `headlab page --textbook` trains the models that its lessons show: some seconds each time. Read
// next: page_test.cc.
#include "cli/program.h"

namespace headlab::cli { namespace {

using Textbooks = Program;

/// The models are trained each time; nothing is left of them but what is in the page.
TEST_F(Textbooks, TrainTheModelsOfATextbook) {
  done({"page", "--textbook", "--threads", "1"});
  const std::string once = file("textbook.html");
  done({"page", "--textbook", "--threads", "2", "--out", "b.html"});
  const auto data = [](const std::string& html) { return html.substr(html.find("id=\"b0\"")); };
  EXPECT_EQ(data(file("b.html")), data(once));
  EXPECT_TRUE(holds(once, "sweeps/textbook/heads=8"));
  std::size_t entries = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) entries += entry.exists() ? 1 : 0;
  EXPECT_EQ(entries, 2u);
}

}  // namespace
}  // namespace headlab::cli
