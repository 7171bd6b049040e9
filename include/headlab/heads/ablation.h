// Ablation: what does the loss become when heads are silenced? A pattern says where a head looks;
// this says whether it matters. Heads are silenced by edits of an unchanged model, one, two or many
// at a time, and all sets of heads are judged on the same examples, made once: differences are
// paired (paired.h). Read next: edits.h, prune/methods.h, which asks the same of many sets.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlab/heads/edits.h"
#include "headlab/heads/paired.h"
#include "headlab/heads/scores.h"

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

/// The examples from which `resample` takes a head's output, in modules of this kind: for each
/// example another one.
std::vector<std::size_t> ablation_donors(const Batch& examples, AttentionKind kind,
                                         std::int64_t seed);

/// A model on fixed examples with any heads silenced. Only reads the model, which must outlive it.
class Ablation {
 public:
  /// `mean`: a head's z averaged over all positions (but padding) of all examples. `resample`: z
  /// of another example, drawn for each, at the same position; the other is at least as long, and
  /// for the longest, positions beyond its end keep what they had. Error: examples without any
  /// target; fewer than two of them.
  Ablation(const Transformer& model, Batch examples, const AblationOptions& options = {});

  /// The losses of the examples, each summed over its targets, in nats, with the heads of each set
  /// silenced: [sets][examples]. The empty set is the model itself. Error for a head that the model
  /// does not have.
  std::vector<std::vector<double>> losses(std::span<const HeadSet> sets) const;
  /// The same as means over all targets: [sets].
  std::vector<double> mean_losses(std::span<const HeadSet> sets) const;
  /// How losses changed. The interval accounts for the draw of donors: examples that share a donor
  /// are not independent.
  PairedChange change(std::span<const double> after, std::span<const double> before) const {
    return paired_change(after, before, targets_, donors_);
  }
  /// The losses of two sets silenced together if their effects were additive in the logits: logits
  /// of the whole model plus the change that each set alone makes. [pairs][examples]; a pair holds
  /// two indices into `sets`.
  std::vector<std::vector<double>> independent_losses(
      std::span<const HeadSet> sets,
      std::span<const std::pair<std::size_t, std::size_t>> pairs) const;
  /// The mean over all targets of the losses of the examples.
  double mean(std::span<const double> losses) const;

  double target_count() const { return target_count_; }

 private:
  template <class Use>
  void for_logits(std::span<const HeadSet> sets, Index size, Use&& use) const;
  void find_replacements();
  ModelHooks from_unchanged(std::vector<HeadEdits> edits, const ModelCaptures& unchanged) const;
  std::vector<HeadEdits> edits_for(const HeadSet& set, std::span<const Tensor> replacements) const;

  const Transformer& model_;
  std::vector<AttentionModule> modules_;
  Batch examples_;
  AblationOptions options_;
  std::vector<double> targets_;
  double target_count_ = 0;
  std::vector<std::size_t> donors_;   // of each example, in `resample`; else empty
  std::vector<Tensor> replacements_;  // by module: [1, 1, H, Dv] or [examples, T, H, Dv]
};

/// What all experiments that silence heads report.
struct AblationFacts {
  std::vector<std::string> attention;  // names of the attention modules: what HeadId::layer counts
  AblationOptions options;
  Index examples = 0, targets = 0;
  double loss = 0;  // of the whole model, nats per target
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
AblationReport ablate_heads(const Transformer& model, const Batch& examples,
                            const AblationOptions& options = {});

/// Does silencing both heads cost what independent effects would? Cross-entropy is not additive:
/// two unrelated heads may cost less or more together than the sum of both, so the joint loss is
/// compared with that of logits to which the effects of both are added. If the joint loss is
/// higher, each can do the other's work, and single ablations hide both; if it is lower, they act
/// in series, and the loss of one already contains the other's.
struct Interaction {
  HeadId first, second;
  double joint = 0;           // change of the loss with both silenced
  double sum = 0;             // of the changes with each silenced alone
  double independent = 0;     // change of the loss if their effects on the logits added up
  PairedChange interaction;   // joint - independent
  std::string relation = {};  // that both own; "" if none, or if no scores were given

  /// The least that is called an interaction, in nats per target.
  static constexpr double kLeast = 0.01;
  /// Heads of one relation, each of which does the work when the other is gone.
  bool backs_up() const {
    return interaction.is_rise() && interaction.change >= kLeast && !relation.empty();
  }
};

struct InteractionReport : AblationFacts {
  std::vector<Interaction> pairs;
};
Finding finding_of(const InteractionReport& report);

/// Silences each head and each pair of heads: H + H (H - 1) / 2 sets. `scores`, if given, say which
/// heads own the same relation. Error for fewer than two heads.
InteractionReport ablate_pairs(const Transformer& model, const Batch& examples,
                               const AblationOptions& options = {},
                               const HeadsReport* scores = nullptr);

}  // namespace headlab
