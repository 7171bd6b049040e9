// The program as a library: headlab with a task and an optimizer of one's own, which its commands
// must know. Read next: main.cc.
#include <headlab/app/cli/command.h>
#include <headlab/core/tasks/definition.h>

struct Ones {
  void bind(headlab::Settings&) {}
  headlab::TaskShape shape() const { return {.vocab = 2, .length = 4}; }
  std::vector<headlab::Relation> relations() const { return {{"self", "the token itself", true}}; }
  std::vector<std::string> target_names() const { return {"one"}; }
  void write(headlab::Sequence& s) const {
    for (headlab::Index t = 0; t < 4; ++t) s.target(t) = s.token(t) = 1, s.add_truth(0, t, t);
  }
};

/// w -= lr g
void plain(const headlab::OptimizerStep& s) {
  for (headlab::Index i = 0; i < s.count; ++i)
    s.w[i] -= static_cast<headlab::Scalar>(s.lr) * s.scale * s.g[i];
}

int main(int count, char** values) {
  return headlab::cli::run_program(
      count, values,
      {.tasks = {headlab::task_entry(
           Ones{}, {.name = "ones", .summary = "always one", .recommended = "steps=2 batch=2"})},
       .optimizers = {{"plain", "w -= lr g", 1, plain}}});
}
