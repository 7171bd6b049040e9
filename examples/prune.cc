// Which heads can go? A model with eight heads does a task that needs four. Greedy pruning takes
// away, again and again, the head whose absence costs least; then the heads are removed for good,
// which leaves smaller matrices, and a little more training mends what was lost. `headlab prune`
// does the same with runs on disk. Read next: include/headlab/lab/prune/prune.h.
#include <cstdio>

#include "headlab/core/model/initial.h"
#include "headlab/lab/prune/prune.h"

using namespace headlab;

void show(const char* name, const Transformer& model, const Task& task) {
  const Evaluation held_out = evaluate(model, task);
  std::printf("%-16s %zu heads  %5lld parameters  loss %.4f  accuracy %.3f\n", name,
              all_heads(model).size(), static_cast<long long>(model.parameter_count()),
              held_out.loss, held_out.accuracy);
}

int main() {
  RunConfig config = recommended_config("relations");
  config.model.heads = {8};
  config.train.steps = 500;
  const std::unique_ptr<Task> task = fit_to_task(config);
  Transformer model(config.model);
  initialize(model, Key{0});
  Trainer(model, *task, config.train).run();
  show("trained", model, *task);

  const PruneProblem problem{.model = model, .task = *task};
  Transformer small = remove_heads(model, choose_heads(problem, {.keep = 4}).kept);
  show("heads removed", small, *task);

  Trainer(small, *task, finetuning(config.train, 300)).run();
  show("trained further", small, *task);
}

// prints:
// trained          8 heads  23104 parameters  loss 0.00...  accuracy 1.000
// heads removed    4 heads  14816 parameters  loss 0...  accuracy 0...
// trained further  4 heads  14816 parameters  loss 0.0...  accuracy ...
