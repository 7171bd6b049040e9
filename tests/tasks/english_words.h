// A reader of english sentences who knows nothing of the grammar's code: it has a word list of its
// own, and finds subject and antecedent from the words alone. Read next: english_test.cc.
#pragma once

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "headlab/core/kernels/scalar.h"

namespace headlab {

/// "determiner", "noun" ... of a stem; "ending" for "-a".
inline std::string part_of(const std::string& word) {
  static const std::map<std::string, std::string> words = [] {
    const std::vector<std::pair<std::string, std::string>> lists = {
        {"determiner", "th som an"},
        {"adjective", "old small heavy quiet bright crooked gaunt ochre"},
        {"preposition", "near of behind under with beside"},
        {"adverb", "often now soon gladly seldom nightly"},
        {"verb", "find follow watch pull wash hurt dress defend"},
        {"pronoun", "h s"},
        {"separator", ", ."}};
    std::map<std::string, std::string> parts;
    for (const auto& [part, list] : lists) {
      std::istringstream in(list);
      for (std::string each; in >> each;) parts[each] = part;
    }
    return parts;
  }();
  const auto found = words.find(word);
  return found != words.end() ? found->second : word[0] == '-' ? "ending" : "noun";
}

inline bool is_rare_word(const std::string& word) {
  static const std::string rare =
      " gaunt ochre abbot vizier ibex marmot medlar sorrel adze astrolabe oasis fjord gondola brig "
      "seldom nightly ";
  return rare.find(" " + word + " ") != std::string::npos;
}

/// The class of a noun: the place of the list that holds it.
inline std::size_t class_of(const std::string& noun) {
  static const std::vector<std::string> lists = {
      " king smith child baker nurse thief abbot vizier ",
      " dog horse owl trout spider goat ibex marmot ",
      " oak rose moss clover fern wheat medlar sorrel ",
      " drum rope lamp spoon needle hammer adze astrolabe ",
      " hill river mill tower harbour bridge oasis fjord ",
      " boat cart sled raft wagon canoe gondola brig "};
  const auto found = std::find_if(lists.begin(), lists.end(), [&](const std::string& list) {
    return list.find(" " + noun + " ") != std::string::npos;
  });
  return static_cast<std::size_t>(found - lists.begin());
}

/// A sentence as words (stems or endings), and what a reader finds in it. Places count words.
struct Reading {
  std::vector<std::string> words;
  std::vector<std::size_t> nouns, plain_nouns, others;  // all; not after a preposition; after one
  std::size_t verb = 0, pronoun = 0;

  explicit Reading(std::vector<std::string> sentence) : words(std::move(sentence)) {
    bool prepositional = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string part = part_of(words[i]);
      prepositional = prepositional || part == "preposition";
      if (part == "noun") {
        nouns.push_back(i);
        (prepositional ? others : plain_nouns).push_back(i);
        prepositional = false;
      }
      verb = part == "verb" ? i : verb;
      pronoun = part == "pronoun" ? i : pronoun;
    }
  }
  std::size_t subject() const { return plain_nouns.at(0); }
  /// "s" means the subject, "h" the first other noun.
  std::size_t antecedent() const {
    return words[pronoun] == "s" || others.empty() ? subject() : others[0];
  }
  /// The determiner of a noun.
  std::size_t determiner(std::size_t noun) const {
    while (part_of(words.at(noun)) != "determiner") --noun;
    return noun;
  }
  std::size_t noun_behind(std::size_t determiner) const {
    while (part_of(words.at(determiner)) != "noun") ++determiner;
    return determiner;
  }
};

}  // namespace headlab
