// A program that links headlab::core alone: it trains a few steps and evaluates. The exit status
// says whether the loss fell and whether the tasks of the laboratory are absent.
// Read next: headlab/core.h.
#include <headlab/core.h>

#include <cstdio>
#include <string_view>

int main() {
  const auto task = headlab::make_task("relations:length=6");
  headlab::TransformerConfig config;
  config.shape() = task->shape();
  headlab::Transformer model(config);
  headlab::initialize(model, headlab::Key{0});
  const double before = headlab::evaluate(model, *task).loss;
  headlab::TrainConfig training;
  training.steps = 20;
  headlab::Trainer(model, *task, training).run();
  const double after = headlab::evaluate(model, *task).loss;
  bool lab = false;
  for (const headlab::TaskEntry& entry : headlab::task_table()) {
    lab = lab || std::string_view(entry.name) == "copy";
  }
  std::printf("loss %.3f -> %.3f\n", before, after);
  return after < before && !lab ? 0 : 1;
}
