// The main task. Tokens are uniform in the vocabulary; the class of a token is its number modulo
// `classes`. Every position predicts one token for each relation, with one softmax each: the token
// k back, the last earlier token of the same class, or (in an encoder) the next token. A query
// without such a key has no target in that slot.
// Ground truth: the key is that position, and the target is the token there. A query must read
// several keys at once, which forces heads to specialise: with H = K heads each relation gets one.
// Pitfall: if "same" has the same key as another relation, another head already holds the answer
// and the head of "same" attends elsewhere: see `disjoint` in
// src/lab/heads/scores/scored_queries.h. Read next: headlab/core/tasks/definition.h.
#include <algorithm>
#include <iterator>

#include "headlab/core/base/text.h"
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

using Classes = std::span<const std::int32_t>;  // of all tokens

/// A kind of relation. A new kind is a function and a row.
struct RelationKind {
  const char* name;         // the name of its target and relation; k back is named with its number
  const char* description;  // likewise
  bool positional;
  bool ahead;                                  // whether the key is later than the query: needs an
                                               // encoder
  Index (*key)(Classes of, Index t, Index k);  // of position t; -1: there is none
};

Index key_back(Classes, Index t, Index k) { return std::max<Index>(t - k, -1); }

Index key_same(Classes of, Index t, Index) { return last_equal(of, t); }

Index key_next(Classes of, Index t, Index) { return t + 1 < std::ssize(of) ? t + 1 : -1; }

constexpr RelationKind kKinds[] = {
    {"back", "the token k back", true, false, key_back},  // first: written as a number
    {"same", "the last earlier token of the same class", false, false, key_same},
    {"next", "the next token", true, true, key_next},
};

struct Relations {
  Index length = 16, vocab = 16, classes = 4;
  std::string words = "1+3+5+same";  // a number k (the token k back), same, next

  struct Asked {
    const RelationKind* kind;
    Index k;  // distance back; 0 if the kind takes no number
    bool operator==(const Asked&) const = default;
  };
  std::vector<Asked> asked = {};  // the parsed words

  void bind(Settings& s) {
    s.integer("length", length, 2, 65536, "tokens in a sequence");
    s.integer("vocab", vocab, 2, 1 << 20, "number of tokens");
    s.integer("classes", classes, 1, 1 << 20, "the class of a token is its number modulo this");
    s.string("relations", words,
             "what each position predicts, joined by +: a number k (the token k back), same (the "
             "last earlier token of the same class), next (makes the model an encoder)");
  }
  void prepare() {
    require(classes <= vocab, "classes ", classes, " must not exceed vocab ", vocab,
            ": a class would have no token");
    for (const std::string_view word : split(words, '+')) {
      asked.push_back(parse(word));
      require(std::ranges::count(asked, asked.back()) == 1, "relations names '", word,
              "' twice: name each once");
    }
  }
  Asked parse(std::string_view word) const {
    if (!word.empty() && word.size() < 10 && word.find_first_not_of("0123456789") == word.npos) {
      const Index k = std::stoll(std::string(word));
      require(k >= 1 && k < length, "no position of a sequence of length ", length,
              " has an earlier token ", k, " back: use relations from 1 to ", length - 1);
      return {&kKinds[0], k};
    }
    std::vector<std::string> known = {"1", "2", "3 (any number back)"};
    for (const RelationKind& kind : std::span(kKinds).subspan(1)) {
      if (word == kind.name) return {&kind, 0};
      known.emplace_back(kind.name);
    }
    throw unknown_name("relation", word, known);
  }

  TaskShape shape() const {
    const bool ahead = std::ranges::any_of(asked, [](const Asked& a) { return a.kind->ahead; });
    return {ahead ? Architecture::encoder : Architecture::decoder, vocab, length,
            std::ssize(asked)};
  }
  std::vector<Relation> relations() const {
    std::vector<Relation> all;
    for (const auto& [kind, k] : asked) {
      all.push_back({kind->name, kind->description, kind->positional});
      if (k > 0) all.back() = {text("back", k), text("the token ", k, " back"), true};
    }
    return all;
  }
  Index needed_heads() const { return std::ssize(asked); }
  std::vector<std::string> target_names() const { return texts_of(relations(), &Relation::name); }

  /// Targets and ground truth are derived from the same key, so they cannot disagree.
  void write(Sequence& s) const {
    fill_uniform(s.tokens(), vocab, s.random);
    answer(s);
  }
  void answer(Sequence& s) const {
    const auto class_of = classes_of(s.tokens(), classes);
    for (Index r = 0; r < std::ssize(asked); ++r) {
      for (Index t = 0; t < s.length(); ++t) {
        const Index at = asked[r].kind->key(class_of, t, asked[r].k);
        if (at < 0) continue;
        s.target(t, r) = s.token(at);
        s.add_truth(r, t, at);
      }
    }
  }
};

}  // namespace

TaskEntry relations_task() {
  return task_entry(Relations{}, {"relations",
                                  "several keys at once: tokens k back, last of the same class",
                                  "layers=1 heads=4 d_model=64 d_ff=0 steps=1000 lr=1e-2",
                                  {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
