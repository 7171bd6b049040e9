// Streams between the sublayers of a block are not recorded; they follow from what each sublayer
// wrote: x + attn(...) in pre-norm and parallel blocks, norm(x + attn(...)) in post-norm blocks.
// The stream after a whole block is the recorded one, so that the last place agrees with the model
// bit for bit. Read next: attribution.cc.
#include "headlab/lab/heads/causes/lens.h"

#include <algorithm>
#include <map>
#include <optional>

#include "headlab/core/base/error.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

/// Returns the norm after an attention sublayer of a post-norm model.
const NormLayer& norm_after(const Transformer& model, const Sublayer& sublayer) {
  const std::vector<AttentionLayer> attention_layers = model.attention_layers();
  const auto attention_layer =
      std::ranges::find(attention_layers, sublayer, &AttentionLayer::sublayer);
  require(attention_layer != attention_layers.end(), "cannot read the stream after ",
          name_of(sublayer), ": it is no attention layer");
  return *attention_layer->query_norm;
}

/// Returns what the sublayers of one block wrote, in order.
std::vector<ActivationCache::Written> written_by(const ActivationCache& activations,
                                                 const std::string& stack, Index block) {
  std::vector<ActivationCache::Written> parts;
  for (const ActivationCache::Written& part : activations.written) {
    if (part.from.stack == stack && part.from.block == block) parts.push_back(part);
  }
  return parts;
}

/// LensMeans over the targets of all examples.
class LensReading {
 public:
  LensReading(std::size_t places, Index examples)
      : losses_(places, std::vector<double>(static_cast<std::size_t>(examples))) {}

  /// Adds the targets of a part of the examples at one place.
  void add(std::size_t place, const Tensor& logits, const Batch& part, Index first) {
    add_losses(logits, part, first, 1, losses_[place]);
    const Tensor losses = target_losses(logits, part);
    const Index outputs = logits.count() / losses.count();
    const Index K = part.targets_per_position;
    for (Index row = 0; row < losses.count(); ++row) {
      const std::int32_t target = part.targets[row];
      if (target < 0) continue;
      const std::span<const Scalar> x(logits.data() + row * outputs,
                                      static_cast<std::size_t>(outputs));
      const auto larger = std::ranges::count_if(x, [&](Scalar y) { return y > x[target]; });
      const bool is_right = std::ranges::max_element(x) - x.begin() == target;
      const Index position = row / K % part.length;
      for (const Index at : {Index{-1}, position}) {
        LensMeans& means = means_[{at, place, row % K}];
        means.loss.add(static_cast<double>(losses.data()[row]));
        means.accuracy.add(is_right ? 1 : 0);
        means.rank.add(1 + static_cast<double>(larger));
      }
    }
  }

  /// Returns the means over all targets at a place.
  LensMeans means(std::size_t place) const {
    LensMeans all;
    for (const auto& [key, means] : means_) {
      if (key.position < 0 && key.place == place) all.add(means);
    }
    return all;
  }

  /// Returns the means by target, of all positions together or of each.
  std::vector<LensCell> cells(bool by_position) const {
    std::vector<LensCell> cells;
    for (const auto& [key, means] : means_) {
      if ((key.position >= 0) != by_position) continue;
      cells.push_back({key.place, key.position, key.k, means});
    }
    return cells;
  }

  const std::vector<double>& losses(std::size_t place) const { return losses_[place]; }

 private:
  struct Place {
    Index position;
    std::size_t place;
    Index k;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  std::map<Place, LensMeans> means_;
  std::vector<std::vector<double>> losses_;  // by place: of each example, summed over its targets
};

}  // namespace

void LensMeans::add(const LensMeans& other) {
  loss.add(other.loss);
  accuracy.add(other.accuracy);
  rank.add(other.rank);
}

std::vector<LensStream> lens_streams(const Transformer& model, const ActivationCache& activations) {
  const NoGrad no_grad;
  const TransformerConfig& config = model.config();
  const StreamKind kind = kind_of(config.norm_place).stream;
  const std::string stack = config.has_source() ? "decoder." : "";
  const Index before = config.has_source() ? config.encoder_layers + 1 : 0;
  const auto residual = [&](Index i) { return activations.residual[static_cast<std::size_t>(i)]; };
  std::vector<LensStream> streams = {{"embedding", residual(before)}};
  for (Index layer = 0; layer < config.layers; ++layer) {
    const Tensor after = residual(before + layer + 1);
    if (kind == StreamKind::other) {
      streams.push_back({text(stack, "blocks.", layer), after});
      continue;
    }
    Tensor x = residual(before + layer);
    const std::vector<ActivationCache::Written> parts = written_by(activations, stack, layer);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      x = x + parts[i].x;
      if (kind == StreamKind::normalised) x = norm_after(model, parts[i].from).forward(x);
      streams.push_back({name_of(parts[i].from), x});
    }
    streams.push_back({name_of(parts.back().from), after});
  }
  return streams;
}

