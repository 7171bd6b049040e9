// Ablation: the loss of a model when heads are ablated. A pattern shows where a head looks;
// ablation shows whether that matters. Heads are ablated by interventions on an unchanged model,
// one, two or many at a time. All sets of heads are evaluated on the same examples, so differences
// are paired (paired.h). Read next: pairs.h; lab/prune/methods.h, which evaluates many sets in this
// way.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/heads/causes/paired.h"

namespace headlab {

/// Replacement for the output z of an ablated head, before W_O.
enum class AblationKind { zero, mean, resample };

struct AblationEntry {
  const char* name;
  const char* meaning;
  AblationKind kind;
};
std::span<const AblationEntry> ablation_table();
/// Returns the kind of this name. Error with the known names and the nearest one if there is none.
AblationKind find_ablation(const std::string& name);
const char* name_of(AblationKind kind);

struct AblationOptions {
  /// zero has the effect of removing the head and costs nothing extra. mean and resample keep the
  /// inputs of the following layers at their usual size and need one more pass over the examples.
  AblationKind kind = AblationKind::zero;
  Index batch = 64;       // sequences in a forward pass; changes the result by rounding only
  std::int64_t seed = 0;  // random seed for the draws of `resample`
};

using HeadSet = std::vector<HeadId>;
using HeadPair = std::pair<HeadId, HeadId>;

/// Returns the index of the example from which `resample` takes a head's output, for each example
/// and for attention layers of this kind. It is never the example itself.
std::vector<std::size_t> ablation_donors(const Batch& examples, AttentionKind kind,
                                         std::int64_t seed);

/// Facts that every ablation experiment reports.
struct AblationFacts {
  std::vector<std::string>
      attention;  // names of the attention layers, which HeadId::attention_layer indexes
  AblationOptions options;
  Index examples = 0, targets = 0;
  double loss = 0;  // loss of the unchanged model, nats per target

  Json about() const;
  std::string note() const;  // the note below a table
};

/// Returns the sets {} and {head} for each head.
std::vector<HeadSet> single_sets(const HeadSet& heads);

/// Evaluates a model on fixed examples with any heads ablated. Only reads the model, which must
/// outlive it.
class Ablation {
 public:
  /// `mean`: z is replaced by its average over all positions (without padding) of all examples.
  /// `resample`: z is replaced by that of another example at the same position. The other example
  /// is drawn for each example and is at least as long; for the longest ones, positions beyond its
  /// end keep their own z. Errors: examples without any target; fewer than two examples.
  Ablation(const HeadedModel& model, Batch examples, const AblationOptions& options = {});

  /// Returns the loss of each example, summed over its targets, in nats, with the heads of each set
  /// ablated: [sets][examples]. The empty set is the unchanged model. Error for a head that the
  /// model does not have.
  std::vector<std::vector<double>> losses(std::span<const HeadSet> sets) const;
  /// Returns the same losses as means over all targets: [sets].
  std::vector<double> mean_losses(std::span<const HeadSet> sets) const;
  /// Returns the change of the losses. The interval accounts for the draw of donors: examples that
  /// share a donor are not independent. Changes within `resolution` in every example count as
  /// rounding (paired.h).
  PairedChange change(std::span<const double> after, std::span<const double> before,
                      double resolution = kLossResolution) const {
    return paired_change(after, before, targets_, donors_, resolution);
  }
  /// Losses with both heads ablated, and the losses expected if the effects of the two heads on the
  /// logits simply added to those of the unchanged model. All four passes divide by the layer-norm
  /// deviations of the model with both heads ablated, from the first of the two heads on, so that a
  /// layer norm alone cannot make two heads appear dependent.
  struct PairLosses {
    std::vector<double> joint, independent;  // one loss per example, summed over its targets
    std::vector<double> whole,
        apart;                 // no head ablated; that loss plus the cost of each head alone
    double largest_logit = 0;  // largest absolute logit of all four passes
  };
  std::vector<PairLosses> pair_losses(std::span<const HeadPair> pairs) const;
  /// Returns the mean over all targets of these losses of the examples.
  double mean(std::span<const double> losses) const;

  double target_count() const { return target_count_; }
  /// Returns the replacement for z in attention layer m, [1, 1, H, Dv] or [examples, T, H, Dv];
  /// undefined if it is 0.
  const Tensor& replacement(std::size_t m) const { return replacements_[m]; }
  AblationFacts facts(double loss) const;

 private:
  struct Part;
  void find_replacements();
  ModelHooks from_unchanged(std::size_t first, const ActivationCache& unchanged) const;
  std::vector<HeadInterventions> interventions_for(const HeadSet& set,
                                                   std::span<const Tensor> replacements) const;

  const HeadedModel& model_;
  std::vector<AttentionLayer> attention_layers_;
  Batch examples_;
  AblationOptions options_;
  std::vector<double> targets_;
  double target_count_ = 0;
  std::vector<std::size_t> donors_;   // one donor per example for `resample`; else empty
  std::vector<Tensor> replacements_;  // by attention layer: [1, 1, H, Dv] or [examples, T, H, Dv]
};

struct HeadAblation {
  HeadId head;
  double loss = 0;  // with this head ablated
  PairedChange change;
};

struct AblationReport : AblationFacts {
  std::vector<HeadAblation> heads;  // each ablated alone
  double sets_per_second = 0;       // head sets evaluated on all examples, per second

  std::vector<PairedChange> changes() const { return mapped(heads, &HeadAblation::change); }
};
Result result_of(const AblationReport& report);

/// Ablates each head alone. Each p is for a single head and is not corrected for their number.
AblationReport ablate_heads(const HeadedModel& model, const Batch& examples,
                            const AblationOptions& options = {});

/// Heads that are ablated together.
struct SetAblationReport : AblationFacts {
  HeadSet heads;
  double loss_without = 0;  // with all of them ablated
  PairedChange change;

  std::vector<PairedChange> changes() const { return {change}; }
};
Result result_of(const SetAblationReport& report);

/// Ablates these heads together.
SetAblationReport ablate_set(const HeadedModel& model, const Batch& examples, const HeadSet& heads,
                             const AblationOptions& options = {});

}  // namespace headlab
