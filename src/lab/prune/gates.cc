// Methods that train gates. A copy of the model continues its training with a gate on every head.
// l0 penalises open gates and at the end folds their values into W_O, so the result is a plain
// model. subset lets all heads share a budget of open gates, which are near 0 or 1 at the end. The
// weights adapt at the same time. The number of heads that l0 leaves open is a function of its
// penalty; the budget of subset is exact. Read next: prune.cc, which applies a choice.
#include "headlab/lab/prune/methods.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/ops/ops.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/prune/prune.h"
#include "lab/prune/subsets.h"

namespace headlab {
namespace {

constexpr double kGateRate = 0.05;    // peak learning rate of the gates
constexpr Scalar kFirstLogAlpha = 2;  // nearly all gates open: P(gate > 0) = .94

Tensor logistic(const Tensor& x) {
  return affine(tanh(affine(x, Scalar(0.5), 0)), Scalar(0.5), Scalar(0.5));
}

/// Gates for a copy of the model, which trains with its own random numbers: one logit for each
/// head, trained with the weights. The weights train as in fine-tuning.
struct GateTraining {
  explicit GateTraining(const PruneProblem& problem)
      : config(finetuning(problem.train, problem.settings.gate_steps)),
        model(std::make_shared<Transformer>(transformer_of(problem.model, "train gates").clone())),
        trainer(*model, problem.task, with_seed(config, problem)) {
    const double scale = kGateRate / std::max(config.lr, 1e-12);
    for (const auto& heads : model->head_numbers()) {
      logits.push_back(parameter({std::ssize(heads)}, kFirstLogAlpha));
      trainer.optimizer().add(text("gates.", logits.size() - 1), logits.back(),
                              {.lr_scale = scale, .decay = false});
    }
  }

  void run(const TrainCallbacks& callbacks, PassCount& cost) {
    trainer.run(callbacks);
    cost.forward += config.steps * config.batch;
    cost.backward += config.steps * config.batch;
  }
  Key noise(Index step) const { return streams::seeded(config.seed).fold("gates").fold(step); }
  std::vector<double> all_logits() const {
    std::vector<double> all;
    for (const Tensor& attention_layer : logits) {
      all.insert(all.end(), attention_layer.values().begin(), attention_layer.values().end());
    }
    return all;
  }

  TrainConfig config;
  std::shared_ptr<Transformer> model;
  Trainer trainer;
  std::vector<Tensor> logits{};  // [H] for each attention layer

