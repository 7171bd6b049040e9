// Circuits from weights. Matrices over the vocabulary are computed for one head at a time.
// Composition and copying never compute a product as wide as the stream: the nonzero eigenvalues of
// W_E W_V W_O W_U are those of W_O W_U W_E W_V, which is [Dv, Dv]. Read next: attribution.cc.
#include "headlab/lab/heads/weights/circuits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

#include "headlab/core/base/error.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/ops/ops.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/weights/matrix.h"
#include "headlab/lab/results/comparison.h"

namespace headlab {
namespace {

/// Returns a matrix that reads the stream through a norm of scale 1: (I - 1 1^T / C) diag(gain) W,
/// or diag(gain) W if the norm does not centre.
Tensor folded(const NormLayer& norm, const Tensor& W) {
  if (!norm.w.defined()) return W;
  const Tensor scaled = reshape(norm.w, {norm.w.count(), 1}) * W;
  return kind_of(norm.type).centres ? scaled - mean(scaled, 0, true) : scaled;
}

/// Returns how the model composes its stream. Error for a wiring whose norms before heads are
/// unknown.
StreamKind stream_of(const Transformer& model) {
  const BlockWiring& wiring = kind_of(model.config().norm_place);
  if (wiring.stream == StreamKind::other) {
    throw Error(text("cannot compute circuits: norm_place ", wiring.name, " does not tell through ",
                     "which norms heads read the stream"),
                "use a model with norm_place pre, post or parallel");
  }
  return wiring.stream;
}

/// Returns W_U [C, K*V], after the final norm.
Tensor unembedding(const Transformer& model) {
  const Tensor W = model.unembedding().W;
  const bool has_norm = stream_of(model) == StreamKind::sum;
  return has_norm ? folded(model.final_norm(), W) : W;
}

AttentionKind kind_of(const Transformer& model, const HeadId& head) {
  return model.attention_layers()[head.attention_layer].kind;
}

/// Returns whether a head reads, by its queries (Q), keys or values, the stream that another
/// writes: heads of the encoder write its stream, all others the decoder's; cross-attention reads
/// both.
bool reads_what_is_written(AttentionKind from, AttentionKind to, char kind) {
  const bool reads_encoder =
      to == AttentionKind::encoder || (to == AttentionKind::cross && kind != 'Q');
  return (from == AttentionKind::encoder) == reads_encoder;
}

constexpr Index kMostTokens = kMostCircuitTokens;
constexpr Index kSomeTokens = 1024;  // used of a larger vocabulary

/// Returns the share of the rows of left right, [V, V] for left [V, D] and right [D, V], whose
/// largest element is on the diagonal. For large vocabularies some rows are computed, spread
/// evenly.
double diagonal_share(const Tensor& left, const Tensor& right, Scalar scale = 1) {
  const Index V = left.size(0), rows = V > kMostTokens ? kSomeTokens : V;
  Ids tokens;
  for (Index i = 0; i < rows; ++i) tokens.push_back(static_cast<std::int32_t>(i * V / rows));
  const Tensor made = matmul(embedding(left, tokens, {rows}), right) * scale;  // [rows, V]
  double hits = 0;
  for (Index i = 0; i < rows; ++i) {
    const Scalar* row = made.data() + i * V;
    hits += std::max_element(row, row + V) - row == tokens[i];
  }
  return hits / static_cast<double>(rows);
}

Scalar scale_of(const HeadWeights& weights) {
  return static_cast<Scalar>(1 / std::sqrt(static_cast<double>(weights.Q.size(1))));
}

void require_tokens(const Transformer& model) {
  require(model.config().features == 0,
          "cannot compute circuits: the model reads vectors, and circuits need a vocabulary of "
          "tokens");
}

/// Returns the sum of the eigenvalues of a matrix divided by the sum of their sizes.
double positive_share(const Matrix& matrix) {
  double sum = 0;
  double sizes = 0;
  for (const std::complex<double>& value : eigenvalues(matrix)) {
    sum += value.real();
    sizes += std::abs(value);
  }
  return sizes > 0 ? sum / sizes : 0;
}

/// Returns W_K^T W_E^T W_E W_Q [D, D], whose eigenvalues are those of W_E W_Q W_K^T W_E^T that are
/// not 0.
Matrix matching_matrix(const Tensor& E, const HeadWeights& weights) {
  if (E.size(0) > kMostTokens) {
    return Matrix(matmul(transpose(matmul(E, weights.K)), matmul(E, weights.Q)));
  }
  const Matrix embedding(E);
  return (embedding * Matrix(weights.K)).transposed() * (embedding * Matrix(weights.Q));
}

/// Computes the summary of a head. `U`: the unembedding.
CircuitSummary summary_of(const Transformer& model, const HeadId& head, Index distance,
                          const Tensor& U) {
  const HeadWeights rotated = head_weights(model, head, distance),
                    weights = head_weights(model, head);
  const Tensor& E = model.embedding();
  const Tensor keys = transpose(matmul(E, rotated.K)), values = matmul(E, weights.V);
  const Index V = model.config().vocab;
  CircuitSummary summary;
  summary.head = head;
  summary.matches = diagonal_share(matmul(E, rotated.Q), keys, scale_of(rotated));
  summary.matching = positive_share(matching_matrix(E, rotated));
  if (kind_of(model, head) == AttentionKind::encoder) return summary;  // it writes to no logit
  if (model.config().answers > 0) return summary;                      // no token is an answer
  const auto small = [&](const Tensor& U_k, const Tensor& written) {   // O U E V, [Dv, Dv]
    return V > kMostTokens ? Matrix(matmul(written, values))
                           : Matrix(weights.O) * Matrix(U_k) * (Matrix(E) * Matrix(weights.V));
  };
  for (Index k = 0; k < model.config().targets; ++k) {
    const Tensor U_k = slice(U, 1, k * V, (k + 1) * V), written = matmul(weights.O, U_k);
    summary.copying.push_back(positive_share(small(U_k, written)));
    summary.copies.push_back(diagonal_share(values, written));
  }
  return summary;
}

/// Weights of a head for compositions.
struct Reader {
  struct Part {
    Matrix weights, gram;
    explicit Part(const Matrix& W) : weights(W), gram(headlab::gram(W)) {}
  };
  HeadId head;
  Part Q, K, V, O;  // O transposed: [C, Dv]

