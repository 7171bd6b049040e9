// What a head's weights alone say, before any input: which tokens attend to which (QK), what a
// token that is attended to does to the logits (OV), and which heads of earlier layers a head reads
// (composition). Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits". The gains
// and the centring of pre-norm layer norms are folded into the weights that follow them; their
// scale, all biases, added positions, and the norms of post-norm models are left out. Where queries
// and keys are turned by their positions, QK is that of one distance between them. Read next:
// patching.h, which goes back to inputs.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/table.h"
#include "headlab/heads/edits.h"

namespace headlab {

/// The weights of one head: W_Q, W_K [C, D], W_V [C, Dv] and W_O [Dv, C]. With grouped queries W_K
/// and W_V are those of the block that the head reads.
struct HeadWeights {
  Tensor Q, K, V, O;
};
/// As the model holds them.
HeadWeights plain_weights(const HeadedModel& model, const HeadId& head);
/// With the norm before W_Q, and that before W_K and W_V, folded in; with rotary positions, W_Q is
/// turned as for a query that stands `distance` after its key. Error for a distance that the model
/// has not, or does not know.
HeadWeights head_weights(const Transformer& model, const HeadId& head, Index distance = 0);

/// qk [V, V] = W_E W_Q W_K^T W_E^T / sqrt(D): score of a query token (row) for a key token.
/// ov [V, K*N] = W_E W_V W_O W_U: what attending to a token (row) adds to each logit, N of them. In
/// cross-attention queries are tokens of the target and keys those of the source, through the
/// encoder's final norm. ov is undefined for a head of the encoder, which writes to no logit.
struct TokenCircuits {
  Tensor qk, ov;
};
TokenCircuits token_circuits(const Transformer& model, const HeadId& head, Index distance = 0);

/// A head's circuits in numbers.
struct CircuitSummary {
  HeadId head;
  double matches = 0;  // share of tokens that score highest for themselves
  std::vector<double>
      copying;                 // by target, empty for a head of the encoder and if outputs are
                               // no tokens: sum of eigenvalues / sum of |eigenvalues| of ov's block
  std::vector<double> copies;  // by target: share of tokens that raise their own logit most
};

/// How much head `to` reads of what head `from` writes, where `from` writes the stream that `to`
/// reads (in cross-attention queries read the decoder's, keys and values the encoder's):
/// |W_OV W_Q W_K^T|_F (queries), the same with W_Q and W_K exchanged (keys), or |W_OV W_V W_O|_F
/// (values), divided by the norms of the two factors.
struct Composition {
  HeadId from, to;
  char kind = 'K';        // Q, K or V
  double strength = 0;    // in [0, 1]
  double random = 0;      // mean over random pairs: normal matrices of the same shapes
  double percentile = 0;  // share of these that are weaker, in percent
};

struct CircuitOptions {
  Index draws = 200;      // random pairs for each combination of shapes; time grows in proportion
  std::int64_t seed = 0;  // of these draws
  Index distance = 0;     // of rotary positions: from a key to its query
};

struct CircuitsReport {
  std::vector<std::string> attention;
  CircuitOptions options;
  std::vector<CircuitSummary> heads;
  std::vector<Composition> compositions;  // of all pairs of heads in different layers
};
Finding finding_of(const CircuitsReport& report);
/// Error for fewer than one draw.
CircuitsReport find_circuits(const Transformer& model, const CircuitOptions& options = {});

}  // namespace headlab
