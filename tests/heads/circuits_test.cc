// Circuits of weights: matrices of known spectra, and a circuit built by hand whose composition and
// copying are known.
#include "headlab/lab/heads/weights/circuits.h"

#include <complex>
#include <numeric>
#include <set>

#include "headlab/core/tasks/table.h"
#include "headlab/lab/heads/weights/matrix.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

using Complex = std::complex<double>;

Matrix random_matrix(Index n, Key key) {
  Matrix m(n, n);
  Generator random(key);
  for (Index i = 0; i < n * n; ++i) m(i / n, i % n) = random.normal();
  return m;
}

/// Each expected value is found among the eigenvalues, each of which counts once.
void expect_spectrum(std::vector<Complex> actual, const std::vector<Complex>& expected,
                     double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const Complex& value : expected) {
    const auto nearest =
        std::min_element(actual.begin(), actual.end(), [&](const Complex& a, const Complex& b) {
          return std::abs(a - value) < std::abs(b - value);
        });
    EXPECT_LE(std::abs(*nearest - value), tolerance) << value << " but " << *nearest;
    actual.erase(nearest);
  }
}

TEST(Eigenvalues, CompanionMatrixHasTheRootsOfItsPolynomial) {
  // (x - 1)(x - 2)(x + 3)(x^2 + 4) = x^5 + 0 x^4 - 3 x^3 + 6 x^2 - 28 x + 24
  Matrix m(5, 5);
  const double coefficients[5] = {24, -28, 6, -3, 0};
  for (Index i = 0; i < 5; ++i) {
    m(i, 4) = -coefficients[i];
    if (i > 0) m(i, i - 1) = 1;
  }
  expect_spectrum(eigenvalues(m), {1, 2, -3, Complex(0, 2), Complex(0, -2)}, 1e-12);
}

TEST(Eigenvalues, TriangularMatrixKeepsItsDiagonalUnderSimilarity) {
  constexpr Index n = 12;
  Matrix triangle = random_matrix(n, Key{3});
  std::vector<Complex> expected;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) triangle(i, j) = 0;
    triangle(i, i) = static_cast<double>(i) - 4;
    expected.emplace_back(triangle(i, i));
  }
  // S = I + u v^T with inverse I - u v^T / (1 + v^T u)
  Matrix S(n, n), inverse(n, n);
  const double dot = 0.02 * 12;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      S(i, j) = (i == j) + 0.02;
      inverse(i, j) = (i == j) - 0.02 / (1 + dot);
    }
  }
  expect_spectrum(eigenvalues(S * triangle * inverse), expected, 1e-6);
}

TEST(Eigenvalues, PathGraphHasKnownEigenvalues) {
  // The matrix with 2 on the diagonal and -1 next to it has 2 - 2 cos(pi k / (n + 1)).
  constexpr Index n = 12;
  const Matrix path(n, n, [](Index i, Index j) {
    return i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0;
  });
  std::vector<Complex> expected;
  for (int k = 1; k <= n; ++k) expected.emplace_back(2 - 2 * std::cos(M_PI * k / (n + 1)));
  expect_spectrum(eigenvalues(path), expected, 1e-14 * n);
}

TEST(Eigenvalues, SumToTheTraceAndTheirSquaresToThatOfTheSquare) {
  for (const Index n : {1, 2, 3, 7, 20, 64}) {
    const Matrix m = random_matrix(n, Key{7}.fold(n));
    const Matrix square = m * m;
    Complex sum = 0, squares = 0;
    double trace = 0, trace_of_square = 0;
    for (const Complex& value : eigenvalues(m)) sum += value, squares += value * value;
    for (Index i = 0; i < n; ++i) trace += m(i, i), trace_of_square += square(i, i);
    const double tolerance = 1e-13 * static_cast<double>(n * n);
    EXPECT_NEAR(sum.real(), trace, tolerance) << n;
    EXPECT_NEAR(sum.imag(), 0, tolerance) << n;
    EXPECT_NEAR(squares.real(), trace_of_square, 10 * tolerance) << n;
  }
}

TEST(Eigenvalues, DefectiveAndZeroMatricesConverge) {
  Matrix shift(6, 6);  // one Jordan block: all eigenvalues 0
  for (Index i = 0; i + 1 < 6; ++i) shift(i, i + 1) = 1;
  expect_spectrum(eigenvalues(shift), std::vector<Complex>(6), 1e-12);
  expect_spectrum(eigenvalues(Matrix(4, 4)), std::vector<Complex>(4), 0);
  Matrix turn(4, 4);  // a cyclic permutation: the four roots of 1
  for (Index i = 0; i < 4; ++i) turn(i, (i + 1) % 4) = 1;
  expect_spectrum(eigenvalues(turn), {1, -1, Complex(0, 1), Complex(0, -1)}, 1e-12);
}

