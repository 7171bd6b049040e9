// Answers to `headlab explain WORD` and `headlab list`: each begins with what was asked.
#include "app/cli/commands.h"
#include "cli/program.h"
#include "headlab/core/tasks/table.h"

namespace headlab::cli { namespace {

using Explain = Program;

TEST_F(Explain, BeginsWithTheMeaningOfTheWord) {
  const std::pair<const char*, const char*> words[] = {
      {"back1", "back1: the token 1 back (a relation"},
      {"larger", "larger: the smallest symbol above this one"},
      {"chance", "chance: The attention that the right keys would get"},
      {"ablate", "ablate: ablate heads and measure the loss (a command)"},
      {"greedy", "greedy: "},
      {"query", "query: The vector"}};
  for (const auto& [word, meaning] : words) {
    const std::string said = done({"explain", word}).out;
    EXPECT_TRUE(said.starts_with(meaning)) << said;
  }
}

TEST_F(Explain, KnowsTheRelationsOfEveryTask) {
  for (const TaskEntry& entry : task_table()) {
    std::vector<Relation> relations;
    try {
      relations = make_task(entry.name)->relations();
    } catch (const Error&) {
      continue;  // its data are not here
    }
    for (const Relation& relation : relations) {
      const std::string said = done({"explain", relation.name, "--json"}).json().dump();
      EXPECT_TRUE(holds(said, entry.name)) << relation.name << " " << said;
    }
  }
}

TEST_F(Explain, ListAloneNamesTheLists) {
  const Outcome lists = done({"list"});
  const Json described = done({"list", "--json"}).json();
  for (const Json& one : described.at("lists").items()) {
    EXPECT_TRUE(holds(lists.out, one.at("summary").string())) << lists.out;
    EXPECT_GT(done({"list", one.at("name").string()}).out.size(), 100u);
  }
}

}  // namespace
}  // namespace headlab::cli