 private:
  static TrainConfig& with_seed(TrainConfig& config, const PruneProblem& problem) {
    config.seed += problem.settings.seed;
    return config;
  }
};

/// Multiplies each head's rows of W_O by its gate: the same function without the gate.
void fold_gates(Transformer& model, const std::vector<double>& gates) {
  std::size_t head = 0;
  for (const AttentionLayer& attention_layer : model.attention_layers()) {
    const Index elements =
        attention_layer.attention->d_value * attention_layer.attention->O.W.size(1);
    for (Index h = 0; h < attention_layer.attention->head_count(); ++h, ++head) {
      Scalar* rows = attention_layer.attention->O.W.data() + h * elements;
      for (Index i = 0; i < elements; ++i) rows[i] *= static_cast<Scalar>(gates[head]);
    }
  }
}

/// Returns a tensor like x whose elements are draws noise(random).
template <class Noise>
Tensor noise_like(const Tensor& x, Key key, const Noise& noise) {
  Generator random(key);
  Tensor y = Tensor::zeros(x.shape());
  for (Scalar& value : y.values()) value = static_cast<Scalar>(noise(random));
  return y;
}

/// Returns gates of all attention layers that sum to `k`: a soft top-k of the logits with Gumbel
/// noise, which samples heads without replacement in proportion to exp(logit).
std::vector<HeadInterventions> subset_gates(const GateTraining& training, Index step, Index k) {
  const double t = subset_temperature(step, training.config.steps);
  const Tensor all = concat(std::span(training.logits), 0);
  const Tensor gumbel = noise_like(all, training.noise(step), [](Generator& random) {
    return -std::log(-std::log(random.uniform(1e-9, 1)));
  });
  const Tensor gates = soft_top_k(all + gumbel, k, static_cast<Scalar>(t));
  std::vector<HeadInterventions> interventions;
  Index first = 0;
  for (const Tensor& attention_layer : training.logits) {
    interventions.push_back({.gate = slice(gates, 0, first, first + attention_layer.count())});
    first += attention_layer.count();
  }
  return interventions;
}

std::vector<Choice> train_subsets(const PruneProblem& problem, std::span<const Index> sizes,
                                  PassCount& cost) {
  std::vector<Choice> choices;
  for (const Index k : sizes) {
    GateTraining training(problem);
    training.run({.interventions = [&](Index step) { return subset_gates(training, step, k); }},
                 cost);
    Choice choice = keep_highest(problem, training.all_logits(), std::span(&k, 1))[0];
    choices.push_back({choice.kept, training.model, problem.settings.gate_steps});
  }
  return choices;
}

std::vector<Choice> train_penalised(const PruneProblem& problem, std::span<const Index> sizes,
                                    PassCount& cost) {
  const TrainedGates trained = train_gates(problem, &cost);
  std::vector<Choice> choices = keep_highest(problem, trained.log_alpha, sizes);
  for (Choice& choice : choices) {
    choice = {choice.kept, trained.model, problem.settings.gate_steps, trained.gates};
  }
  return choices;
}

constexpr PruneMethod kGateMethods[] = {
    {"l0", MethodKind::training,
     "hard concrete gates, penalty lambda times the expected number of open ones, trained along "
     "with the weights; gate_steps of training",
     "Voita et al. 2019, section 6; Louizos et al. 2018", nullptr, train_penalised},
    {"subset", MethodKind::training,
     "a gate by Gumbel soft top-k with exactly the budget open, trained along with the weights; "
     "gate_steps of training for each size",
     "Li et al. 2021", nullptr, train_subsets},
};

}  // namespace

std::span<const PruneMethod> gate_methods() { return kGateMethods; }

double subset_temperature(Index step, Index steps) {
  constexpr double kWarmest = 1, kColdest = 0.05;
  const double share =
      static_cast<double>(step) / static_cast<double>(std::max<Index>(1, steps - 1));
  return kWarmest * std::pow(kColdest / kWarmest, share);
}

Tensor HardConcrete::sample(const Tensor& log_alpha, Key key) {
  const Tensor noise = noise_like(log_alpha, key, [](Generator& random) {
    const double u = random.uniform(1e-9, 1 - 1e-9);
    return std::log(u) - std::log1p(-u);
  });
  const Tensor s = logistic((log_alpha + noise) / Scalar(kTemperature));
  const Tensor stretched = affine(s, Scalar(kHigh - kLow), Scalar(kLow));
  return relu(stretched) - relu(stretched - Scalar(1));
}

Tensor HardConcrete::open_probability(const Tensor& log_alpha) {
  return logistic(log_alpha - static_cast<Scalar>(kTemperature * std::log(-kLow / kHigh)));
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
  const auto attention_layers = static_cast<Scalar>(training.logits.size());
  const auto gates = [&](Index step) {
    std::vector<HeadInterventions> interventions;
    for (std::size_t i = 0; i < training.logits.size(); ++i) {
      const Key key = training.noise(step).fold(i);
      interventions.push_back({.gate = HardConcrete::sample(training.logits[i], key)});
    }
    return interventions;
  };
  const auto penalty = [&](Index) {
    Tensor open = Tensor::zeros({});
    for (const Tensor& attention_layer : training.logits) {
      open = open + sum(HardConcrete::open_probability(attention_layer));
    }
    return open * (static_cast<Scalar>(problem.settings.penalty) / attention_layers);
  };
  PassCount unused;
  training.run({.interventions = gates, .loss_terms = penalty}, cost != nullptr ? *cost : unused);
  TrainedGates trained{training.all_logits(), {}, training.model};
  for (const double x : trained.log_alpha) trained.gates.push_back(HardConcrete::final_gate(x));
  fold_gates(*trained.model, trained.gates);
  return trained;
}

}  // namespace headlab
