// No op goes unchecked: the names that the sources record are compared with the table of gradient
// checks, and every case records the op that it is there for.
#include "ops/gradient_checks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"
#include "support/errors.h"

namespace headlab { namespace {

std::string all_sources() {
  std::ostringstream all;
  const std::filesystem::path folder = std::filesystem::path(HEADLAB_SOURCE_DIR) / "src";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".cc") all << std::ifstream(entry.path()).rdbuf();
  return all.str();
}

/// Every group 1 of `pattern` in `text`.
std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex regex(pattern);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex);
       it != std::sregex_iterator(); ++it)
    found.insert((*it)[1]);
  return found;
}

/// The names that are recorded: literals in calls of `record`, and of functions that take the name
/// as their first parameter and return a Tensor.
std::set<std::string> recorded_names() {
  const std::string text = all_sources();
  std::set<std::string> makers = matches(text, "Tensor (\\w+)\\(const char\\* name");
  makers.insert("record");
  std::set<std::string> names;
  for (const std::string& maker : makers)
    names.merge(matches(text, "\\b" + maker + "\\(\\s*\"(\\w+)\""));
  return names;
}

std::set<std::string> names_in_table() {
  std::set<std::string> names;
  for (const GradientCheck& check : gradient_check_table()) names.insert(check.op);
  return names;
}

TEST(GradientChecks, CoverEveryOpThatTheSourcesRecord) {
  const std::set<std::string> recorded = recorded_names();
  EXPECT_GE(recorded.size(), 27u) << "the pattern that finds record(\"...\") finds too little";
  EXPECT_EQ(recorded, names_in_table());
}

TEST(GradientChecks, FindOpsBehindHelpers) {
  const std::set<std::string> recorded = recorded_names();
  for (const char* name : {"sub", "transpose", "attention", "exp"})
    EXPECT_EQ(recorded.count(name), 1u) << name;
}

TEST(GradientChecks, RecordTheOpThatTheyAreFor) {
  for (const GradientCheck& check : gradient_check_table())
    EXPECT_GT(headlab::run(check).elements, 0) << check.op << ": " << check.description;
}

TEST(GradientChecks, HaveDescriptionsThatTellThemApart) {
  std::set<std::string> seen;
  for (const GradientCheck& check : gradient_check_table()) {
    EXPECT_TRUE(seen.insert(std::string(check.op) + ": " + check.description).second)
        << check.op << ": " << check.description;
  }
}

TEST(GradientChecks, FailWhenTheirOpDoesNotRun) {
  expect_error(
      [] {
        headlab::run({"exp", "computes tanh", {{3}}, [](const auto& x) { return tanh(x[0]); }});
      },
      {"the case never ran exp"});
}

TEST(GradientChecks, FailWhenTheGradientIsWrong) {
  const GradcheckResult found =
      headlab::run({"wrong", "the derivative of 2 x is not 1", {{3}}, [](const auto& x) {
                      return record("wrong", (x[0] * Scalar{2}).detach(), {x[0]}, [](Node& node) {
                        Scalar* dx = node.sum_into(0);
                        for (Index i = 0; i < node.count(); ++i) {
                          dx[i] += node.gradient()[i];
                        }
                      });
                    }});
  EXPECT_FALSE(found.passed);
  EXPECT_NEAR(found.error, 0.5, 0.2);
  EXPECT_TRUE(found.sentence().starts_with("wrong: input 0, index ")) << found.sentence();
}

}  // namespace
}  // namespace headlab
