// Histogram: how often does this token occur in the sequence? An encoder; tokens are uniform among
// `symbols`, and the answer is a separate token for each count from 1 to `length`, predicted and
// never read. (A standard example of what transformers can compute: Weiss et al. 2021, "Thinking
// like transformers".)
// Ground truth: `equal`, the other positions that hold the same token, if there are any.
// Pitfall: many heads help and none is specialised. The count is read from the amount of attention
// on equal tokens, so it is distributed over heads with low attention mass each, and four heads do
// better than one.
// Read next: duplicate.cc.
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

struct Histogram {
  Index length = 16, symbols = 16;

  void bind(Settings& s) {
    s.integer("length", length, 2, 65536, "tokens in a sequence");
    s.integer("symbols", symbols, 1, 1 << 20, "number of symbols; the counts come on top");
  }
  TaskShape shape() const { return {Architecture::encoder, symbols + length, length}; }
  std::vector<Relation> relations() const {
    return {{"equal", "the other positions with the same token"}};
  }
  std::vector<std::string> target_names() const { return {"count"}; }
  std::string token_text(Index token) const {
    return token < symbols ? letter_text(token) : std::to_string(token - symbols + 1);
  }

  /// Equal tokens are found by comparing all pairs, which is faster than sorting for short
  /// sequences.
  void write(Sequence& s) const {
    fill_uniform(s.tokens(), symbols, s.random);
    answer(s);
  }
  void answer(Sequence& s) const {
    for (Index t = 0; t < s.length(); ++t) {
      auto keys = find_token(s.token(t), s.tokens());
      s.target(t) = id(symbols + std::ssize(keys) - 1);
      std::erase(keys, id(t));
      if (!keys.empty()) s.add_truth(0, t, keys);
    }
  }
};

}  // namespace

TaskEntry histogram_task() {
  return task_entry(Histogram{},
                    {"histogram",
                     "how often each token occurs; many heads share the work",
                     "layers=1 heads=4 d_model=64 d_ff=256 positions=none steps=1500 lr=3e-3",
                     {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
