// The page that trains: its facts are the task's own, tasks that it cannot train on are refused,
// and its policy is that of every page. Its trainer is tested under node: playground_train_test.cc.
#include "headlab/lab/heads/scores/scores.h"
#include "report/page_core.h"
#include "support/errors.h"

namespace headlab { namespace {

/// Returns the facts in a page of these tasks.
Json facts_of(const std::vector<std::string>& tasks) {
  const std::string html = make_playground(tasks).html;
  const std::string open = "<script type=\"application/json\" id=\"facts\">";
  const std::size_t begin = html.find(open) + open.size();
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST(Playground, StoresKeysAndTargetsOnceIfTheyFollow) {
  const Json facts = facts_of({"relations:length=8,vocab=6,classes=3,relations=1+same"});
  const Json& task = facts.at("tasks").items()[0];
  const Json::Array& relations = task.at("relations").items();
  EXPECT_EQ(relations[0].at("fixed").string(), ".0123456") << "the token before";
  EXPECT_TRUE(relations[1].at("fixed").is_null());
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(task.at("targets").items()[k].at("from").integer(), static_cast<std::int64_t>(k));
  }
  EXPECT_EQ(task.at("digits").integer(), 1);
  EXPECT_EQ(task.at("train").string().size(), 2048u * 8 * 2) << "tokens and keys of `same`";
  EXPECT_EQ(task.at("held_out").string().size(), 64u * 8 * 2);
  EXPECT_EQ(facts.at("owner_lift").number(), kOwnerLift);
}

TEST(Playground, WritesLargeVocabulariesAsTwoLetters) {
  const Json task = facts_of({"relations:length=8,vocab=90,relations=1"}).at("tasks").items()[0];
  EXPECT_EQ(task.at("digits").integer(), 2);
  EXPECT_EQ(task.at("train").string().size(), 2048u * 8 * 2);
  EXPECT_EQ(task.at("vocabulary").items().size(), 90u);
}

TEST(Playground, TakesSmallSettingsForNamesAlone) {
  const Json facts = facts_of({"relations", "induction", "sort"});
  const Json::Array& tasks = facts.at("tasks").items();
  EXPECT_EQ(tasks[0].at("length").integer(), 12);
  EXPECT_EQ(tasks[1].at("length").integer(), 18);
  EXPECT_EQ(tasks[2].at("length").integer(), 12);
}

TEST(Playground, RefusesTasksThatItCannotTrainOn) {
  const struct {
    const char *task, *reason;
  } cases[] = {
      {"reverse_cross", "it needs an encoder and a decoder"},
      {"patches", "its inputs are vectors"},
      {"relations:length=65,relations=1", "its sequences have 65 positions; at most 64"},
      {"relations:length=8,vocab=5000,relations=1", "it has 5000 different tokens or answers"},
      {"histogram", "a query of relation equal has 2 keys; only one is possible"},
      {"nothing", "unknown task 'nothing'"},
  };
  for (const auto& [task, reason] : cases) {
    SCOPED_TRACE(task);
    expect_error([&, name = task] { make_playground({name}); }, {reason});
  }
  expect_error([] { make_playground({}); }, {"at least one task"});
}

TEST(Playground, RefusesTasksWithoutRelations) {
  const TemporaryFolder folder;
  const std::string file = (folder / "plain.jsonl").string();
  write_file(file, R"({"tokens": ["a", "b"], "targets": ["b", "a"]})"
                   "\n");
  const std::string task = text("file:train=", file, ",held_out=", file, ",test=", file);
  expect_error([&] { make_playground({task}); }, {"it has no relation, so no head can be scored"});
}

TEST(Playground, AllowsItsOwnScriptAlone) {
  const std::string html = make_playground({"sort"}).html;
  const std::string policy = html.substr(html.find("default-src"), 200);
  EXPECT_EQ(policy.rfind("default-src 'none'; script-src 'sha256-", 0), 0u) << policy;
  EXPECT_EQ(html.find("{{"), html.npos) << "each placeholder is filled";
}

}}  // namespace headlab
