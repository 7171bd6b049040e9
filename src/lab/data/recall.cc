// Associative recall of many pairs (MQAR: Arora et al. 2023, "Zoology: Measuring and improving
// recall in efficient language models"): a sequence lists `pairs` keys, each followed by its value,
// and then `queries` of these keys in random order; the target of each is its value. Keys are the
// first half of the vocabulary, values the second; both are drawn without repetition. Ground truth:
// at a query `association` is the position of the value, right after the key. To be found there, a
// value must hold the key before it: `previous`, at the values.
// Pitfall: a head of the second layer that attends to the *key* of the pair finds the same token,
// and detectors would report it; but the answer is not there, so it does not count.
// Read next: headlab/core/tasks/definition.h.
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

struct Recall {
  Index pairs = 8, queries = 8, vocab = 32;

  void bind(Settings& s) {
    s.integer("pairs", pairs, 1, 16384, "keys with a value");
    s.integer("queries", queries, 1, 16384, "keys that are asked for");
    s.integer("vocab", vocab, 2, 1 << 20, "number of tokens; the first half of them are keys");
  }
  void prepare() const {
    require(pairs <= keys_in_all(), pairs, " pairs with different keys and values need vocab ",
            2 * pairs, " or more, got ", vocab);
    require(queries <= pairs, "each key is asked for once at most: set queries to ", pairs,
            " or less, got ", queries);
  }
  TaskShape shape() const { return {Architecture::decoder, vocab, 2 * pairs + queries}; }
  std::vector<Relation> relations() const {
    return {{"association", "the value of the key that is asked for"},
            {"previous", "the key before a value", true}};
  }
  Index needed_heads() const { return 2; }  // one in each of two layers
  std::vector<std::string> target_names() const { return {"value"}; }
  std::string token_text(Index token) const {
    return token < keys_in_all() ? letter_text(token) : std::to_string(token - keys_in_all());
  }
  Index keys_in_all() const { return vocab / 2; }

  /// Pairs have fixed positions, key i at 2 i with its value after it, and queries fill the rest.
  void write(Sequence& s) const {
    const auto keys = draw_distinct(keys_in_all(), pairs, s.random);
    const auto values = draw_distinct(vocab - keys_in_all(), pairs, s.random);
    for (Index i = 0; i < pairs; ++i) {
      s.token(2 * i) = keys[i];
      s.token(2 * i + 1) = id(keys_in_all()) + values[i];
      s.add_truth(1, 2 * i + 1, 2 * i);
    }
    const auto asked = draw_distinct(pairs, queries, s.random);
    for (Index q = 0; q < queries; ++q) {
      const Index t = 2 * pairs + q, at = 2 * asked[q];
      s.token(t) = s.token(at);
      s.target(t) = s.token(at + 1);
      s.add_truth(0, t, at + 1);
    }
  }
};

}  // namespace

TaskEntry recall_task() {
  return task_entry(Recall{}, {"recall",
                               "the values of keys from a list of pairs (MQAR)",
                               "layers=2 heads=1 d_model=64 d_ff=0 steps=700 lr=3e-3",
                               {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
