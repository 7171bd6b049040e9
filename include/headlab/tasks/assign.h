// Assign: toy code, "a=3;b=a;c=7;b?a?c?". Each statement defines a new variable, by a digit or by a
// variable before it; then variables are asked for. Wherever one is used (right of =, before ?),
// the target is its value. A chain of definitions has at most `depth` statements.
// Truth: `definition`, what stands right of = where the used variable is defined; `origin`, the
// digit at the end of its chain, asked where that is another place; `name`, the variable left of
// =, asked at the token right of it, which has to know whose value it is.
// Trap: two circuits give the same answer. Values may be handed on along the chain, and a use reads
// its definition; or names are looked up until a digit is found, and a use reads the origin.
// Five seeds: accuracy 1.000, mass .91 to .95 (definition), .92 to .93 (name), .09 to .17 (origin):
// values are handed on.
// Read next: src/tasks/assign.cc.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct AssignOptions {
  Index variables = 8;
  Index values = 10;
  Index shortest = 3;
  Index longest = 6;
  Index queries = 3;
  Index depth = 2;
};
Settings settings_of(AssignOptions& options);

class AssignTask : public Task {
 public:
  using Options = AssignOptions;
  /// Errors: shortest above longest; more statements than variables.
  explicit AssignTask(const AssignOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  std::vector<std::string> target_names() const override { return {"value"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  AssignOptions options_;
};

}  // namespace headlab
