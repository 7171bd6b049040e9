// Circuits of a head from the weights alone: which tokens attend to which (QK), how an attended
// token changes the logits (OV), and which earlier heads a head reads (composition). Elhage et al.
// 2021, "A Mathematical Framework for Transformer Circuits". Gains and centring of pre-norm layer
// norms are folded into the weights that follow them. Their scale, all biases, added positions, and
// the norms of post-norm models are left out. With rotary positions, QK is for one distance. Read
// next: patching.h, which uses inputs.
#pragma once

#include <string>
#include <vector>

#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/results/table.h"

namespace headlab {

/// Largest vocabulary of which all tokens are used; matrices over larger ones are not computed.
inline constexpr Index kMostCircuitTokens = 4096;

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
  /// Sum of eigenvalues / sum of |eigenvalues| of qk: 1 if tokens attend to themselves (and to
  /// similar ones), -1 if they attend to others.
  double matching = 0;
};

/// The tokens by which a head acts most, as [source] ... [destination] -> [out]: a destination
/// attends to a source, which raises the logit of an output. In a one-layer model these are its
/// skip-trigrams (Elhage et al. 2021).
struct SkipTrigram {
  HeadId head;
  Index target = 0;                                   // its index, if there are several
  std::int32_t source = 0, destination = 0, out = 0;  // tokens, and an output
  double qk = 0;  // score of the source for the destination, above its mean over sources
  double ov = 0;  // logit that the source adds to the output, above its mean over outputs
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
  double z = 0;           // (strength - random) / standard deviation over the random pairs
  double p = 1;           // share of random pairs as strong, with this one among them
  double p_holm = 1;      // p corrected over all pairs of the report (Holm)
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
  std::vector<SkipTrigram> trigrams{};    // the strongest of each head; none for large vocabularies
  /// Texts of the tokens and of the outputs; numbers are shown if they are empty.
  std::vector<std::string> tokens{}, answers{};
};
Result result_of(const CircuitsReport& report);
/// Returns the skip-trigrams of a head with the largest qk * ov, at most `most` for each target,
/// each with another source. None for a head of the encoder or a vocabulary of more than
/// kMostCircuitTokens.
std::vector<SkipTrigram> skip_trigrams(const Transformer& model, const HeadId& head,
                                       Index distance = 0, Index most = 5);
/// Analyses the circuits of all heads. Error for fewer than one draw.
CircuitsReport find_circuits(const Transformer& model, const CircuitOptions& options = {});

}  // namespace headlab
