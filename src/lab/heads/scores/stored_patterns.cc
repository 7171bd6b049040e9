// Stored patterns as a model and a task, so that everything that reads patterns of a run reads
// these too. The model's layers have heads and no weights; a pass copies patterns to the activation
// cache. The input of a position is the number of its example, by which a pass finds them, in place
// of a token; tokens are labels. Read next: scores.cc.
#include "headlab/lab/heads/scores/stored_patterns.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "headlab/core/base/text.h"
#include "lab/heads/scores/stored_input.h"

namespace headlab {

class StoredTask final : public Task {
 public:
  /// Each example comes `times` times in a row.
  StoredTask(const StoredInput& input, Index times) : input_(input), times_(times) {}

  std::string spec() const override { return "patterns"; }
  TaskShape shape() const override {
    TaskShape shape = shape_of(input_.header);
    shape.length = input_.queries;
    shape.source_length = input_.is_cross() ? input_.keys : 0;
    return shape;
  }
  std::vector<Relation> relations() const override { return input_.header.relations; }
  std::vector<std::string> target_names() const override { return {}; }
  Index needed_heads() const override { return input_.header.needed_heads; }
  Index different(Split) const override { return input_.examples * times_; }
  std::string token_text(std::int32_t token) const override {
    return input_.header.vocabulary[static_cast<std::size_t>(token)];
  }

  Example make(Key key, Index count, Split split) const override {
    const TaskShape form = shape();
    Example example{Batch::make(count, form.length, std::max<Index>(1, form.targets),
                                form.source_length, 1),
                    std::vector<GroundTruth>(input_.header.relations.size())};
    for (Index b = 0; b < count; ++b) {
      const Index i = b / times_ % input_.examples;
      example.batch.vector(b, 0)[0] = static_cast<Scalar>(i);
      Sequence sequence{example, b, split, Generator(key), i, true};
      input_.sequences.write(i, sequence);
    }
    return example;
  }

 private:
  const StoredInput& input_;
  Index times_;
};

class StoredModel final : public HeadedModel {
 public:
  explicit StoredModel(const StoredInput& input)
      : input_(input), shape_(StoredTask(input, 1).shape()), layers_(input.layers) {
    shape_.features = 1;
    for (MultiHeadAttention& layer : layers_) {
      layer.heads.resize(input.heads);
      std::iota(layer.heads.begin(), layer.heads.end(), 0);
      layer.function = input.normalises ? AttentionFunction::softmax : AttentionFunction::sigmoid;
    }
  }

  const TaskShape& shape() const override { return shape_; }
  void visit(const ParameterVisitor&) const override {}
  std::vector<AttentionLayer> attention_layers() const override {
    std::vector<AttentionLayer> attention_layers(layers_.size());
    for (std::size_t m = 0; m < attention_layers.size(); ++m) {
      attention_layers[m].sublayer.block = static_cast<Index>(m);
      attention_layers[m].name = text("blocks.", m, input_.is_cross() ? ".cross_attn" : ".attn");
      attention_layers[m].kind = input_.kind();
      attention_layers[m].layer = static_cast<Index>(m);
      attention_layers[m].queries = input_.queries;
      attention_layers[m].keys = input_.keys;
      attention_layers[m].causal = input_.header.architecture == Architecture::decoder;
      attention_layers[m].attention = &layers_[m];
    }
    return attention_layers;
  }

 private:
  /// Returns the patterns of a layer on the examples of a batch, [B, H, T, S].
  Tensor patterns_of(const Batch& batch, Index layer) const {
    const Tensor patterns = Tensor::empty({batch.size, input_.heads, input_.queries, input_.keys});
    Scalar* to = patterns.data();
    for (Index b = 0; b < batch.size; ++b) {
      const auto example = static_cast<Index>(batch.vectors[b * batch.length * batch.features]);
      for (Index h = 0; h < input_.heads; ++h) {
        to = std::ranges::copy(input_.pattern(example, layer, h), to).out;
      }
    }
    return patterns;
  }

  Tensor compute(const Batch& batch, const ForwardContext&,
                 const ModelHooks& hooks) const override {
    hooks.begin(layers_.size());
    require(hooks.interventions.empty() && hooks.z.empty() && hooks.residual.empty(),
            "cannot change stored patterns: there is no model that computes them");
    require(batch.features == 1,
            "cannot use stored patterns: they belong to the examples of their own task");
    if (hooks.activations == nullptr || !hooks.activations->wants_patterns) return {};
    for (std::size_t m = 0; m < layers_.size(); ++m) {
      AttentionActivations& activations = hooks.activations->attention[m];
      activations.heads = layers_[m].heads;
      activations.pattern = patterns_of(batch, static_cast<Index>(m));
    }
    return {};
  }

  const StoredInput& input_;
  TaskShape shape_;
  std::vector<MultiHeadAttention> layers_;
};

struct StoredPatterns::Parts {
  explicit Parts(StoredInput read) : input(std::move(read)) {}

  StoredInput input;
  Index times = input.examples < kFewestExamples ? 2 : 1;  // an example for each split
  StoredTask task{input, 1};
  StoredTask scored{input, times};
  StoredModel model{input};
};

StoredPatterns::StoredPatterns(const StoredPatternFiles& files)
    : parts_(std::make_unique<Parts>(read_stored_input(files))) {}
StoredPatterns::StoredPatterns(StoredPatterns&&) noexcept = default;
StoredPatterns::~StoredPatterns() = default;

Index StoredPatterns::examples() const { return parts_->input.examples; }
bool StoredPatterns::is_causal() const {
  return parts_->input.header.architecture == Architecture::decoder;
}
const HeadedModel& StoredPatterns::model() const { return parts_->model; }
const Task& StoredPatterns::task() const { return parts_->task; }

HeadsReport score_heads(const StoredPatterns& patterns, const HeadsOptions& options) {
  const StoredPatterns::Parts& parts = *patterns.parts_;
  HeadsOptions own = options;
  own.untrained = nullptr;
  own.rises = false;
  own.patterns_only = true;
  own.examples = std::min(options.examples, parts.input.examples) * parts.times;
  HeadsReport report = score_heads(parts.model, parts.scored, own);
  report.examples /= parts.times;
  report.different /= parts.times;
  return report;
}

std::string examples_text(const StoredPatterns& patterns, const HeadsReport& report) {
  const Index n = report.examples;
  std::string said = text(n, n == 1 ? " example" : " examples", " of ", patterns.examples());
  if (patterns.task().shape().has_source()) {
    said += "; cross-attention";
  } else {
    said += patterns.is_causal() ? "; causal: no query attends to a later key"
                                 : "; not causal: queries attend to later keys";
  }
  if (patterns.examples() < kFewestExamples) {
    said += text(
        "\nheads are chosen and scored on the same examples: there is no p, and no head "
        "is an owner");
  }
  const bool has_owner = std::ranges::any_of(report.relations, &RelationWinner::owned);
  if (has_owner) {
    said += "\nno losses are stored, so it is not known whether the model beats guessing";
  }
  if (n < 2 * kFewestExamples) {
    said += text("\np and owners need ", 2 * kFewestExamples,
                 " examples: half to choose heads, "
                 "half to score them");
  }
  return said;
}

}  // namespace headlab
