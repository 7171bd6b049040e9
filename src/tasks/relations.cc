// The kinds of relations are a table: a new one is a function from (classes, query) to the key, and
// a row. Targets and gold come from the same key, so that they cannot disagree. Read next: the
// opening of relations.h, for the definition and the trap.
#include "headlab/tasks/relations.h"

#include <algorithm>
#include <iterator>

#include "headlab/base/error.h"
#include "tasks/parts.h"

namespace headlab {

/// A position of a sequence, and what a kind needs to know about a relation.
struct RelationQuery {
  std::span<const std::int32_t> classes;  // of all tokens
  Index t;
  Index k;
};

struct RelationKind {
  const char* name;         // the name of its target and gold; k back is named with its number
  const char* description;  // likewise
  bool positional;
  bool ahead;                            // the key is a later one: needs an encoder
  Index (*key)(const RelationQuery& q);  // -1: there is none
};

namespace {

Index key_back(const RelationQuery& q) { return std::max<Index>(q.t - q.k, -1); }

Index key_same(const RelationQuery& q) { return last_equal(q.classes, q.t); }

Index key_next(const RelationQuery& q) {
  return q.t + 1 < static_cast<Index>(q.classes.size()) ? q.t + 1 : -1;
}

constexpr RelationKind kKinds[] = {
    {"back", "the token k back", true, false, key_back},  // first: written as a number
    {"same", "the last earlier token of the same class", false, false, key_same},
    {"next", "the next token", true, true, key_next},
};

std::vector<std::string> split_words(const std::string& words) {
  std::vector<std::string> parts(1);
  for (const char c : words)
    if (c == '+')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

bool is_number(const std::string& word) {
  return !word.empty() && word.size() < 10 &&
         word.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Settings settings_of(RelationsOptions& o) {
  Settings s;
  s.integer("length", o.length, 2, 65536, "tokens in a sequence");
  s.integer("vocab", o.vocab, 2, 1 << 20, "number of tokens");
  s.integer("classes", o.classes, 1, 1 << 20, "the class of a token is its number modulo this");
  s.text("relations", o.relations,
         "what each position predicts, joined by +: a number k (the token k back), same (the last "
         "earlier token of the same class), next (makes the model an encoder)");
  return s;
}

RelationsTask::Asked RelationsTask::parse(const std::string& word) const {
  if (is_number(word)) {
    const Index k = std::stoll(word);
    require(k >= 1 && k < options_.length, "no position of a sequence of length ", options_.length,
            " has an earlier token ", k, " back: use relations from 1 to ", options_.length - 1);
    return {&kKinds[0], k};
  }
  std::vector<std::string> known = {"1", "2", "3 (any number back)"};
  for (const RelationKind& kind : std::span(kKinds).subspan(1)) {
    if (word == kind.name) return {&kind, 0};
    known.push_back(kind.name);
  }
  throw unknown_name("relation", word, known);
}

RelationsTask::RelationsTask(const RelationsOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "relations");
  require(options_.classes <= options_.vocab, "classes ", options_.classes,
          " must not exceed vocab ", options_.vocab, ": a class would have no token");
  for (const std::string& word : split_words(options_.relations)) {
    const Asked asked = parse(word);
    for (const Asked& other : asked_) {
      require(other.kind != asked.kind || other.k != asked.k, "relations names '", word,
              "' twice: name each once");
    }
    asked_.push_back(asked);
  }
}

std::string RelationsTask::spec() const { return spec_text("relations", options_); }

TaskShape RelationsTask::shape() const {
  const bool ahead =
      std::any_of(asked_.begin(), asked_.end(), [](const Asked& a) { return a.kind->ahead; });
  return {ahead ? Architecture::encoder : Architecture::decoder, options_.vocab, options_.length,
          static_cast<Index>(asked_.size())};
}

std::vector<Relation> RelationsTask::relations() const {
  std::vector<Relation> all;
  for (const Asked& a : asked_) {
    all.push_back({a.kind->name, a.kind->description, a.kind->positional});
    if (a.k > 0) {
      all.back().name += std::to_string(a.k);
      all.back().description = text("the token ", a.k, " back");
    }
  }
  return all;
}

std::vector<std::string> RelationsTask::target_names() const {
  std::vector<std::string> names;
  for (const Relation& relation : relations()) names.push_back(relation.name);
  return names;
}

template <class Use>
void RelationsTask::each_key(std::span<const std::int32_t> tokens, const Use& use) const {
  const auto classes = classes_of(tokens, options_.classes);
  for (std::size_t r = 0; r < asked_.size(); ++r) {
    const auto& [kind, k] = asked_[r];
    for (Index t = 0; t < options_.length; ++t) {
      const Index at = kind->key({classes, t, k});
      if (at >= 0) use(r, t, at);
    }
  }
}

Batch RelationsTask::make_batch(Key key, Index count, Split split) const {
  Batch batch = empty_batch(*this, count);
  for (Index b = 0; b < count; ++b) {
    Generator random = sequence_generator(key, split, b);
    const auto tokens = row(batch, b);
    fill_uniform(tokens, options_.vocab, random);
    each_key(tokens, [&](std::size_t r, Index t, Index at) {
      batch.target(b, t, static_cast<Index>(r)) = tokens[at];
    });
  }
  return batch;
}

Example RelationsTask::make(Key key, Index count, Split split) const {
  Example example{make_batch(key, count, split), std::vector<Gold>(asked_.size())};
  for (Index b = 0; b < count; ++b) {
    each_key(row(example.batch, b),
             [&](std::size_t r, Index t, Index at) { example.gold[r].add(b, t, id(at)); });
  }
  return example;
}

std::string RelationsTask::token_text(std::int32_t token) const {
  return letter_text(token, options_.vocab);
}

}  // namespace headlab