Tensor lens_logits(const Transformer& model, const Tensor& stream) {
  const NoGrad no_grad;
  const bool has_norm = kind_of(model.config().norm_place).stream != StreamKind::normalised;
  return model.unembedding().forward(has_norm ? model.final_norm().forward(stream) : stream);
}

/// Adds the logit differences, by place and target, if lines name other answers.
static void add_against(const AgainstTargets& against,
                        const std::vector<std::vector<double>>& differences, LensReport& report) {
  if (against.empty()) return;
  for (std::size_t place = 0; place < report.places.size(); ++place) {
    report.against.add(against, differences[place], report.places[place].name);
  }
}

LensReport read_lens(const Transformer& model, const Task& task, Index examples) {
  constexpr Index kBatch = 64;
  const NoGrad no_grad;
  const Batch all = held_out_examples(task, examples).batch;
  LensReport report{.attention = attention_layer_names(model),
                    .targets = task.target_names(),
                    .examples = all.size};
  const AgainstTargets against(task, Split::validation, all);
  std::vector<std::vector<double>> differences;  // by place and target
  std::optional<LensReading> reading;
  for_parts(all, model.shape().at_once(kBatch, all.length), [&](const Batch& part, Index first) {
    ActivationCache activations;
    activations.wants_patterns = false;
    model.forward(part, {}, {.activations = &activations});
    const std::vector<LensStream> streams = lens_streams(model, activations);
    if (!reading) {
      reading.emplace(streams.size(), all.size);
      differences.resize(streams.size());
      for (const LensStream& stream : streams) report.places.push_back({stream.name});
    }
    for (std::size_t place = 0; place < streams.size(); ++place) {
      const Tensor logits = lens_logits(model, streams[place].x);
      reading->add(place, logits, part, first);
      against.add(logits, part, first, 1, differences[place]);
    }
  });
  const std::vector<double> targets = targets_by_example(all);
  for (std::size_t place = 0; place < report.places.size(); ++place) {
    report.places[place].means = reading->means(place);
    if (place == 0 || all.size < 2) continue;
    report.places[place].change =
        paired_change(reading->losses(place), reading->losses(place - 1), targets);
  }
  add_against(against, differences, report);
  report.by_target = reading->cells(false);
  report.by_position = reading->cells(true);
  return report;
}

static Column place_column() {
  return Column("place", "after", "sublayer after which the residual stream is read");
}

/// Returns the columns of means, and of the number of targets that they average.
static Fields<LensMeans> mean_fields(bool shows_count) {
  Fields<LensMeans> fields;
  fields.add(
      Column("loss", "loss", "loss if the model ended here, in nats per target").mean_over("count"),
      &LensMeans::loss);
  fields.add(Column("accuracy", "accuracy", "share of targets with the largest logit")
                 .fixed(4)
                 .mean_over("count"),
             &LensMeans::accuracy);
  fields.add(Column("rank", "rank", "mean rank of the target's logit: 1 is the largest")
                 .fixed(2)
                 .mean_over("count"),
             &LensMeans::rank);
  fields.add(Column("count", "targets", "number of them")
                 .shown_as(Form::grouped)
                 .hidden_unless(shows_count)
                 .no_legend(),
             [](const LensMeans& means) { return means.loss.count(); });
  return fields;
}

static Table places_table(const LensReport& report) {
  Fields<LensPlace> fields;
  fields.add(place_column(), &LensPlace::name);
  fields.add_part(mean_fields(false), &LensPlace::means);
  fields.add_part(change_fields("difference.", "difference",
                                "change of the loss by this sublayer, nats per target"),
                  &LensPlace::change);
  return fields.table({.name = "places"}, report.places);
}

static Table lens_cells_table(const LensReport& report, bool by_position) {
  Fields<LensCell> fields;
  fields.add(place_column(), [&](const LensCell& cell) { return report.places[cell.place].name; });
  if (by_position) {
    fields.add(Column("position", "position", "position of the query, from 0").no_legend(),
               &LensCell::position);
  }
  fields.add(Column("target", "target", "name of the target").no_legend(),
             [&](const LensCell& cell) {
               return report.targets[static_cast<std::size_t>(cell.k)];
             });
  fields.add_part(mean_fields(true), &LensCell::means);
  if (by_position) {
    return fields.table({.name = "positions", .shown = false}, report.by_position);
  }
  return fields.table({.name = "by_target",
                       .grids = {{"loss by target", "place", "target", "loss"}}},
                      report.by_target);
}

Result result_of(const LensReport& report) {
  Result found{.about = stamped({{"attention", report.attention}, {"examples", report.examples}}),
               .tables = {places_table(report), lens_cells_table(report, false),
                          lens_cells_table(report, true)}};
  if (!report.against.means.empty()) {
    found.tables.push_back(against_table(report.against.means, true));
  }
  return found;
}

}  // namespace headlab
