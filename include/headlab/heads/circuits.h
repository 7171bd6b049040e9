// Circuits of a head from the weights alone: which tokens attend to which (QK), how an attended
// token changes the logits (OV), and which earlier heads a head reads (composition). Elhage et al.
// 2021, "A Mathematical Framework for Transformer Circuits". Gains and centring of pre-norm layer
// norms are folded into the weights that follow them. Their scale, all biases, added positions, and
// the norms of post-norm models are left out. With rotary positions, QK is for one distance. Read
// next: patching.h, which uses inputs.
#pragma once

#include <string>
#include <vector>

#include "headlab/base/table.h"
#include "headlab/heads/edits.h"

namespace headlab {

/// Weights of one head: W_Q, W_K [C, D], W_V [C, Dv] and W_O [Dv, C]. With grouped queries, W_K and
/// W_V belong to the block that the head reads.
struct HeadWeights {
  Tensor Q, K, V, O;
};
/// Returns the weights as the model stores them.
HeadWeights plain_weights(const HeadedModel& model, const HeadId& head);
/// Returns the weights with the norm before W_Q and the norm before W_K and W_V folded in. With
/// rotary positions, W_Q is rotated for a query `distance` positions after its key. Error for a
/// distance that the model does not have or that does not apply to it.
HeadWeights head_weights(const Transformer& model, const HeadId& head, Index distance = 0);

/// qk [V, V] = W_E W_Q W_K^T W_E^T / sqrt(D): score of a query token (row) for a key token. ov [V,
/// K*N] = W_E W_V W_O W_U: contribution of an attended token (row) to each of the N logits of each
/// target. In cross-attention, queries are target tokens and keys are source tokens after the
/// encoder's final norm. ov is undefined for a head of the encoder, which writes to no logit.
struct TokenCircuits {
  Tensor qk, ov;
};
TokenCircuits token_circuits(const Transformer& model, const HeadId& head, Index distance = 0);

/// Summary statistics of a head's circuits.
struct CircuitSummary {
  HeadId head;
  double matches = 0;  // share of tokens that score highest for themselves
  std::vector<double>
      copying;                 // by target, empty for a head of the encoder and if outputs are
                               // no tokens: sum of eigenvalues / sum of |eigenvalues| of ov's block
  std::vector<double> copies;  // by target: share of tokens that raise their own logit most
};

/// Share of the output of head `from` that head `to` reads, if `from` writes the stream that `to`
/// reads (in cross-attention, queries read the decoder's stream, keys and values the encoder's):
/// |W_OV W_Q W_K^T|_F (queries), the same with W_Q and W_K exchanged (keys), or |W_OV W_V W_O|_F
/// (values), divided by the norms of the two factors.
struct Composition {
  HeadId from, to;
  char kind = 'K';        // Q, K or V
  double strength = 0;    // in [0, 1]
  double random = 0;      // mean over random pairs: normal matrices of the same shapes
  double percentile = 0;  // share of the random pairs that are weaker, in percent
};

struct CircuitOptions {
  Index draws = 200;      // random pairs for each combination of shapes; time grows in proportion
  std::int64_t seed = 0;  // random seed for these draws
  Index distance = 0;     // rotary positions: distance from a key to its query
};

struct CircuitsReport {
  std::vector<std::string> attention;
  CircuitOptions options;
  std::vector<CircuitSummary> heads;
  std::vector<Composition> compositions;  // all pairs of heads in different layers
};
Finding finding_of(const CircuitsReport& report);
/// Analyses the circuits of all heads. Error for fewer than one draw.
CircuitsReport find_circuits(const Transformer& model, const CircuitOptions& options = {});

}  // namespace headlab
