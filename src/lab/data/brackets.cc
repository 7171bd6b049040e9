// Brackets: balanced brackets of `types` kinds, at most `depth` of them open at once (Dyck-k, of
// bounded depth: Hewitt et al. 2020, "RNNs can generate bounded hierarchical languages with optimal
// memory"). While a bracket is open, the target is the closing bracket of the innermost one. If
// both an opening and a closing bracket are possible, each follows with probability 1/2.
// Ground truth: `opener`, the innermost open bracket, if it is 2 or more positions back. Pitfall:
// most openers are the token itself, which a fixed offset of 0 finds, so these do not count; and
// one layer is nearly always right without finding the others.
// Read next: headlab/core/tasks/definition.h.
#include "headlab/core/tasks/definition.h"

#include <algorithm>

namespace headlab {
namespace {

constexpr Index kNearest = 2;  // smallest distance of an opener that counts

/// Opening bracket i is token i, the closing one is `types` + i.
struct Brackets {
  Index length = 16, types = 4, depth = 4;

  void bind(Settings& s) {
    s.integer("length", length, 2, 65536, "brackets in a sequence");
    s.integer("types", types, 1, 1 << 16, "kinds of brackets");
    s.integer("depth", depth, 1, 32768, "most brackets that are open at once");
  }
  void prepare() const {
    require(length % 2 == 0, "balanced brackets need an even length, got ", length);
    require(depth >= kNearest, "depth ", depth, " leaves no bracket open for ", kNearest,
            " positions: set depth to ", kNearest, " or more");
    require(2 * depth <= length, "depth ", depth, " needs length ", 2 * depth, " or more, got ",
            length);
  }
  TaskShape shape() const { return {Architecture::decoder, 2 * types, length}; }
  std::vector<Relation> relations() const {
    return {{"opener", "the innermost open bracket, if it is 2 or more back"}};
  }
  Index needed_heads() const { return 2; }  // one in each of two layers
  std::vector<std::string> target_names() const { return {"closer"}; }
  std::string token_text(Index token) const {
    const std::string_view shapes = token < types ? "([{<" : ")]}>";
    const Index type = token % types;
    return type < std::ssize(shapes) ? std::string(1, shapes[type]) : text(shapes[0], type);
  }

  /// A stack of the positions of open brackets decides what may follow; its top gives target and
  /// ground truth.
  void write(Sequence& s) const {
    std::vector<Index> open;
    for (Index t = 0; t < length; ++t) {
      const bool full = std::ssize(open) == std::min(depth, length - t);
      if (full || (!open.empty() && s.random.below(2) == 0)) {
        s.token(t) = id(types) + s.token(open.back());
        open.pop_back();
      } else {
        s.token(t) = id(s.random.below(types));
        open.push_back(t);
      }
      if (open.empty()) continue;
      s.target(t) = id(types) + s.token(open.back());
      if (t - open.back() >= kNearest) s.add_truth(0, t, open.back());
    }
  }
};

}  // namespace

TaskEntry brackets_task() {
  return task_entry(Brackets{}, {"brackets",
                                 "the closing bracket that the innermost open one needs (Dyck)",
                                 "layers=2 heads=1 d_model=64 d_ff=0 steps=1000 lr=1e-2",
                                 {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
