// Pairs of heads: does silencing both cost what silencing each costs? If it costs more, each can do
// the other's work and single ablations hide both (backup heads); if less, they work one behind the
// other, and the first loss already contains the second. Read next: ablation.h.
#pragma once

#include "headlab/heads/ablation.h"

namespace headlab {

struct Interaction {
  HeadId first, second;
  double joint = 0;          // change of the loss with both silenced
  double sum = 0;            // of the changes with each silenced alone
  PairedChange interaction;  // joint - sum
};

struct InteractionReport {
  std::vector<std::string> attention;
  AblationOptions options;
  Index examples = 0;
  double loss = 0;  // of the whole model
  std::vector<Interaction> pairs;
};
Json to_json(const InteractionReport& report);

/// Silences each head and each pair of heads: H + H (H - 1) / 2 sets. Error for fewer than two
/// heads.
InteractionReport ablate_pairs(const Transformer& model, const Batch& examples,
                               const AblationOptions& options = {});

}  // namespace headlab
