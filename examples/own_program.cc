// headlab with your own task, score and pruning method, in one main: every command knows them. Read
// next: include/headlab/app/cli/command.h.
//   own_program train --task successor --out runs/successor
//   own_program heads runs/successor
//   own_program curve runs/successor --methods first,greedy
#include "headlab/app/cli/command.h"
#include "headlab/core/tasks/definition.h"

using headlab::Index;

/// A task: predict the token that followed the last occurrence of the current token.
struct Successor {
  Index length = 16, vocab = 6;

  void bind(headlab::Settings& s) {
    s.integer("length", length, 2, 1000, "tokens in a sequence");
    s.integer("vocab", vocab, 2, 1000, "number of tokens");
  }
  headlab::TaskShape shape() const { return {.vocab = vocab, .length = length}; }
  std::vector<headlab::Relation> relations() const {
    return {{.name = "follower", .description = "what followed this token the last time"}};
  }
  std::vector<std::string> target_names() const { return {"follower"}; }

  void write(headlab::Sequence& s) const {
    headlab::fill_uniform(s.tokens(), vocab, s.random);
    for (Index t = 1; t < length; ++t)
      for (Index key = t - 1; key >= 1; --key)
        if (s.token(key - 1) == s.token(t)) {
          s.target(t) = s.token(key);
          s.add_truth(0, t, key);
          break;
        }
  }
};

/// A pruning method: the heads of the first attention layers stay.
std::vector<double> first(const headlab::PruneProblem& problem, headlab::PassCount&) {
  std::vector<double> scores;
  for (const headlab::HeadId& head : headlab::all_heads(problem.model))
    scores.push_back(-static_cast<double>(head.attention_layer));
  return scores;
}

int main(int count, char** values) {
  std::vector<std::string> words(values + 1, values + count);
  if (words.empty()) words = {"explain", "successor"};
  return headlab::cli::run_program(
      words,
      {.tasks = {headlab::task_entry(Successor{}, {.name = "successor",
                                                   .summary = "what followed this token last time",
                                                   .recommended = "layers=2 heads=2 steps=600"})},
       .scores = {{.name = "gain",
                   .meaning = "attention mass above the baseline",
                   .from = {.relation =
                                [](const headlab::RelationScore& s) {
                                  return s.mass - s.baseline;
                                }}}},
       .methods = {
           {.name = "first",
            .kind = headlab::MethodKind::score,
            .summary = "keeps the heads of the first attention layers; needs no forward pass",
            .source = "",
            .scores = first}}});
}
// prints:
// successor: what followed this token last time (a task)
