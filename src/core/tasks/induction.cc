// Induction: continue a repeated segment. A sequence is
//   start (1 to `start` other tokens) | segment | gap (0 to `gap` other tokens) | segment | others
// where the segment has `shortest` to `longest` distinct tokens, and "other" tokens are those that
// are not in it. There is a target only if the next token is determined: at every token of the
// repeat except the last. (The first token of the repeat cannot be predicted.)
// Ground truth: at a repeated token, `induction` is the position after its first occurrence, which
// holds the answer. To be found there, that position must hold the token before it: `previous`, at
// the tokens of the first segment except its first.
// Pitfall: if the distance between the segments were fixed, one layer could answer by offset alone,
// and detectors could not distinguish that from induction; so start, gap and length vary.
// Read next: headlab/core/tasks/definition.h.
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

struct Induction {
  Index length = 40, vocab = 32, shortest = 6, longest = 12, start = 4, gap = 7;

  void bind(Settings& s) {
    s.integer("length", length, 3, 65536, "tokens in a sequence");
    s.integer("vocab", vocab, 3, 1 << 16, "number of tokens");
    s.integer("shortest", shortest, 2, 65536, "tokens of the shortest segment");
    s.integer("longest", longest, 2, 65536, "tokens of the longest segment");
    s.integer("start", start, 1, 65536, "most tokens before the first segment");
    s.integer("gap", gap, 0, 65536, "most tokens between the segments");
  }
  void prepare() const {
    require(shortest <= longest, "shortest ", shortest, " must not exceed longest ", longest);
    require(longest < vocab, "a segment of ", longest, " distinct tokens and one other need vocab ",
            longest + 1, " or more, got ", vocab);
    const Index room = start + 2 * longest + gap;
    require(room <= length, "start ", start, ", two segments of ", longest, " and gap ", gap,
            " need length ", room, " or more, got ", length);
  }
  TaskShape shape() const { return {Architecture::decoder, vocab, length}; }
  std::vector<Relation> relations() const {
    return {{"induction", "the token after the first occurrence of this one"},
            {"previous", "the token before this one, asked in the first segment", true}};
  }
  Index needed_heads() const { return 2; }  // one in each of two layers
  std::vector<std::string> target_names() const { return {"next"}; }

  /// Distinct tokens are drawn by shuffling the front of a list of all tokens. The rest of the list
  /// are the other tokens, which fill the whole sequence before the two segments overwrite them.
  void write(Sequence& s) const {
    const Index size = s.random.between(shortest, longest);
    const Index first = s.random.between(1, start);
    const Index second = first + size + s.random.between(0, gap);
    const auto drawn = draw_distinct(vocab, size, s.random);
    for (std::int32_t& token : s.tokens()) token = drawn[s.random.between(size, vocab - 1)];
    for (Index j = 0; j < size; ++j) {
      s.token(first + j) = s.token(second + j) = drawn[j];
      if (j == 0) continue;
      s.target(second + j - 1) = drawn[j];
      s.add_truth(0, second + j - 1, first + j);
      s.add_truth(1, first + j, first + j - 1);
    }
  }
};

}  // namespace

TaskEntry induction_task() {
  return task_entry(Induction{}, {"induction",
                                  "continue a segment of tokens that was seen before",
                                  "layers=2 heads=1 d_model=64 d_ff=0 steps=1000 lr=2e-3",
                                  {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
