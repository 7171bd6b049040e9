// Ordinary English, in which words agree. One word is asked for (in capitals), and others tell it:
//     now the dogs near our king ARE happy .           subject: the verb agrees with its subject
//     Ben said yesterday that now our queen IS sad .   time: the last word that says when
//     our girl near the kings sang by HERSELF .        self: the noun that did it
//     these cats here liked this small old ONE .       this: the last this or these
// Numbers, times and places are drawn independently, so no distance and no position gives a key
// away; "these dogs" occurs only before one or ones, as it would tell what the subject must tell.
// Pitfalls: the subject is the first noun that is no owner, so a rule of order finds it (`fronted`
// breaks the rule); one head is enough at a lower learning rate, so the task states no number of
// heads. Read next: headlab/core/tasks/definition.h.
#include <algorithm>
#include <array>

#include "headlab/core/base/text.h"
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

using Words = std::vector<std::string>;
using Keys = std::vector<std::int32_t>;

struct Noun {
  std::string one, self;  // "dog", "itself"; many are "dogs"
  bool owns;              // whether "boy's" occurs
};
const std::vector<Noun> kNouns = {{"boy", "himself", true},  {"king", "himself", true},
                                  {"girl", "herself", true}, {"queen", "herself", true},
                                  {"dog", "itself", false},  {"cat", "itself", false}};
const Words kNames = {"Ann", "Ben"}, kArticles = {"the", "our"};
const Words kPrepositions = {"near", "behind", "with", "beside"};
const Words kTimes = {"now", "nowadays", "yesterday", "earlier"};
const std::vector<Words> kBe = {{"is", "are"}, {"is", "are"}, {"was", "were"}, {"was", "were"}};
const Words kFeelings = {"happy", "sad", "hungry", "tired"};
const Words kDid = {"played", "sang", "slept"}, kLiked = {"liked", "found", "wanted"};
const Words kPointers = {"this", "these"}, kAnnounced = {"one", "ones"};
const std::vector<Words> kAdjectives = {{"big", "small"}, {"old", "young"}, {"red", "black"}};
const std::vector<Words> kPlaces = {{}, {"here"}, {"in", "red"}, {"right", "over", "there"}};
const std::vector<Words> kOpenings = {{},
                                      {"oh", ","},
                                      {"well", ","},
                                      {"Ann", "says", "that"},
                                      {"Ann", "says", "now", "that"},
                                      {"Ben", "said", "yesterday", "that"}};

/// Returns all nouns, in both numbers, and names.
Words nouns_and_names() {
  Words all = kNames;
  for (const Noun& noun : kNouns) all.insert(all.end(), {noun.one, noun.one + "s"});
  return all;
}

/// Returns all words, in the order of their tokens.
const Words& vocabulary() {
  static const Words all = [] {
    std::vector<Words> lists = {nouns_and_names(),
                                kArticles,
                                kPrepositions,
                                kTimes,
                                kFeelings,
                                kDid,
                                kLiked,
                                kPointers,
                                kAnnounced,
                                {"themselves", "by", "."}};
    for (const Noun& noun : kNouns) {
      lists.push_back({noun.self});
      if (noun.owns) lists.push_back({noun.one + "'s"});
    }
    for (const auto& more : {kBe, kAdjectives, kPlaces, kOpenings}) {
      lists.insert(lists.end(), more.begin(), more.end());
    }
    Words words;
    for (const Words& list : lists) {
      for (const std::string& word : list) {
        if (std::ranges::count(words, word) == 0) words.push_back(word);
      }
    }
    return words;
  }();
  return all;
}

std::int32_t token_of(const std::string& word) {
  return id(std::ranges::find(vocabulary(), word) - vocabulary().begin());
}

struct EnglishRelation {
  const char* name;
  const char* description;
  Words candidates;  // from which a naive reader would choose a key
};
enum RelationIndex { kSubject, kTime, kSelf, kThis };  // indices of rows
const std::vector<EnglishRelation> kRelations = {
    {"subject", "the noun that is, are, was or were agrees with", nouns_and_names()},
    {"time", "the word that says when: is or was, are or were", kTimes},
    {"self", "the noun that himself, herself, itself or themselves means", nouns_and_names()},
    {"this", "the this or these that announces one or ones", kPointers}};

enum class Question { be, self, pointed };

/// A sentence, built from left to right.
struct Sentence {
  Generator& random;
  Question question;
  std::vector<Noun> unused = kNouns;
  Words words = {};
  std::string answer = {};
  Index query = -1;                              // the token before the answer
  std::array<Index, 4> keys = {-1, -1, -1, -1};  // by RelationIndex; -1: not asked

