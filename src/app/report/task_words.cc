// The question of each task, as the page asks it above an example. A task without a row is
// described by its relations, or by the sentence of its file. Read next: page_task.cc, which stores
// it in a page.
#include "app/report/task_words.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/data/lab_tasks.h"
#include "headlab/lab/results/words.h"

namespace headlab {
namespace {

constexpr std::size_t kMostNamed = 4;  // relations in one sentence

const std::map<std::string, std::string, std::less<>>& questions() {
  static const std::map<std::string, std::string, std::less<>> kQuestions = {
      {"induction",
       "After a token that was seen before, the model continues the segment that it began."},
      {"copy", "After the separator, the model writes the symbols again."},
      {"sort", "After the separator, the model writes the symbols in ascending order."},
      {"reverse", "After the separator, the model writes the symbols backwards."},
      {"reverse_cross", "The model reads a source and writes it backwards."},
      {"recall", "Given a key, the model recalls the value that followed it."},
      {"duplicate", "At each token, the model decides whether the token occurred before."},
      {"brackets", "The model closes the innermost open bracket."},
      {"grid", "The model fills in hidden pixels from the pixels to the left and above."},
      {"patches",
       "The model compares patches of a picture with patches of the same colour, to the left and "
       "mirrored."},
      {"assign", "The model looks up the values of variables through chains of definitions."},
      {"histogram", "The model counts how often each token occurs."},
      {"memoryless", "The model labels each token from the token alone: a control."},
      {"random", "The model guesses labels that were drawn by chance: a control."},
      {"patterns",
       "Attention patterns of a model from an array: arcs show where the query attends."},
      {"english",
       "The model says the next word of an English sentence: is or are, herself or themselves."},
      {"text", "The model predicts the next character."},
      {"tokens", "The model predicts the next token."},
      {"repeated", "The model predicts the next token of a segment that occurs twice."}};
  return kQuestions;
}

std::string name_of_task(const Task& task) {
  const std::string spec = task.spec();
  return spec.substr(0, spec.find(':'));
}

/// Returns "a, b and c".
std::string listed(const std::vector<std::string>& words) {
  if (words.size() < 2) return join(words, "");
  const std::vector<std::string> first(words.begin(), words.end() - 1);
  return join(first, ", ") + " and " + words.back();
}

/// Returns whether the keys of a relation are a number of tokens back: "back12".
bool is_distance(const std::string& name) {
  return name.starts_with("back") && name.size() > 4 &&
         name.find_first_not_of("0123456789", 4) == std::string::npos;
}

/// Returns the first line of the description of a relation; without a description its name.
std::string first_line(const Relation& relation, std::string_view task) {
  const std::string& whole = relation.description;
  return whole.empty() ? spoken_name(relation.name, task) : whole.substr(0, whole.find('\n'));
}

/// Returns a phrase for each of the first few relations, and one for all distances among them: "the
/// tokens 1, 3 and 5 back".
std::vector<std::string> key_phrases(std::vector<Relation> relations, std::string_view task) {
  relations.resize(std::min(relations.size(), kMostNamed));
  std::vector<std::string> distances;
  for (const Relation& one : relations) {
    if (is_distance(one.name)) distances.push_back(one.name.substr(4));
  }
  std::vector<std::string> phrases;
  if (distances.size() > 1) phrases.push_back("the tokens " + listed(distances) + " back");
  for (const Relation& one : relations) {
    const bool is_said = distances.size() > 1 && is_distance(one.name);
    if (!is_said) phrases.push_back(first_line(one, task));
  }
  return phrases;
}

/// Returns the description of the user's own sequences as sentences.
std::string described(std::string description, const std::vector<std::string>& keys) {
  while (description.ends_with('.')) description.pop_back();
  description[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(description[0])));
  if (keys.empty()) return description + ".";
  return text(description, ". To answer, attend to: ", listed(keys), ".");
}

}  // namespace

std::string spoken_name(const std::string& name, std::string_view task) {
  if (name == "same" && task.substr(0, task.find(':')) == "relations") return "same class";
  if (is_distance(name)) return name.substr(4) + " back";
  std::string words = name;
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string question_of(const Task& task) {
  const std::string name = name_of_task(task);
  const std::vector<Relation> relations = task.relations();
  const std::vector<std::string> keys = key_phrases(relations, name);
  const std::string description = description_of(task);
  if (!description.empty()) return described(description, keys);
  const auto own = questions().find(name);
  if (own != questions().end()) return own->second;
  const std::vector<std::string> targets = task.target_names();
  const std::string said =
      listed(mapped(targets, [&](const std::string& target) { return spoken_name(target, name); }));
  if (relations.empty()) return text("The model predicts the ", said, ".");
  const auto is_target = [&](const Relation& one) {
    return std::ranges::find(targets, one.name) != targets.end();
  };
  if (std::ranges::all_of(relations, is_target)) {
    return text("At each token, the model names ", listed(keys), ".");
  }
  return text("The model predicts the ", said, ". To answer, attend to: ", listed(keys), ".");
}

Json spoken_relations(const Task& task) {
  const std::string name = name_of_task(task);
  Json all = Json::array();
  for (const Relation& relation : task.relations()) {
    Json one = to_json(relation);
    one["spoken"] = spoken_name(relation.name, name);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace headlab
