// Gates that are trained. A copy of the model goes on training with a gate on every head; the gates
// are pushed shut (l0) or share a budget (subset), the weights adapt beside them, and at the end
// the gates are folded into W_O, so that what comes out is a plain model. The number of heads that
// l0 leaves open is a function of its penalty; the budget of `subset` is exact. Read next:
// schedule.cc, which prunes while a model trains from the start.
#include <algorithm>
#include <cmath>

#include "headlab/base/error.h"
#include "headlab/ops/ops.h"
#include "headlab/train/trainer.h"
#include "prune/judge.h"

namespace headlab {
namespace {

constexpr double kGateRate = 0.05;    // learning rate of gates, when that of the weights peaks
constexpr Scalar kFirstLogAlpha = 2;  // nearly all gates open: P = .98
constexpr double kWarmest = 1, kColdest = 0.05;  // temperature of the soft top-k, first and last

Tensor sigmoid(const Tensor& x) {
  return affine(tanh(affine(x, Scalar(0.5), 0)), Scalar(0.5), Scalar(0.5));
}

/// How the weights go on: as in fine-tuning, at a third of the rate that they were trained with.
TrainConfig gate_training(const PruneProblem& problem) {
  TrainConfig config = problem.train;
  config.steps = problem.gate_steps;
  config.warmup = std::min(config.warmup, config.steps / 10);
  config.lr *= 0.3;
  config.min_lr = std::min(config.min_lr, config.lr);
  config.seed += problem.seed;
  return config;
}

/// Gates for a copy of the model: one logit for each head, trained with the weights.
class GateTraining {
 public:
  explicit GateTraining(const PruneProblem& problem)
      : config_(gate_training(problem)),
        key_(Key{static_cast<std::uint64_t>(config_.seed)}.fold("gates")),
        model_(std::make_shared<Transformer>(problem.model.clone())),
        trainer_(*model_, problem.task, config_) {
    for (const auto& heads : model_->head_numbers())
      logits_.push_back(parameter({static_cast<Index>(heads.size())}, kFirstLogAlpha));
    const double scale = kGateRate / std::max(config_.lr, 1e-12);
    for (std::size_t i = 0; i < logits_.size(); ++i)
      trainer_.optimizer().add(text("gates.", i), logits_[i], {.lr_scale = scale, .decay = false});
  }

  void run(const TrainCallbacks& callbacks, PassCount& cost) {
    trainer_.run(callbacks);
    cost.forward += config_.steps * config_.batch;
    cost.backward += config_.steps * config_.batch;
  }

  const TrainConfig& config() const { return config_; }
  Key key(Index step) const { return key_.fold(step); }
  const std::vector<Tensor>& logits() const { return logits_; }
  std::vector<double> all_logits() const {
    std::vector<double> all;
    for (const Tensor& module : logits_)
      for (const Scalar logit : module.values()) all.push_back(static_cast<double>(logit));
    return all;
  }
  const std::shared_ptr<Transformer>& model() const { return model_; }