  bool chance(double share) { return random.uniform() < share; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[random.below(std::ssize(from))];
  }
  Index add(const std::string& word) {
    words.push_back(word);
    return std::ssize(words) - 1;
  }
  void add_all(const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

  /// Adds "[the | our] [king's] [old] dogs", or "these [old] dogs". Returns the noun and whether
  /// there are many.
  std::pair<Noun, bool> add_thing() {
    const Noun noun = unused.back();
    unused.pop_back();
    const bool many = chance(0.5);
    if (question == Question::pointed && chance(0.7)) {
      add(kPointers[many]);
    } else {
      add(pick(kArticles));
      Words owners;
      for (const Noun& other : unused) {
        if (other.owns) owners.push_back(other.one + "'s");
      }
      if (chance(0.3)) add(pick(owners));
    }
    if (chance(0.3)) add(pick(kAdjectives[random.below(2)]));
    add(many ? noun.one + "s" : noun.one);
    return {noun, many};
  }

  /// Adds "near our king" or "near Ann".
  void add_companion() {
    add(pick(kPrepositions));
    if (chance(0.25)) {
      add(pick(kNames));
    } else {
      add_thing();
    }
  }

  void build(bool fronted, bool distracted) {
    random.shuffle(std::span(unused));
    add_all(pick(kOpenings));
    const Index time = random.below(std::ssize(kTimes));
    if (question == Question::be) keys[kTime] = add(kTimes[time]);
    if (fronted) {
      add_companion();
      add(",");
    }
    const auto [noun, many] = add_thing();
    const Index subject = std::ssize(words) - 1;
    if (distracted) {
      add_companion();
    } else {
      add_all(pick(kPlaces));
    }
    if (question == Question::be) {
      keys[kSubject] = subject;
      answer = kBe[time][many];
    } else if (question == Question::self) {
      keys[kSelf] = subject;
      add_all({pick(kDid), "by"});
      answer = many ? "themselves" : noun.self;
    } else {
      add_pointed();
    }
    query = add(answer) - 1;
    if (question == Question::be) add(pick(kFeelings));
    add(".");
  }

  /// Adds "liked this [big] [old] [red]", which one or ones follows.
  void add_pointed() {
    const bool many = chance(0.5);
    add(pick(kLiked));
    keys[kThis] = add(kPointers[many]);
    answer = kAnnounced[many];
    const Index left_out = random.below(4);
    const std::vector<std::int32_t> order = draw_distinct(3, 3, random);
    for (std::size_t row = 0; row < order.size(); ++row) {
      if (order[row] >= left_out) add(pick(kAdjectives[row]));
    }
  }
};

struct English {
  double distracted = 0.5, fronted = 0;
  Index length = 14;

  void bind(Settings& s) {
    s.real("distracted", distracted, 0, 1, "share of sentences with a noun before the verb");
    s.real("fronted", fronted, 0, 1, "share of sentences with a noun before the subject");
    s.integer("length", length, 1, 65536, "the longest sentence, in tokens");
  }
  void prepare() const {
    Index shortest = 6;                 // the dog slept by itself .
    if (distracted > 0) shortest += 2;  // near Ann
    if (fronted > 0) shortest += 3;     // near Ann ,
    if (length >= shortest) return;
    throw Error(text("cannot draw sentences of length ", length, ": some have ", shortest,
                     " tokens or more"),
                text("set length=", shortest, " or more"));
  }
  TaskShape shape() const { return {Architecture::decoder, std::ssize(vocabulary()), length}; }
  std::vector<Relation> relations() const {
    std::vector<Relation> all;
    for (const EnglishRelation& row : kRelations) all.push_back({row.name, row.description, false});
    return all;
  }
  std::vector<std::string> target_names() const { return {"next word"}; }
  std::string token_text(Index token) const { return vocabulary()[token]; }

  /// Returns the first sentence that fits. Its question and its companions are drawn once, so that
  /// the length changes no share.
  Sentence draw(Generator& random) const {
    constexpr std::array kAsked = {Question::be, Question::be, Question::self, Question::pointed};
    const Question question = kAsked[random.below(std::ssize(kAsked))];
    const bool has_front = random.uniform() < fronted;
    const bool has_distractor = random.uniform() < distracted;
    for (;;) {
      Sentence sentence{random, question};
      sentence.build(has_front, has_distractor);
      if (std::ssize(sentence.words) <= length) return sentence;
    }
  }

  void write(Sequence& s) const {
    const Sentence sentence = draw(s.random);
    const Index query = sentence.query;
    std::ranges::transform(sentence.words, s.tokens().begin(), token_of);
    s.pad_behind(std::ssize(sentence.words));
    s.target(query) = token_of(sentence.answer);
    for (std::size_t r = 0; r < kRelations.size(); ++r) {
      if (sentence.keys[r] < 0) continue;
      Keys candidates;
      for (Index t = 0; t <= query; ++t) {
        const bool is_candidate =
            std::ranges::count(kRelations[r].candidates, sentence.words[t]) > 0;
        if (is_candidate) candidates.push_back(id(t));
      }
      s.add_truth(r, query, Keys{id(sentence.keys[r])});
      s.add_candidates(r, query, candidates);
    }
  }
};

}  // namespace

TaskEntry english_task() {
  return task_entry(English{},
                    {"english",
                     "words that agree in plain English (one head is enough at a lower rate)",
                     "layers=1 heads=4 d_model=64 d_ff=0 steps=1000 lr=8e-3",
                     {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
