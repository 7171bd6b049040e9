// Two controls, in which no head may be reported as specialised. Tokens are uniform. In
// `memoryless` the target is a function of the token itself (the alphabet read backwards), so no
// head is needed; in `random` it is random, so there is nothing to learn. Ground truth: the
// relations that a head of the task `relations` could implement: `previous`, and `same`, the last
// earlier token of the same class (the token's number modulo `classes`).
// Pitfall: every trained head deviates from uniform attention. Most heads of `memoryless` differ
// significantly from chance on `same`, with attention mass below chance. Significant does not mean
// specialised: no head of either control is an owner.
// Read next: relations.cc.
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

struct Control {
  bool learnable;  // true for memoryless, false for random
  Index length = 16, vocab = 16, classes = 4;

  void bind(Settings& s) {
    s.integer("length", length, 2, 65536, "tokens in a sequence");
    s.integer("vocab", vocab, 2, 1 << 20, "number of tokens");
    s.integer("classes", classes, 1, 1 << 20, "the class of a token is its number modulo this");
  }
  void prepare() const {
    require(classes <= vocab, "classes ", classes, " must not exceed vocab ", vocab,
            ": a class would have no token");
  }
  TaskShape shape() const { return {Architecture::decoder, vocab, length}; }
  std::vector<Relation> relations() const {
    return {{"previous", "the token before this one", true},
            {"same", "the last earlier token of the same class"}};
  }
  bool is_control() const { return true; }
  std::vector<std::string> target_names() const { return {"label"}; }

  void write(Sequence& s) const {
    fill_uniform(s.tokens(), vocab, s.random);
    for (Index t = 0; t < length; ++t) {
      s.target(t) = id(learnable ? vocab - 1 - s.token(t) : s.random.below(vocab));
    }
    if (s.with_truth) answer(s);
  }
  void answer(Sequence& s) const {
    const auto class_of = classes_of(s.tokens(), classes);
    for (Index t = 1; t < s.length(); ++t) {
      s.add_truth(0, t, t - 1);
      const Index same = last_equal(class_of, t);
      if (same >= 0) s.add_truth(1, t, same);
    }
  }
};

}  // namespace

TaskEntry memoryless_task() {
  return task_entry(Control{.learnable = true},
                    {"memoryless",
                     "a control: the label depends on the token alone",
                     "layers=1 heads=4 d_model=64 d_ff=0 steps=500 lr=1e-2",
                     {.why = "a control: no head has anything to find"}});
}

TaskEntry random_task() {
  return task_entry(Control{.learnable = false},
                    {"random",
                     "a control: the label is drawn by chance",
                     "layers=1 heads=4 d_model=64 d_ff=0 steps=500 lr=1e-2",
                     {.why = "a control: nothing can be learned"}});
}

}  // namespace headlab