/// Small ones next to a large one: what is negligible depends on the neighbours, not on the
/// largest.
TEST(Eigenvalues, GradedMatricesConverge) {
  Matrix m(3, 3);
  m(0, 0) = 1e10;
  m(1, 1) = 2e-3;
  m(1, 2) = 1;
  m(2, 1) = 1e-8;
  m(2, 2) = 1e-3;
  const double root = std::sqrt(0.25e-6 + 1e-8);
  expect_spectrum(eigenvalues(m), {1e10, 1.5e-3 + root, 1.5e-3 - root}, 1e-6);
}

TEST(Eigenvalues, RefuseNonSquareAndNonFiniteMatrices) {
  expect_error([] { eigenvalues(Matrix(2, 3)); }, {"square", "2 x 3"});
  Matrix m(1, 1);
  m(0, 0) = NAN;
  expect_error([&] { eigenvalues(m); }, {"nan"});
}

class HandMade : public testing::Test {
 protected:
  HandMade() : task_(make_task(kInduction)), model_(induction_pair(task_->shape())) {}
  std::unique_ptr<Task> task_;
  Transformer model_;
};

TEST_F(HandMade, TheInductionHeadReadsThePreviousTokenHeadByItsKeys) {
  const CircuitsReport report = find_circuits(model_, {.draws = 50});
  ASSERT_EQ(report.compositions.size(), 3u);
  for (const Composition& one : report.compositions) {
    EXPECT_EQ(one.from, (HeadId{0, 0}));
    EXPECT_EQ(one.to, (HeadId{1, 0}));
    // Only centring, which takes 1 / width from every dimension, joins the others.
    EXPECT_TRUE(one.kind == 'K' ? one.percentile == 100 : one.strength < 0.1) << one.kind;
    EXPECT_GT(one.random, 0);
  }
  EXPECT_GT(report.compositions[1].strength, 3 * report.compositions[0].strength);
  EXPECT_EQ(report.compositions[1].kind, 'K');
}

TEST_F(HandMade, TheInductionHeadCopies) {
  const CircuitsReport report = find_circuits(model_, {.draws = 1});
  EXPECT_NEAR(report.heads[1].copying[0], 1, 1e-6);
  EXPECT_EQ(report.heads[1].copies[0], 1);
  EXPECT_LT(std::abs(report.heads[0].copying[0]), 1.0001);
}

TEST_F(HandMade, TokenCircuitsEqualTheWeightsSetByHand) {
  const TokenCircuits induction = token_circuits(model_, {1, 0});
  const double said = 40 / InductionStream(task_->shape()).scale(3);
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 9; ++j) {
      const double above = static_cast<double>(induction.ov.data()[i * 9 + i]) -
                           static_cast<double>(induction.ov.data()[i * 9 + j]);
      EXPECT_NEAR(above, i == j ? 0 : said, 1e-4);
    }
  }
}

TEST(Composition, IsTheNormOfTheWholeProduct) {
  const Transformer model =
      random_model(small_config("heads=4 kv_heads=2")).with_heads({{1, 3}, {2}});
  const CircuitsReport report = find_circuits(model, {.draws = 2});
  ASSERT_EQ(report.compositions.size(), 6u);
  for (const Composition& one : report.compositions) {
    const HeadWeights a = head_weights(model, one.from), b = head_weights(model, one.to);
    const Matrix from = Matrix(a.V) * Matrix(a.O);
    const Matrix qk = Matrix(b.Q) * Matrix(b.K).transposed(), ov = Matrix(b.V) * Matrix(b.O);
    const Matrix read = one.kind == 'Q' ? qk : one.kind == 'K' ? qk.transposed() : ov;
    const Matrix product = from * read;
    EXPECT_NEAR(one.strength,
                std::sqrt(inner(product, product) / inner(from, from) / inner(read, read)), 1e-9);
  }
}

TEST(HeadWeights, WithTheNormFoldedInReadAStreamOfScaleOne) {
  Transformer model = random_model(small_config());
  ActivationCache activations;
  const Batch batch = random_batch(small_config(), 1, 1);
  model.forward(batch, {}, {.activations = &activations});
  const HeadWeights weights = head_weights(model, {1, 1});
  const Tensor& x = activations.residual[1];
  double average = 0, squares = 0;
  for (const Scalar value : x.values()) average += static_cast<double>(value) / 8;
  for (const Scalar value : x.values())
    squares += std::pow(static_cast<double>(value) - average, 2) / 8;
  const MultiHeadAttention& attention = *model.attention_layers()[1].attention;
  Tensor shift;
  model.visit([&](const std::string& name, const Tensor& parameter) {
    if (name == "blocks.1.ln1.b") shift = parameter;
  });
  for (Index d = 0; d < 4; ++d) {
    double folded = 0, bias = static_cast<double>(attention.Q.b.data()[4 + d]);
    for (Index c = 0; c < 8; ++c) {
      folded += static_cast<double>(x.data()[c] * weights.Q.data()[c * 4 + d]);
      bias += static_cast<double>(shift.data()[c] * attention.Q.W.data()[c * 8 + 4 + d]);
    }
    EXPECT_NEAR(static_cast<double>(activations.attention[1].q.data()[4 + d]),
                folded / std::sqrt(squares + 1e-5) + bias, 100 * kEpsilon);
  }
}

