// `headlab explain`: attention step by step (topics.cc), or what a word of the program's tables and
// lists means, wherever it stands: a column, a score of heads, a pruning method, a task. Words are
// those of the tables themselves, so what is added there is explained here. Alone it lists the
// topics. Read next: topics.h, list.cc.
#include <algorithm>

#include "cli/commands.h"
#include "cli/topics.h"
#include "headlab/heads/scores.h"
#include "headlab/prune/methods.h"
#include "headlab/report/columns.h"
#include "headlab/tasks/table.h"

namespace headlab::cli {
namespace {

struct Meaning {
  std::string word, kind, text;
};

std::vector<Meaning> meanings() {
  std::vector<Meaning> all;
  for (const ColumnEntry& column : column_table())
    all.push_back({column.name, "a column", column.meaning});
  for (const ScoreEntry& score : score_table())
    all.push_back({score.name, "a score of heads", score.meaning});
  for (const PruneMethod& method : prune_table())
    all.push_back({method.name, "a pruning method", method.summary});
  for (const TaskEntry& task : task_table()) all.push_back({task.name, "a task", task.summary});
  return all;
}

/// What the word means, as text and as JSON.
std::pair<std::string, Json> meanings_of(const std::string& word) {
  std::string shown;
  Json found = Json::array();
  for (const auto& [name, kind, meaning] : meanings()) {
    if (name != word) continue;
    shown += wrapped(text(name, ", ", kind, ": ", meaning), "  ", 80);
    found.push_back(Json::object({{"kind", kind}, {"meaning", meaning}}));
  }
  return {shown, found};
}

Result list_topics() {
  std::string shown;
  Json entries = Json::array();
  for (const Topic& topic : topics()) {
    shown += beside(text(topic.name, " ", topic.takes), 19, topic.summary);
    entries.push_back(
        Json::object({{"name", topic.name}, {"summary", topic.summary}, {"takes", topic.takes}}));
  }
  return {.json = stamped({{"topics", std::move(entries)}}),
          .text = text(shown,
                       "\nfor example: headlab explain five-tokens --query sat\nor a word of "
                       "any table: headlab explain lift\n")};
}

}  // namespace

Result explain(Invocation& call) {
  TopicFlags flags;
  call.read(flags.settings());
  if (call.positionals().empty()) return list_topics();
  const std::string word = join(call.positionals(), " ");
  auto [shown, found] = meanings_of(word);
  const auto topic = std::ranges::find_if(topics(), [&](const Topic& t) {
    return t.name == call.positionals()[0];
  });
  if (topic != topics().end()) {
    Result result = explain_topic(*topic, call, flags);
    if (!shown.empty()) result.text = shown + "\n" + result.text;
    result.json["meanings"] = std::move(found);
    return result;
  }
  std::vector<std::string> known = texts_of(meanings(), &Meaning::word);
  for (const Topic& other : topics()) known.emplace_back(other.name);
  if (shown.empty())  // there are hundreds of words: too many for a hint
    throw UsageError(unknown_name("word", word, known).what(),
                     "headlab explain lists the topics, headlab list columns and scores the words");
  call.refuse(flags.settings().names(), "says nothing to a word",
              "`headlab explain` lists the topics");
  return {.json = stamped({{"word", word}, {"meanings", std::move(found)}}), .text = shown};
}

}  // namespace headlab::cli
