// Passes over the examples of a run. No conclusions are drawn here: claims about heads come from
// the files of the run. For weights over training, the error of storing them in 16 bits is
// measured.
// Read next: src/app/report/page_run.cc.
#include "lab/studies/run_study.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/stored_tensor.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/causes/ablation.h"
#include "headlab/lab/heads/scores/activations.h"
#include "lab/results/half.h"
#include "lab/runs/snapshots.h"

namespace headlab {
namespace {

constexpr Index kChecked = 2;            // examples on which the page checks its model
constexpr Index kThumbnail = 64;         // rows and columns of a mean pattern, at most
constexpr double kCheckedNumbers = 1e5;  // that it holds for this; of long inputs not every row
constexpr double kSlowOperations = 5e8;  // from which on one example is checked, not two
constexpr double kPatternCells = 3e8;    // that mean patterns are taken over
constexpr double kOperations = 1e11;     // that the losses of one set of examples may take

using Maps = std::vector<AttentionMaps>;

/// Returns the number of cells of all patterns of one example.
double cells_of(const Maps& attention_layers) {
  double cells = 1;
  for (const AttentionMaps& attention_layer : attention_layers) {
    cells +=
        static_cast<double>(attention_layer.heads * attention_layer.queries * attention_layer.keys);
  }
  return cells;
}

/// Returns the attention layers with empty mean patterns of at most `cells` x `cells` cells.
Maps empty_attention_layers(const HeadedModel& model, const Batch& examples,
                            Index cells = kThumbnail) {
  Maps attention_layers;
  for (const AttentionLayer& place : model.attention_layers()) {
    AttentionMaps& attention_layer = attention_layers.emplace_back();
    attention_layer.kind = place.kind;
    attention_layer.heads = place.attention->head_count();
    attention_layer.d_value = place.attention->d_value;
    attention_layer.queries = examples.queries(place.kind);
    attention_layer.keys = examples.keys(place.kind);
    const Index longest = std::max({attention_layer.queries, attention_layer.keys, Index{1}});
    attention_layer.by = (longest + cells - 1) / cells;
    attention_layer.rows = (attention_layer.queries + attention_layer.by - 1) / attention_layer.by;
    attention_layer.columns = (attention_layer.keys + attention_layer.by - 1) / attention_layer.by;
    attention_layer.mean_pattern.resize(attention_layer.heads * attention_layer.rows *
                                        attention_layer.columns);
    if (examples.size < 2) continue;  // nothing can be resampled
    for (const std::size_t donor : ablation_donors(examples, place.kind, 0)) {
      attention_layer.donors.push_back(static_cast<std::int32_t>(donor));
    }
  }
  return attention_layers;
}

/// Returns the mean loss of each example over its targets; NaN for an example without any.
std::vector<float> losses_of(const Run& run, const Batch& examples) {
  std::vector<double> sums(examples.size);
  for_parts(examples, 64, [&](const Batch& part, Index first) {
    add_losses(Activations(run.model, part, false).logits(), part, first, 1, sums);
  });
  const std::vector<double> targets = targets_by_example(examples);
  std::vector<float> means;
  for (std::size_t b = 0; b < sums.size(); ++b) {
    means.push_back(static_cast<float>(targets[b] > 0 ? sums[b] / targets[b] : NAN));
  }
  return means;
}

/// Adds the mean outputs of the heads if there is only one example: an Ablation needs two.
void add_means_of_one(const Transformer& model, const Batch& example, Maps& attention_layers) {
  const Activations activations(model, example, false, false);
  for (std::size_t m = 0; m < attention_layers.size(); ++m) {
    const Tensor& z = activations.cache().attention[m].z;
    if (!z.defined()) continue;
    const Index rows = example.queries_of(attention_layers[m].kind, 0), width = z.size(2);
    std::vector<float>& mean = attention_layers[m].mean_output;
    mean.assign(width, 0);
    for (Index at = 0; at < rows * width; ++at) {
      mean[at % width] += static_cast<float>(z.data()[at]) / static_cast<float>(rows);
    }
  }
}

void study_held_out(const Run& run, const Batch& examples, RunStudy& study) {
  study.held_out_losses = losses_of(run, examples);
  if (examples.size == 1) add_means_of_one(run.model, examples, study.attention_layers);
  if (examples.size >= 2) {
    const Ablation means(run.model, examples, {.kind = AblationKind::mean});
    for (std::size_t m = 0; m < study.attention_layers.size(); ++m) {
      if (const Tensor& z = means.replacement(m); z.defined()) {
        study.attention_layers[m].mean_output.assign(z.values().begin(), z.values().end());
      }
    }
  }
  study.evaluation = evaluate(run.model, *run.task, {.examples = examples.size});
}

/// Adds the pattern of a head on one sequence, [Q, S], to its mean pattern.
void add_pooled(AttentionMaps& attention_layer, Index head, Index queries,
                std::span<const Scalar> pattern) {
  std::vector<float> squares(attention_layer.rows * attention_layer.columns);
  for (Index t = 0; t < queries; ++t) {
    for (Index s = 0; s < attention_layer.keys; ++s) {
      float& square =
          squares[t / attention_layer.by * attention_layer.columns + s / attention_layer.by];
      square = std::max(square, static_cast<float>(pattern[t * attention_layer.keys + s]));
    }
  }
  float* mean = attention_layer.mean_pattern.data() + head * std::ssize(squares);
  std::transform(squares.begin(), squares.end(), mean, mean, std::plus<>());
}

/// Adds the patterns of a part; `seen` counts the examples that have each row of squares.
void add_patterns(const ActivationCache& activations, const Batch& part, Maps& attention_layers,
                  std::vector<std::vector<Index>>& seen) {
  for (std::size_t m = 0; m < attention_layers.size(); ++m) {
    AttentionMaps& attention_layer = attention_layers[m];
    seen[m].resize(attention_layer.rows);
    for (Index b = 0; b < part.size; ++b) {
      const Index queries = part.queries_of(attention_layer.kind, b);
      for (Index row = 0; row * attention_layer.by < queries; ++row) ++seen[m][row];
      for (Index h = 0; h < attention_layer.heads; ++h) {
        add_pooled(attention_layer, h, queries, activations.attention[m].pattern_of(h, b));
      }
    }
  }
}

void add_mean_patterns(const HeadedModel& model, const Batch& examples, Maps& attention_layers) {
  const double cells = cells_of(attention_layers);
  const auto most = static_cast<Index>(std::clamp(kPatternCells / cells, 1.0, 512.0));
  const auto at_once = static_cast<Index>(std::clamp(kPatternCells / 8 / cells, 1.0, 64.0));
  std::vector<std::vector<Index>> seen(attention_layers.size());
  for_parts(examples.rows(0, std::min(most, examples.size)), at_once,
            [&](const Batch& part, Index) {
              add_patterns(Activations(model, part).cache(), part, attention_layers, seen);
            });
  for (std::size_t m = 0; m < attention_layers.size(); ++m) {
    AttentionMaps& attention_layer = attention_layers[m];
    for (std::size_t i = 0; i < attention_layer.mean_pattern.size(); ++i) {
      const Index times = seen[m][i / attention_layer.columns % attention_layer.rows];
      attention_layer.mean_pattern[i] /= static_cast<float>(std::max<Index>(1, times));
    }
  }
}

/// Adds the rows every - 1, 2 every - 1 ... of a matrix with rows of this width.
void append_rows(std::span<const Scalar> matrix, Index width, Index every, std::vector<float>& to) {
  for (std::size_t at = (every - 1) * width; at < matrix.size(); at += every * width) {
    to.insert(to.end(), matrix.begin() + at, matrix.begin() + at + width);
  }
}

void study_check(const Run& run, const Batch& examples, RunStudy& study) {
  const TransformerConfig& c = run.model.config();
  const auto logits = static_cast<double>(c.length * c.targets * c.outputs());
  const bool slow = run.model.config().operations() > kSlowOperations;
  study.checked = std::min(slow ? 1 : kChecked, examples.size);
  Index shortest = c.length;
  for (const AttentionMaps& attention_layer : study.attention_layers) {
    shortest = std::min(shortest, attention_layer.queries);
  }
  while (static_cast<double>(study.checked) * (cells_of(study.attention_layers) + logits) >
             kCheckedNumbers * static_cast<double>(study.check_every) &&
         2 * study.check_every <= shortest) {
    study.check_every *= 2;
  }
  const Index every = study.check_every;
  for (Index b = 0; b < study.checked; ++b) {
    const Activations activations(run.model, examples.rows(b, b + 1));
    append_rows(activations.logits().values(), c.targets * c.outputs(), every, study.logits);
    for (std::size_t m = 0; m < study.attention_layers.size(); ++m) {
      for (Index h = 0; h < study.attention_layers[m].heads; ++h) {
        append_rows(activations.cache().attention[m].pattern_of(h), study.attention_layers[m].keys,
                    every, study.attention_layers[m].check);
      }
    }
  }
}

Transformer in_half(const Transformer& model) {
  Transformer rounded = model.clone();
  rounded.visit([](const std::string&, const Tensor& parameter) {
    for (Index i = 0; i < parameter.count(); ++i) {
      parameter.data()[i] = float_of_half(half_of(parameter.data()[i]));
    }
  });
  return rounded;
}

std::vector<RunStudy::Snapshot> snapshots_of(const Run& run, const Batch& scored) {
  const Index examples = scored.size;
  std::vector<RunStudy::Snapshot> studied;
  const Snapshots kept = read_snapshots(run);
  for (std::size_t i = 0; i < kept.steps.size(); ++i) {
    const Transformer model = kept.model(run, i);
    RunStudy::Snapshot& snapshot = studied.emplace_back();
    snapshot.step = kept.steps[i];
    model.visit([&](const std::string&, const Tensor& parameter) {
      const auto values = parameter.values();
      snapshot.weights.insert(snapshot.weights.end(), values.begin(), values.end());
    });
    snapshot.loss = evaluate(model, *run.task, {.examples = examples}).loss;
    snapshot.half_loss = evaluate(in_half(model), *run.task, {.examples = examples}).loss;
    add_mean_patterns(model, scored,
                      snapshot.attention_layers = empty_attention_layers(model, scored));
  }
  return studied;
}

/// Returns the number of examples of each set on which a run of this size can be evaluated.
Index examples_for(const Transformer& model) {
  return static_cast<Index>(std::clamp(kOperations / model.config().operations(), 32.0,
                                       static_cast<double>(kStudiedExamples)));
}

}  // namespace

RunStudy study_run(const Run& run) {
  RunStudy study;
  study.examples = at_most_different(*run.task, examples_for(run.model));
  const Batch held_out = held_out_examples(*run.task, study.examples).batch;
  const Batch scored = run.task->make_batch(streams::scored(), study.examples, Split::validation);
  study.attention_layers = empty_attention_layers(run.model, held_out);
  study_held_out(run, held_out, study);
  add_mean_patterns(run.model, scored, study.attention_layers);
  study_check(run, scored, study);
  study.snapshot_examples = std::min(scored.size, std::max<Index>(8, study.examples / 8));
  study.snapshots = snapshots_of(run, scored.rows(0, study.snapshot_examples));
  study.scored_losses = losses_of(run, scored);
  return study;
}

std::vector<AttentionMaps> mean_patterns(const Run& run, Index examples, Index cells) {
  const Index different = at_most_different(*run.task, examples);
  const Batch batch = run.task->make_batch(streams::scored(), different, Split::validation);
  Maps attention_layers = empty_attention_layers(run.model, batch, cells);
  add_mean_patterns(run.model, batch, attention_layers);
  return attention_layers;
}

RunStudy study_patterns(const HeadedModel& model, const Batch& examples) {
  RunStudy study;
  study.examples = examples.size;
  study.attention_layers = empty_attention_layers(model, examples);
  add_mean_patterns(model, examples, study.attention_layers);
  return study;
}

std::vector<std::vector<Scalar>> patterns_on(const HeadedModel& model, const Batch& examples) {
  std::vector<std::vector<Scalar>> all(model.attention_layers().size());
  for (Index b = 0; b < examples.size; ++b) {
    const Activations activations(model, examples.rows(b, b + 1));
    for (std::size_t m = 0; m < all.size(); ++m) {
      const Tensor& pattern = activations.cache().attention[m].pattern;
      if (pattern.defined()) {
        all[m].insert(all[m].end(), pattern.values().begin(), pattern.values().end());
      }
    }
  }
  return all;
}

std::vector<std::vector<Scalar>> scored_patterns(const Run& run, Index examples) {
  return patterns_on(run.model,
                     run.task->make_batch(streams::scored(), examples, Split::validation));
}

}  // namespace headlab