/// Products of the queries and keys of a pass, divided by the scales of what they read.
TEST(TokenCircuits, RotaryPositionsDependOnTheDistance) {
  const Transformer model = random_model(small_config("layers=1 block=llama"));
  const Batch batch = random_batch(model.config(), 1, 6);
  ActivationCache activations;
  NormScales scales;
  model.forward(batch, {.norms = &scales}, {.activations = &activations});
  const AttentionActivations& found = activations.attention[0];
  for (Index t = 0; t < 6; ++t) {
    for (Index s = 0; s <= t; ++s) {
      const Tensor qk = token_circuits(model, {0, 1}, t - s).qk;
      double product = 0;
      for (Index d = 4; d < 8; ++d)  // head 1
        product += static_cast<double>(found.q.data()[t * 8 + d] * found.k.data()[s * 8 + d]);
      const Tensor& scale = scales.deviations[0];
      const double whole = product * static_cast<double>(scale.data()[t] * scale.data()[s]) / 2;
      EXPECT_NEAR(qk.data()[batch.token(0, t) * 7 + batch.token(0, s)], whole, 1e-5);
    }
  }
  TransformerConfig vectors = small_config();
  vectors.features = 3;
  expect_error([&] { find_circuits(random_model(vectors)); }, {"reads vectors", "vocabulary"});
  expect_error([&] { token_circuits(model, {0, 0}, 6); }, {"distances from 0 to 5"});
  expect_error(
      [] {
        token_circuits(random_model(small_config()), {0, 0}, 1);
      },
      {"only rotary positions"});
}

/// (I - 1 1^T / C) diag(gain) W, element by element.
std::vector<double> behind_norm(const Tensor& gain, const Tensor& W) {
  const Index C = W.size(0), D = W.size(1);
  std::vector<double> all = numbers(W);
  for (Index d = 0; d < D; ++d) {
    double mean = 0;
    for (Index c = 0; c < C; ++c) {
      all[c * D + d] *= static_cast<double>(gain.data()[c]);
      mean += all[c * D + d] / static_cast<double>(C);
    }
    for (Index c = 0; c < C; ++c) all[c * D + d] -= mean;
  }
  return all;
}

TEST(Circuits, CopyingScoreOfALargeVocabularyEqualsThatOfTheFullMatrix) {
  const Transformer model = random_model(small_config("layers=1 vocab=5000"));
  const HeadId head = all_heads(model)[1];
  const HeadWeights weights = head_weights(model, head);
  const std::vector<double> folded = behind_norm(model.final_norm().w, model.unembedding().W);
  const Matrix U(weights.O.size(1), 5000, [&](Index c, Index v) { return folded[c * 5000 + v]; });
  double sum = 0, sizes = 0;
  for (const Complex& value :
       eigenvalues(Matrix(weights.O) * U * (Matrix(model.embedding()) * Matrix(weights.V))))
    sum += value.real(), sizes += std::abs(value);
  EXPECT_NEAR(find_circuits(model, {.draws = 1}).heads[1].copying[0], sum / sizes, 1e-4);
  expect_error([&] { token_circuits(model, head); }, {"5000 tokens", "at most 4096 fit"});
}

TEST(Circuits, CrossAttentionReadsQueriesFromTheDecoderAndKeysFromTheEncoder) {
  const Transformer model = random_model(small_encoder_decoder());
  const HeadId cross{2, 1};  // attention layers: the encoder's, the decoder's own, across
  const HeadWeights plain = plain_weights(model, cross), weights = head_weights(model, cross);
  auto gain = [&, found = Tensor()](const std::string& name) mutable {
    model.visit([&](const std::string& n, const Tensor& p) { found = n == name ? p : found; });
    return found;
  };
  expect_near(numbers(weights.Q), behind_norm(gain("decoder.blocks.0.ln_cross.w"), plain.Q),
              100 * kEpsilon);
  expect_near(numbers(weights.K), behind_norm(gain("encoder.ln_final.w"), plain.K), 100 * kEpsilon);
  expect_near(numbers(weights.V), behind_norm(gain("encoder.ln_final.w"), plain.V), 100 * kEpsilon);
  EXPECT_TRUE(token_circuits(model, cross).ov.defined());
  EXPECT_FALSE(token_circuits(model, {0, 0}).ov.defined());
}