  /// Returns the weights that read the stream for queries (Q), keys (K) or values (V).
  const Part& reading(char kind) const {
    if (kind == 'Q') {
      return Q;
    }
    return kind == 'K' ? K : V;
  }
  /// Returns their factors: keys for queries, the output for values.
  const Part& partner(char kind) const {
    if (kind == 'Q') {
      return K;
    }
    return kind == 'K' ? Q : O;
  }
};

double strength(const Reader& from, const Reader& to, char kind) {
  const Reader::Part& read = to.reading(kind);
  const Reader::Part& other = to.partner(kind);
  const double norms = product_norm(from.V.gram, from.O.gram) * product_norm(read.gram, other.gram);
  const Matrix between = from.O.weights.transposed() * read.weights;
  return norms > 0 ? sandwich_norm(from.V.gram, between, other.gram) / norms : 0;
}

/// Draws a matrix of normal numbers in the number type of the model.
Matrix normal_matrix(Index rows, Index columns, Key key) {
  Generator random(key);
  return {rows, columns,
          [&](Index, Index) { return static_cast<double>(static_cast<Scalar>(random.normal())); }};
}

/// Returns strengths between random heads of the shapes of two given ones, ascending.
std::vector<double> random_strengths(const Reader& from, const Reader& to, char kind,
                                     const CircuitOptions& options) {
  const auto draw = [](const Reader& like, Key key) {
    const Index C = like.Q.weights.rows(), D = like.Q.gram.rows(), Dv = like.V.gram.rows();
    const auto part = [&](Index rows, Index columns, const char* name) {
      return normal_matrix(rows, columns, key.fold(name));
    };
    return Reader{{},
                  Reader::Part(part(C, D, "Q")),
                  Reader::Part(part(C, D, "K")),
                  Reader::Part(part(C, Dv, "V")),
                  Reader::Part(part(Dv, C, "O").transposed())};
  };
  const Key key = streams::seeded(options.seed).fold("random pairs").fold(kind == 'V');
  std::vector<double> strengths(options.draws);
  parallel_for(options.draws, [&](Index i) {
    const Key drawn = key.fold(i);
    strengths[i] = strength(draw(from, drawn.fold("from")), draw(to, drawn.fold("to")), kind);
  });
  std::ranges::sort(strengths);
  return strengths;
}

/// Fills the strengths.
void compare(const std::vector<Reader>& readers,
             const std::vector<std::array<std::size_t, 2>>& pairs, const CircuitOptions& options,
             std::vector<Composition>& all) {
  std::map<std::array<Index, 4>, std::vector<double>>
      random;  // by the numbers that determine the shapes
  std::vector<const std::vector<double>*> others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Reader &from = readers[pairs[i][0]], &to = readers[pairs[i][1]];
    std::vector<double>& drawn =
        random[{from.V.gram.rows(), to.Q.gram.rows(), to.V.gram.rows(), all[i].kind == 'V'}];
    if (drawn.empty()) drawn = random_strengths(from, to, all[i].kind, options);
    others.push_back(&drawn);
  }
  parallel_for(std::ssize(all), [&](Index i) {
    Composition& one = all[i];
    one.strength = strength(readers[pairs[i][0]], readers[pairs[i][1]], one.kind);
    const auto count = static_cast<double>(others[i]->size());
    for (const double other : *others[i]) one.random += other / count;
    const auto weaker = std::ranges::lower_bound(*others[i], one.strength) - others[i]->begin();
    one.percentile = 100 * static_cast<double>(weaker) / count;
    const double spread = standard_deviation(*others[i]);
    one.z = spread > 0 ? (one.strength - one.random) / spread : 0;
    const double as_strong = count - static_cast<double>(weaker);
    one.p = (1 + as_strong) / (1 + count);
  });
  const std::vector<double> corrected = holm(mapped(all, &Composition::p));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].p_holm = corrected[i];
}

