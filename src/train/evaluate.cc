// Evaluation: sums of losses and right answers over held-out examples, for each target apart. The
// examples depend on no seed of a run, so two runs of a task are compared on the same ones. Read
// next: trainer.cc.
#include "headlab/train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/kernels/rows.h"
#include "headlab/tensor/tape.h"

namespace headlab {
namespace {

/// Sums of losses and right answers, for each of the K targets.
class Tally {
 public:
  explicit Tally(const std::vector<std::string>& names) {
    for (const std::string& name : names) scores_.push_back({name});
  }

  void add(const Tensor& logits, const Batch& batch, Index vocab) {
    const Tensor losses = target_losses(logits, batch);
    for (Index row = 0; row < losses.count(); ++row) {
      const std::int32_t target = batch.targets[row];
      if (target < 0) continue;
      const Scalar* x = logits.data() + row * vocab;
      TargetScore& score = scores_[row % batch.targets_per_position];
      score.loss += static_cast<double>(losses.data()[row]);
      score.accuracy += std::max_element(x, x + vocab) - x == target;
      ++score.count;
    }
  }

  Evaluation result() const {
    Evaluation all;
    for (TargetScore score : scores_) {
      all.loss += score.loss, all.accuracy += score.accuracy, all.count += score.count;
      const auto n = static_cast<double>(std::max<Index>(1, score.count));
      score.loss /= n, score.accuracy /= n;
      all.targets.push_back(score);
    }
    require(all.count > 0, "the held-out examples have no target at all");
    all.loss /= static_cast<double>(all.count);
    all.accuracy /= static_cast<double>(all.count);
    return all;
  }

 private:
  std::vector<TargetScore> scores_;
};

}  // namespace

Tensor target_losses(const Tensor& logits, const Batch& batch) {
  const auto rows = static_cast<Index>(batch.targets.size());
  const Tensor log_sum_exp = Tensor::empty({rows});
  Tensor losses = Tensor::empty({batch.size, batch.length, batch.targets_per_position});
  require(losses.count() == rows && rows > 0, "a batch without targets has no losses");
  cross_entropy_forward({rows, logits.count() / rows, logits.data(), batch.targets.data(),
                         losses.data(), log_sum_exp.data()});
  return losses;
}

void Evaluation::write_to(Json& object) const {
  object["loss"] = loss;
  object["accuracy"] = accuracy;
  Json list = Json::array();
  for (const TargetScore& target : targets) {
    Json entry = Json::object();
    entry["name"] = target.name;
    entry["loss"] = target.loss;
    entry["accuracy"] = target.accuracy;
    list.push_back(std::move(entry));
  }
  object["targets"] = std::move(list);
}

Evaluation evaluate(const Transformer& model, const Task& task, const EvaluateOptions& options) {
  require(options.examples >= 1 && options.batch >= 1, "an evaluation of ", options.examples,
          " examples, ", options.batch, " at a time, cannot be made");
  const NoGrad no_grad;
  Tally tally(task.target_names());
  const ModelHooks hooks{.edits = options.edits};
  const Key key = options.key.fold("evaluate");
  const Batch all = task.make_batch(key, options.examples, Split::validation);
  for (Index begin = 0; begin < all.size; begin += options.batch) {
    const Batch batch = all.rows(begin, std::min(all.size, begin + options.batch));
    tally.add(model.forward(batch, {}, hooks), batch, model.config().vocab);
  }
  return tally.result();
}

}  // namespace headlab
