// Ablation: what does the loss become when heads are silenced? A pattern says where a head looks;
// this says whether it matters. Heads are silenced by edits of an unchanged model, one, two or many
// at a time, and all sets of heads are judged on the same examples, made once: differences are
// paired (paired.h). Read next: pairs.h, prune/methods.h, which asks the same of many sets.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlab/heads/edits.h"
#include "headlab/heads/paired.h"

namespace headlab {

/// What takes the place of a silenced head's output z, before W_O.
enum class AblationKind { zero, mean, resample };

struct AblationEntry {
  const char* name;
  const char* meaning;
  AblationKind kind;
};
/// The table of kinds.
std::span<const AblationEntry> ablation_table();
/// Error that lists the known names and the nearest.
AblationKind find_ablation(const std::string& name);
const char* name_of(AblationKind kind);

struct AblationOptions {
  /// zero is what removal does, and costs nothing more; mean and resample leave the following
  /// layers inputs of the usual size, and need one more pass over the examples.
  AblationKind kind = AblationKind::zero;
  Index batch = 64;       // in one forward pass; the result does not depend on it beyond rounding
  std::int64_t seed = 0;  // of the draws of `resample`
};

using HeadSet = std::vector<HeadId>;
using HeadPair = std::pair<HeadId, HeadId>;

/// The examples from which `resample` takes a head's output, in modules of this kind: for each
/// example another one.
std::vector<std::size_t> ablation_donors(const Batch& examples, AttentionKind kind,
                                         std::int64_t seed);

/// What all experiments that silence heads report.
struct AblationFacts {
  std::vector<std::string> attention;  // names of the attention modules: what HeadId::module counts
  AblationOptions options;
  Index examples = 0, targets = 0;
  double loss = 0;  // of the whole model, nats per target

  Json about() const;
  std::string note() const;  // below a table
};

/// The sets {}, {head} for each head.
std::vector<HeadSet> single_sets(const HeadSet& heads);

/// A model on fixed examples with any heads silenced. Only reads the model, which must outlive it.
class Ablation {
 public:
  /// `mean`: a head's z averaged over all positions (but padding) of all examples. `resample`: z
  /// of another example, drawn for each, at the same position; the other is at least as long, and
  /// for the longest, positions beyond its end keep what they had. Error: examples without any
  /// target; fewer than two of them.
  Ablation(const HeadedModel& model, Batch examples, const AblationOptions& options = {});

  /// The losses of the examples, each summed over its targets, in nats, with the heads of each set
  /// silenced: [sets][examples]. The empty set is the model itself. Error for a head that the model
  /// does not have.
  std::vector<std::vector<double>> losses(std::span<const HeadSet> sets) const;
  /// The same as means over all targets: [sets].
  std::vector<double> mean_losses(std::span<const HeadSet> sets) const;
  /// How losses changed. The interval accounts for the draw of donors: examples that share a donor
  /// are not independent. Changes within `resolution` in every example are rounding (paired.h).
  PairedChange change(std::span<const double> after, std::span<const double> before,
                      double resolution = kLossResolution) const {
    return paired_change(after, before, targets_, donors_, resolution);
  }
  /// The losses with both heads silenced, and what they would be if the effects of each on the
  /// logits were added to those of the whole model. All four passes divide by the deviations of the
  /// layer norms with both silenced, after the first of them: a layer norm alone makes no two heads
  /// depend on each other.
  struct PairLosses {
    std::vector<double> joint, independent;  // of the examples, each summed over its targets
    std::vector<double> whole, apart;        // of none, and what each costs alone added to it
    double largest_logit = 0;                // of all four passes, by its absolute value
  };
  std::vector<PairLosses> pair_losses(std::span<const HeadPair> pairs) const;
  /// The mean over all targets of the losses of the examples.
  double mean(std::span<const double> losses) const;

  double target_count() const { return target_count_; }
  /// What takes the place of z in module m, [1, 1, H, Dv] or [examples, T, H, Dv]; undefined where
  /// that is 0.
  const Tensor& replacement(std::size_t m) const { return replacements_[m]; }
  AblationFacts facts(double loss) const;

 private:
  struct Part;
  void find_replacements();
  ModelHooks from_unchanged(std::size_t first, const ModelCaptures& unchanged) const;
  std::vector<HeadEdits> edits_for(const HeadSet& set, std::span<const Tensor> replacements) const;

  const HeadedModel& model_;
  std::vector<AttentionModule> modules_;
  Batch examples_;
  AblationOptions options_;
  std::vector<double> targets_;
  double target_count_ = 0;
  std::vector<std::size_t> donors_;   // of each example, in `resample`; else empty
  std::vector<Tensor> replacements_;  // by module: [1, 1, H, Dv] or [examples, T, H, Dv]
};

struct HeadAblation {
  HeadId head;
  double loss = 0;  // with this head silenced
  PairedChange change;
};

struct AblationReport : AblationFacts {
  std::vector<HeadAblation> heads;  // each silenced alone
  double sets_per_second = 0;       // head sets judged on all examples, per second
};
Finding finding_of(const AblationReport& report);

/// Silences each head alone. p is for each head by itself, not corrected for their number.
AblationReport ablate_heads(const HeadedModel& model, const Batch& examples,
                            const AblationOptions& options = {});

}  // namespace headlab