std::vector<Composition> compositions_of(const Transformer& model, const CircuitOptions& options) {
  std::vector<Reader> readers;
  for (const HeadId& head : all_heads(model)) {
    const HeadWeights weights = head_weights(model, head, options.distance);
    readers.push_back({head, Reader::Part(Matrix(weights.Q)), Reader::Part(Matrix(weights.K)),
                       Reader::Part(Matrix(weights.V)),
                       Reader::Part(Matrix(weights.O).transposed())});
  }
  std::vector<Composition> all;
  std::vector<std::array<std::size_t, 2>> pairs;  // pairs of readers
  for (std::size_t i = 0; i < readers.size(); ++i) {
    for (std::size_t j = 0; j < readers.size(); ++j) {
      for (const char kind : {'Q', 'K', 'V'}) {
        const HeadId &from = readers[i].head, &to = readers[j].head;
        if (from.attention_layer >= to.attention_layer) break;
        if (!reads_what_is_written(kind_of(model, from), kind_of(model, to), kind)) continue;
        all.push_back({from, to, kind});
        pairs.push_back({i, j});
      }
    }
  }
  compare(readers, pairs, options, all);
  return all;
}

}  // namespace

HeadWeights plain_weights(const HeadedModel& model, const HeadId& head) {
  const NoGrad no_grad;
  const Index slot = slot_of(model, head);
  const MultiHeadAttention& a = *model.attention_layers()[head.attention_layer].attention;
  const Index block = a.kv_head[slot];
  const auto columns = [](const Tensor& W, Index i, Index width) {
    return slice(W, 1, i * width, (i + 1) * width);
  };
  return {columns(a.Q.W, slot, a.d_head), columns(a.K.W, block, a.d_head),
          columns(a.V.W, block, a.d_value),
          slice(a.O.W, 0, slot * a.d_value, (slot + 1) * a.d_value)};
}

HeadWeights head_weights(const Transformer& model, const HeadId& head, Index distance) {
  const NoGrad no_grad;
  HeadWeights weights = plain_weights(model, head);
  const Tensor& rotary_table =
      model.attention_layers()[head.attention_layer].attention->rotary_table;
  const Index distances =
      kind_of(model.config().positions).rotary_table ? model.config().length : 1;
  require(0 <= distance && distance<distances, "cannot compute circuits at distance ", distance,
                                    ": ", distances> 1
              ? text("the model has distances from 0 to ", distances - 1)
              : "only rotary positions rotate queries and keys");
  if (distance > 0 && rotary_table.defined()) {
    const Index C = weights.Q.size(0), D = weights.Q.size(1);
    weights.Q = reshape(rotary(reshape(weights.Q, {C, 1, D}), rotary_table, distance), {C, D});
  }
  if (stream_of(model) == StreamKind::normalised) return weights;
  const AttentionLayer attention_layer = model.attention_layers()[head.attention_layer];
  weights.Q = folded(*attention_layer.query_norm, weights.Q);
  for (Tensor* W : {&weights.K, &weights.V}) *W = folded(*attention_layer.key_norm, *W);
  return weights;
}

TokenCircuits token_circuits(const Transformer& model, const HeadId& head, Index distance) {
  const NoGrad no_grad;
  require_tokens(model);
  require(model.config().vocab <= kMostTokens, "cannot show a matrix over ", model.config().vocab,
          " tokens: at most ", kMostTokens,
          " fit; `headlab circuits RUN` summarises it in numbers");
  const HeadWeights weights = head_weights(model, head, distance);
  const Tensor& E = model.embedding();
  const Tensor queries = matmul(E, weights.Q), keys = matmul(E, weights.K);
  const Tensor qk = matmul(queries, keys, {.transpose_b = true}) * scale_of(weights);
  if (kind_of(model, head) == AttentionKind::encoder) return {qk, {}};
  return {qk, matmul(matmul(E, weights.V), matmul(weights.O, unembedding(model)))};
}

CircuitsReport find_circuits(const Transformer& model, const CircuitOptions& options) {
  const NoGrad no_grad;
  require(options.draws >= 1, "cannot compute circuits: it needs one random pair or more, got ",
          options.draws);
  require_tokens(model);
  CircuitsReport report{attention_layer_names(model), options, {}, compositions_of(model, options)};
  const Tensor U = unembedding(model);
  for (const HeadId& head : all_heads(model)) {
    report.heads.push_back(summary_of(model, head, options.distance, U));
    std::ranges::copy(skip_trigrams(model, head, options.distance),
                      std::back_inserter(report.trigrams));
  }
  return report;
}

}  // namespace headlab