 private:
  TrainConfig config_;
  Key key_;
  std::shared_ptr<Transformer> model_;
  Trainer trainer_;
  std::vector<Tensor> logits_;
};

/// Multiplies each head's rows of W_O by its gate: the same function without the gate.
void fold_gates(Transformer& model, const std::vector<double>& gates) {
  std::size_t head = 0;
  for (const AttentionModule& module : model.attention_modules()) {
    const Index elements = module.attention->d_value * module.attention->O.W.size(1);
    for (Index h = 0; h < module.attention->head_count(); ++h, ++head) {
      Scalar* rows = module.attention->O.W.data() + h * elements;
      for (Index i = 0; i < elements; ++i) rows[i] *= static_cast<Scalar>(gates[head]);
    }
  }
}

/// Trains gates of which `k` are open together.
Choice train_subset(const PruneProblem& problem, Index k, PassCount& cost) {
  GateTraining training(problem);
  const double steps = static_cast<double>(std::max<Index>(1, training.config().steps - 1));
  training.run({.edits =
                    [&](Index step) {
                      const double progress = static_cast<double>(step) / steps;
                      const double t = kWarmest * std::pow(kColdest / kWarmest, progress);
                      Generator random(training.key(step));
                      const Tensor all = concat(std::span(training.logits()), 0);
                      Tensor noise = Tensor::zeros(all.shape());
                      for (Index i = 0; i < noise.count(); ++i)
                        noise.data()[i] =
                            static_cast<Scalar>(-std::log(-std::log(random.uniform(1e-9, 1))));
                      const Tensor gates = soft_top_k(all + noise, k, static_cast<Scalar>(t));
                      std::vector<HeadEdits> edits;
                      Index first = 0;
                      for (const Tensor& module : training.logits()) {
                        edits.push_back({.gate = slice(gates, 0, first, first + module.count())});
                        first += module.count();
                      }
                      return edits;
                    }},
               cost);
  const Index sizes[] = {k};
  Choice choice = keep_highest(problem, training.all_logits(), sizes)[0];
  choice.trained = training.model();
  return choice;
}

}  // namespace

Tensor HardConcrete::sample(const Tensor& log_alpha, Key key) {
  Generator random(key);
  Tensor noise = Tensor::zeros(log_alpha.shape());
  for (Index i = 0; i < noise.count(); ++i) {
    const double u = random.uniform(1e-9, 1 - 1e-9);
    noise.data()[i] = static_cast<Scalar>(std::log(u) - std::log1p(-u));
  }
  const Tensor s = sigmoid((log_alpha + noise) / Scalar(kTemperature));
  const Tensor stretched = affine(s, Scalar(kHigh - kLow), Scalar(kLow));
  return relu(stretched) - relu(stretched - Scalar(1));
}

Tensor HardConcrete::open_probability(const Tensor& log_alpha) {
  return sigmoid(log_alpha - static_cast<Scalar>(kTemperature * std::log(-kLow / kHigh)));
}

double HardConcrete::final_gate(double log_alpha) {
  return std::clamp((kHigh - kLow) / (1 + std::exp(-log_alpha)) + kLow, 0.0, 1.0);
}

Tensor soft_top_k(const Tensor& noisy_logits, Index k, Scalar temperature) {
  Tensor r = noisy_logits;
  Tensor gates = Tensor::zeros(noisy_logits.shape());
  for (Index round = 0; round < k; ++round) {
    const Tensor p = softmax(r / temperature);
    gates = gates + p;
    r = r + log(affine(p, -1, Scalar(1 + 1e-6)));
  }
  return gates;
}

TrainedGates train_gates(const PruneProblem& problem, PassCount* cost) {
  GateTraining training(problem);
  const auto modules = static_cast<Scalar>(training.logits().size());
  const auto gates = [&](Index step) {
    std::vector<HeadEdits> edits;
    for (std::size_t i = 0; i < training.logits().size(); ++i) {
      const Key key = training.key(step).fold(i);
      edits.push_back({.gate = HardConcrete::sample(training.logits()[i], key)});
    }
    return edits;
  };
  const auto penalty = [&](Index) {
    Tensor open = Tensor::zeros({});
    for (const Tensor& module : training.logits())
      open = open + sum(HardConcrete::open_probability(module));
    return open * (static_cast<Scalar>(problem.penalty) / modules);
  };
  PassCount unused;
  training.run({.edits = gates, .loss_terms = penalty}, cost != nullptr ? *cost : unused);
  TrainedGates trained{training.all_logits(), {}, training.model()};
  for (const double x : trained.log_alpha) trained.gates.push_back(HardConcrete::final_gate(x));
  fold_gates(*trained.model, trained.gates);
  return trained;
}

std::vector<Choice> l0_choices(const PruneProblem& problem, std::span<const Index> sizes,
                               PassCount& cost) {
  const TrainedGates trained = train_gates(problem, &cost);
  std::vector<Choice> choices = keep_highest(problem, trained.log_alpha, sizes);
  for (Choice& choice : choices) choice.trained = trained.model;
  return choices;
}

std::vector<Choice> subset_choices(const PruneProblem& problem, std::span<const Index> sizes,
                                   PassCount& cost) {
  std::vector<Choice> choices;
  for (const Index size : sizes) choices.push_back(train_subset(problem, size, cost));
  return choices;
}

}  // namespace headlab