TEST(Composition, HeadsWithoutOutputHaveNoComposition) {
  Transformer model = random_model(small_config("heads=2"));
  model.visit([](const std::string&, const Tensor& p) { std::fill_n(p.data(), p.count(), 0); });
  for (const Composition& one : find_circuits(model, {.draws = 1}).compositions)
    EXPECT_EQ(one.strength, 0);
  expect_error([&] { find_circuits(model, {.draws = 0}); }, {"one random pair or more, got 0"});
}

TEST(Circuits, EncoderDecoderHeadsComposeWithinEachStream) {
  const CircuitsReport report = find_circuits(random_model(small_encoder_decoder()), {.draws = 10});
  std::set<std::string> kinds;  // "FROM TO KIND" of attention layers
  for (const Composition& one : report.compositions)
    kinds.insert(text(one.from.attention_layer, " ", one.to.attention_layer, " ", one.kind));
  // Attention layers 0: the encoder; 1 and 3: the decoder's own; 2 and 4: across.
  for (const char* there : {"0 2 K", "0 2 V", "0 4 K", "1 2 Q", "1 3 Q", "1 3 K", "2 3 V", "2 4 Q"})
    EXPECT_EQ(kinds.count(there), 1u) << there;
  for (const char* none : {"0 1 Q", "0 1 K", "0 2 Q", "1 2 K", "1 2 V", "2 4 V", "0 3 V"})
    EXPECT_EQ(kinds.count(none), 0u) << none;
  EXPECT_TRUE(report.heads[0].copying.empty()) << "the encoder writes to no logit";
  EXPECT_FALSE(report.heads[2].copying.empty());
}

/// With W_K = W_Q the scores between tokens are positive semidefinite; with W_K = -W_Q negative.
TEST(Circuits, MatchingIsOneIfQueriesAndKeysAreEqualAndMinusOneIfTheyAreOpposite) {
  for (const double sign : {1.0, -1.0}) {
    Transformer model = random_model(small_config("norm=none"));
    const MultiHeadAttention& a = model.attention(0);
    for (Index i = 0; i < a.Q.W.count(); ++i) {
      a.K.W.data()[i] = static_cast<Scalar>(sign) * a.Q.W.data()[i];
    }
    EXPECT_NEAR(find_circuits(model, {.draws = 10}).heads[0].matching, sign, 1e-6);
  }
}

TEST(Circuits, SkipTrigramsAreTheLargestProductsOverAllTokens) {
  const Transformer model = random_model(small_config("targets=2"));
  const HeadId head{1, 1};
  const TokenCircuits circuits = token_circuits(model, head);
  const Index V = 7;
  const auto above = [&](const Tensor& m, Index i, Index first, Index j) {
    double mean = 0;
    const Scalar* row = m.data() + i * m.size(1) + first;
    for (Index v = 0; v < V; ++v) mean += static_cast<double>(row[v]) / static_cast<double>(V);
    return static_cast<double>(row[j]) - mean;
  };
  for (Index k = 0; k < 2; ++k) {
    double largest = 0;
    for (Index s = 0; s < V; ++s) {
      for (Index d = 0; d < V; ++d) {
        for (Index o = 0; o < V; ++o) {
          const double qk = above(circuits.qk, d, 0, s), ov = above(circuits.ov, s, k * V, o);
          if (qk > 0 && ov > 0) largest = std::max(largest, qk * ov);
        }
      }
    }
    std::vector<SkipTrigram> found = skip_trigrams(model, head);
    std::erase_if(found, [&](const SkipTrigram& one) { return one.target != k; });
    ASSERT_FALSE(found.empty());
    EXPECT_LE(found.size(), 5u);
    EXPECT_NEAR(found[0].qk * found[0].ov, largest, 1e-6);
    EXPECT_NEAR(found[0].qk, above(circuits.qk, found[0].destination, 0, found[0].source), 1e-6);
  }
}

/// 50 random pairs cannot show a p below 1 / 51.
TEST(Circuits, CompositionsAreCorrectedOverAllPairs) {
  const CircuitsReport report =
      find_circuits(random_model(small_config("layers=3")), {.draws = 50});
  std::vector<double> p;
  for (const Composition& one : report.compositions) {
    EXPECT_NEAR(one.p, (1 + 50 * (1 - one.percentile / 100)) / 51, 1e-12);
    EXPECT_GE(one.p_holm, one.p);
    p.push_back(one.p);
  }
  const auto least = std::ranges::min_element(p) - p.begin();
  EXPECT_NEAR(report.compositions[static_cast<std::size_t>(least)].p_holm,
              std::min(1.0, p[static_cast<std::size_t>(least)] * static_cast<double>(p.size())),
              1e-9);
}

}  // namespace
}  // namespace headlab
