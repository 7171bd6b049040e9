// Duplicate: has this token occurred before? Tokens are uniform among `symbols`; at every position
// the answer is one of two extra tokens, no and yes, which are predicted and never read.
// Ground truth: `earlier`, the set of all earlier positions with the same token; if there is none,
// the answer is no and the query is not eligible.
// Pitfall: attention to the duplicate does not suffice, because softmax always attends to some key:
// the feed-forward network has to decide whether it holds the same token. The answer is mostly no,
// so accuracy alone is misleading. With learned positions some seeds never find the head.
// Read next: headlab/core/tasks/definition.h.
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

struct Duplicate {
  Index length = 16, symbols = 24;

  void bind(Settings& s) {
    s.integer("length", length, 2, 65536, "tokens in a sequence");
    s.integer("symbols", symbols, 1, 1 << 20, "number of symbols; no and yes come on top");
  }
  TaskShape shape() const { return {Architecture::decoder, symbols + 2, length}; }
  std::vector<Relation> relations() const {
    return {{"earlier", "all earlier positions with the same token"}};
  }
  Index needed_heads() const { return 1; }
  std::vector<std::string> target_names() const { return {"seen"}; }
  std::string token_text(Index token) const {
    if (token < symbols) return letter_text(token);
    return token == symbols ? "no" : "yes";
  }

  /// The set of keys decides the answer, so that the two cannot disagree.
  void write(Sequence& s) const {
    fill_uniform(s.tokens(), symbols, s.random);
    answer(s);
  }
  void answer(Sequence& s) const {
    for (Index t = 0; t < s.length(); ++t) {
      const auto keys = find_token(s.token(t), s.tokens().first(t));
      s.target(t) = id(symbols + (keys.empty() ? 0 : 1));
      if (!keys.empty()) s.add_truth(0, t, keys);
    }
  }
};

}  // namespace

TaskEntry duplicate_task() {
  return task_entry(Duplicate{},
                    {"duplicate",
                     "has this token occurred before?",
                     "layers=1 heads=1 d_model=64 d_ff=256 positions=sinusoidal steps=1000 lr=3e-3",
                     {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
