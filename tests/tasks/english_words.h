// A reader of English sentences who knows nothing of the code that draws them: word lists of its
// own, a pattern of what is grammatical, and the subject, time and pointer found from the words.
// Read next: english_test.cc.
#pragma once

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "headlab/core/kernels/scalar.h"

namespace headlab {

using TextWords = std::vector<std::string>;

/// "singular", "plural", "name" ... of a word; "other" if no list has it.
inline const std::string& part_of(const std::string& word) {
  static const std::map<std::string, std::string> parts = [] {
    const std::map<std::string, std::string> lists = {
        {"singular", "boy girl king queen dog cat"},
        {"plural", "boys girls kings queens dogs cats"},
        {"name", "Ann Ben"},
        {"owner", "boy's girl's king's queen's"},
        {"preposition", "near behind with beside"},
        {"time", "now nowadays yesterday earlier"},
        {"pointer", "this these"},
        {"before a noun", "the our big small old young"},
        {"be", "is are was were"},
        {"self", "himself herself itself themselves"}};
    std::map<std::string, std::string> all;
    for (const auto& [part, list] : lists) {
      std::istringstream in(list);
      for (std::string each; in >> each;) all[each] = part;
    }
    return all;
  }();
  static const std::string other = "other";
  const auto found = parts.find(word);
  return found == parts.end() ? other : found->second;
}
inline bool is_plural(const std::string& word) { return part_of(word) == "plural"; }
inline bool is_noun(const std::string& word) {
  return part_of(word) == "singular" || is_plural(word);
}
inline bool is_name(const std::string& word) { return part_of(word) == "name"; }
inline bool is_owner(const std::string& word) { return part_of(word) == "owner"; }
inline bool is_time(const std::string& word) { return part_of(word) == "time"; }
inline bool is_pointer(const std::string& word) { return part_of(word) == "pointer"; }
inline bool is_be(const std::string& word) { return part_of(word) == "be"; }
inline bool is_self(const std::string& word) { return part_of(word) == "self"; }

/// The pattern of a sentence whose subject is `thing`, and so are nouns near it.
inline std::string pattern_of(const std::string& thing, const std::string& time,
                              const std::string& rest) {
  const std::string companion = "(near|behind|with|beside) (Ann|Ben|" + thing + ")";
  const std::string opening =
      "((oh|well) , |Ann says that |Ann says now that |Ben said yesterday that )?";
  return opening + time + "(" + companion + " , )?" + thing + "( " + companion +
         "| here| in red| right over there)?" + rest + " \\.";
}

/// Whether a sentence (its words, joined by a space) follows the grammar. "this dog" and "these
/// dogs" agree, and occur only before one or ones.
inline bool is_grammatical(const std::string& sentence) {
  const std::string noun = "(boy|girl|king|queen|dog|cat)", look = "((big|small|old|young) )?";
  const std::string plain = "(the|our) ((boy|girl|king|queen)'s )?" + look + noun + "s?";
  const std::string thing = "(" + plain + "|this " + look + noun + "|these " + look + noun + "s)";
  const std::string adjectives = "( (big|small))?( (old|young))?( (red|black))?";
  const std::string ones = "(this" + adjectives + " one|these" + adjectives + " ones)";
  static const std::vector<std::regex> patterns = {
      std::regex(pattern_of(plain, "(now|nowadays|yesterday|earlier) ",
                            " (is|are|was|were) (happy|sad|hungry|tired)")),
      std::regex(
          pattern_of(plain, "", " (played|sang|slept) by (himself|herself|itself|themselves)")),
      std::regex(pattern_of(thing, "", " (liked|found|wanted) " + ones))};
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::regex& pattern) {
    return std::regex_match(sentence, pattern);
  });
}

/// A sentence up to the query, read by a person.
struct Reading {
  TextWords words;

  template <class Is>
  std::vector<std::int32_t> all(Is is) const {
    std::vector<std::int32_t> found;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (is(words[i])) found.push_back(static_cast<std::int32_t>(i));
    }
    return found;
  }
  /// Whether the phrase that ends with this noun begins with a preposition.
  bool is_companion(std::size_t noun) const {
    const auto is_inner = [](const std::string& word) {
      return part_of(word) == "before a noun" || is_owner(word) || is_pointer(word);
    };
    std::size_t at = noun;
    while (at > 0 && is_inner(words[at - 1])) --at;
    return at > 0 && part_of(words[at - 1]) == "preposition";
  }
  /// The first noun that is no companion; an owner is no noun.
  std::int32_t subject() const {
    const auto nouns = all(is_noun);
    return *std::find_if(nouns.begin(), nouns.end(), [&](std::int32_t noun) {
      return !is_companion(static_cast<std::size_t>(noun));
    });
  }
  std::int32_t time() const { return all(is_time).back(); }
  std::int32_t pointer() const { return all(is_pointer).back(); }
  const std::string& word(std::int32_t at) const { return words[static_cast<std::size_t>(at)]; }
};

/// The form of "be" for a time and a noun or name.
inline std::string be_of(const std::string& time, const std::string& noun) {
  const bool past = time == "yesterday" || time == "earlier";
  if (is_plural(noun)) return past ? "were" : "are";
  return past ? "was" : "is";
}
/// The word for oneself of a noun, a name or an owner.
inline std::string self_of(const std::string& noun) {
  if (is_plural(noun)) return "themselves";
  const std::string who = noun.substr(0, noun.find('\''));
  if (who == "boy" || who == "king" || who == "Ben") return "himself";
  return who == "girl" || who == "queen" || who == "Ann" ? "herself" : "itself";
}

}  // namespace headlab
