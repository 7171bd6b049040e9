// Every attention function: values computed with NumPy from the formulas
// (tests/golden/make_attention_functions.py), interventions, dropout, the cache, removal of heads,
// and the row of a program's own. Rows come from the table, so that a new one is tested by being
// there.
#include "headlab/core/nn/attention_functions.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "headlab/core/base/files.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/threads.h"
#include "headlab/core/nn/attention.h"
#include "headlab/core/ops/ops.h"
#include "support/tensors.h"

namespace headlab { namespace {

/// A row of a program's own: all keys that a query sees have the same weight, 1 / S.
Tensor equal_attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options,
                       Tensor* pattern) {
  const Tensor scores = attention_scores(q, k, options);  // [B, H, T, S]
  const Tensor visible = exp(scores - scores.clone());    // 1, or NaN where both are -inf
  Tensor weights = visible.clone();
  for (Scalar& weight : weights.values()) {
    weight = std::isnan(weight) ? 0 : 1 / static_cast<Scalar>(scores.size(3));
  }
  return weighted_values(weights, v, options, pattern);
}

const bool kOwnRowIsThere = [] {
  own_attention_functions().push_back(
      {"equal", "1 / S", false, AfterMask::unchanged, 1, equal_attention});
  return true;
}();

std::vector<AttentionFunction> all_functions() {
  std::vector<AttentionFunction> all;
  for (std::size_t i = 0; i < attention_functions().size(); ++i) {
    all.push_back(static_cast<AttentionFunction>(i));
  }
  return all;
}

AttentionFunction named_function(const std::string& name) {
  for (const AttentionFunction function : all_functions()) {
    if (kind_of(function).name == name) {
      return function;
    }
  }
  throw Error("no such function: " + name);
}

Tensor tensor_of(const Json& values, const Shape& shape) {
  Tensor tensor = Tensor::empty(shape);
  for (Index i = 0; i < tensor.count(); ++i) {
    tensor.data()[i] = static_cast<Scalar>(values.items()[i].number());
  }
  return tensor;
}

AttentionOptions options_of(const Json& json) {
  AttentionOptions options;
  options.heads = 4;
  options.kv_head = {0, 0, 1, 1};
  options.mask.causal = json.at("causal") == Json(true);
  options.mask.window = json.at("window").integer();
  for (const Json& length : json.at("lengths").items()) {
    options.mask.lengths.push_back(static_cast<std::int32_t>(length.integer()));
  }
  const PositionKind& alibi = kind_of(Positions::alibi);
  for (Index head = 0; head < 4 && json.at("alibi") == Json(true); ++head) {
    options.slopes.push_back(static_cast<Scalar>(alibi.slope(head, 4)));
  }
  return options;
}

TEST(AttentionFunctions, GiveTheValuesOfTheirFormulasInNumPy) {
  const std::filesystem::path path = HEADLAB_SOURCE_DIR "/tests/golden/attention_functions.json";
  const Json golden = Json::parse(read_file(path), path.string());
  for (const Json& json : golden.at("cases").items()) {
    const Tensor q = tensor_of(json.at("q"), {2, 6, 12});
    const Tensor k = tensor_of(json.at("k"), {2, 6, 6});
    const Tensor v = tensor_of(json.at("v"), {2, 6, 4});
    for (const auto& [name, expected] : json.at("functions").members()) {
      SCOPED_TRACE(json.at("name").string() + ", " + name);
      Tensor pattern;
      const AttentionOptions options = options_of(json);
      const auto attend = form_of(named_function(name));
      const Tensor z = attend(q, k, v, options, &pattern);
      expect_near(pattern, tensor_of(expected.at("pattern"), {2, 4, 6, 6}), 3e-6);
      expect_near(z, tensor_of(expected.at("z"), {2, 6, 8}), 6e-6);
    }
  }
}

struct Inputs {
  Tensor q = random_leaf({2, 7, 12}, Key{1}, -2, 2);
  Tensor k = random_leaf({2, 7, 6}, Key{2}, -2, 2);
  Tensor v = random_leaf({2, 7, 4}, Key{3}, -2, 2);
};

/// Computes a function by the form that a layer would choose.
Tensor attend(AttentionFunction function, const Inputs& x, const AttentionOptions& options,
              Tensor* pattern = nullptr) {
  return form_of(function)(x.q, x.k, x.v, options, pattern);
}

AttentionOptions small_options() {
  AttentionOptions options;
  options.heads = 4;
  options.kv_head = {0, 0, 1, 1};
  options.mask.causal = true;
  return options;
}

TEST(AttentionFunctions, SoftmaxIsTheFusedOpWithTheSameBits) {
  const Inputs x;
  EXPECT_EQ(numbers(attend(AttentionFunction::softmax, x, small_options())),
            numbers(attention(x.q, x.k, x.v, small_options())));
}

TEST(AttentionFunctions, SayWhetherTheirRowsSumToOne) {
  const Inputs x;
  for (const AttentionFunction function : all_functions()) {
    SCOPED_TRACE(kind_of(function).name);
    Tensor pattern;
    attend(function, x, small_options(), &pattern);
    const std::vector<double> sums = numbers(sum(pattern, -1));
    const double off = std::abs(std::ranges::max(sums) - 1) + std::abs(std::ranges::min(sums) - 1);
    EXPECT_EQ(off < 1e-5, kind_of(function).normalises);
  }
}

TEST(AttentionFunctions, MaskedEdgesHaveWeightZeroAndQueriesThatSeeNothingGiveZero) {
  const Inputs x;
  AttentionOptions options = small_options();
  options.masked_edges.assign(2 * 4 * 7 * 7, 0);
  for (std::size_t s = 0; s < 7; ++s) {
    options.masked_edges[(0 * 7 + 3) * 7 + s] = 1;  // all keys of b 0, head 0, query 3
  }
  options.masked_edges[(1 * 7 + 5) * 7 + 2] = 1;  // one key of b 0, head 1, query 5
  for (const AttentionFunction function : all_functions()) {
    SCOPED_TRACE(kind_of(function).name);
    Tensor before;
    Tensor after;
    attend(function, x, small_options(), &before);
    const Tensor z = attend(function, x, options, &after);
    EXPECT_EQ(after.data()[(1 * 7 + 5) * 7 + 2], 0);
    for (Index i = 0; i < 2; ++i) {
      EXPECT_EQ(z.data()[3 * 8 + i], 0);  // query 3, head 0
    }
    backward(z, Tensor::full(z.shape(), 1));
    for (const Tensor& input : {x.q, x.k, x.v}) {
      if (input.grad().defined()) {
        EXPECT_TRUE(
            std::ranges::all_of(numbers(input.grad()), [](double g) { return g - g == 0; }));
      }
    }
    if (function == AttentionFunction::sigmoid) {  // the other weights of the row stay
      EXPECT_EQ(after.data()[(1 * 7 + 5) * 7 + 1], before.data()[(1 * 7 + 5) * 7 + 1]);
    }
  }
}

TEST(AttentionFunctions, LargeScoresGiveFiniteWeights) {
  const Tensor q = Tensor::full({1, 2, 1}, 200);
  const Tensor k = Tensor::of({1, 2, 1}, {200, -200});
  for (const AttentionFunction function : all_functions()) {
    Tensor pattern;
    attend(function, Inputs{q, k, k}, {}, &pattern);
    for (const double weight : numbers(pattern)) {
      EXPECT_TRUE(0 <= weight && weight <= 1) << kind_of(function).name << " " << weight;
    }
  }
}

TEST(AttentionFunctions, DropTheWeightsThatTheKeyNames) {
  const Inputs x;
  AttentionOptions options = small_options();
  options.dropout = Scalar(0.4);
  options.key = Key{9};
  options.original_heads = {0, 1, 2, 3};
  AttentionOptions others = options;  // heads 2 and 3 are known as 4 and 5: they drop other weights
  others.original_heads = {0, 1, 4, 5};
  for (const AttentionFunction function : all_functions()) {
    SCOPED_TRACE(kind_of(function).name);
    Tensor plain;
    Tensor dropped;
    attend(function, x, small_options(), &plain);
    const Tensor z = attend(function, x, options, &dropped);
    expect_near(plain, dropped, 0);
    const Tensor other = attend(function, x, others);
    expect_near(slice(z, 2, 0, 4), slice(other, 2, 0, 4), 0);
    EXPECT_NE(numbers(slice(z, 2, 4, 8)), numbers(slice(other, 2, 4, 8)));
  }
}

TEST(AttentionFunctions, ThreadsChangeNoBit) {
  const int threads = thread_count();
  for (const AttentionFunction function : all_functions()) {
    std::vector<std::vector<double>> results[2];
    for (const int count : {1, 3}) {
      set_thread_count(count);
      const Inputs x;
      AttentionOptions options = small_options();
      options.slopes = {Scalar(0.5), Scalar(0.25), Scalar(0.125), Scalar(0.0625)};
      const Tensor z = attend(function, x, options);
      backward(z, random_tensor(z.shape(), Key{4}));
      results[count == 3] = {numbers(z), numbers(x.v.grad())};
      if (x.q.grad().defined()) {
        results[count == 3].push_back(numbers(x.q.grad()));
      }
    }
    EXPECT_EQ(results[0], results[1]) << kind_of(function).name;
  }
  set_thread_count(threads);
}

TEST(AttentionFunctions, AreReadFromTheTableWithTheRowsOfAProgram) {
  EXPECT_TRUE(kOwnRowIsThere);
  EXPECT_STREQ(attention_functions().back().name, "equal");
  EXPECT_STREQ(kind_of(AttentionFunction::softmax_one).name, "softmax_one");
  const Inputs x;
  const Tensor ones = Tensor::full({2, 7, 4}, 1);
  const Tensor z = attend(named_function("equal"), Inputs{x.q, x.k, ones}, small_options());
  for (Index t = 0; t < 7; ++t) {  // query t sees t + 1 of 7 keys
    EXPECT_NEAR(z.data()[t * 8], static_cast<double>(t + 1) / 7, 4 * kEpsilon);
  }
}

TEST(Alibi, SlopesFollowTheOriginalNumberOfHeads) {
  const PositionKind& alibi = kind_of(Positions::alibi);
  EXPECT_DOUBLE_EQ(alibi.slope(0, 8), 0.5);
  EXPECT_DOUBLE_EQ(alibi.slope(7, 8), 1.0 / 256);
  EXPECT_DOUBLE_EQ(alibi.slope(0, 4), 0.25);
}

TEST(Alibi, NeedsASlopeForEachHead) {
  const Inputs x;
  AttentionOptions options = small_options();
  options.slopes = {1};
  expect_error([&] { attention(x.q, x.k, x.v, options); }, {"slopes needs 4", "got 1"});
  expect_error([&] { attention_composed(x.q, x.k, x.v, options); }, {"slopes needs 4", "got 1"});
}

}  // namespace
}  // namespace headlab
