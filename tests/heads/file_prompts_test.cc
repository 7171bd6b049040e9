// Quantities of the lines of a file: means, intervals and single values from logits that the test
// computes, in eval's reading, the lens, attribution, patching and attention knockout.
#include "headlab/lab/heads/causes/file_prompts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "headlab/core/base/files.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/lab/data/lab_tasks.h"
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/heads/causes/lens.h"
#include "headlab/lab/heads/causes/node_patching.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "support/errors.h"
#include "support/folders.h"
#include "support/models.h"

namespace headlab { namespace {

constexpr Index kLines = 60, kLength = 4, kVocab = 6, kTargets = 2;

/// Returns the word after `word` among the six.
std::string next_word(const std::string& word) {
  return std::string(1, static_cast<char>('a' + (word[0] - 'a' + 1) % kVocab));
}

/// A random model and 60 lines. Each asks at its last position for the first and the second token;
/// every third line names no other answer, and every fourth no corrupted tokens.
class NamedLines : public testing::Test {
 protected:
  /// Writes the lines, with the keys that are wanted, and opens them as a task.
  std::unique_ptr<Task> lines(bool against, bool corrupted) {
    Generator random(Key{5});
    std::string all =
        R"({"header":{"vocabulary":["a","b","c","d","e","f"],"targets":["first","second"],"length":4,"relations":[{"name":"begin"}]}})"
        "\n";
    for (Index i = 0; i < kLines; ++i) {
      std::vector<std::string> words;
      for (Index t = 0; t < kLength; ++t) {
        words.emplace_back(1, static_cast<char>('a' + random.below(kVocab)));
      }
      Json line = Json::object({{"tokens", words}});
      line["targets"] = Json::Array{Json(), Json(), Json(), Json::Array{words[0], words[1]}};
      line["truth"] = Json::object({{"begin", Json::object({{"3", Json::Array{0}}})}});
      if (against && i % 3 != 2) {
        line["against"] =
            Json::Array{Json(), Json(), Json(), Json::Array{next_word(words[0]), Json()}};
      }
      words[0] = next_word(words[0]);
      if (corrupted && i % 4 != 3) line["corrupted"] = words;
      all += line.dump() + "\n";
    }
    const std::string path = (folder_.path() / "lines.jsonl").string();
    write_file(path, all);
    return make_task("file:train=" + path + ",held_out=" + path + ",test=" + path);
  }

  static Transformer model_of(const Task& task) {
    TransformerConfig config = small_config("");
    config.shape() = task.shape();
    return random_model(config);
  }

  /// Returns the logits of target `first` at the last position of each example.
  static std::vector<std::vector<double>> last_logits(const Transformer& model,
                                                      const Batch& batch) {
    const NoGrad no_grad;
    const Tensor logits = model.forward(batch);
    std::vector<std::vector<double>> all;
    for (Index b = 0; b < batch.size; ++b) {
      const Scalar* row = logits.data() + (b * kLength + kLength - 1) * kTargets * kVocab;
      all.emplace_back(row, row + kVocab);
    }
    return all;
  }

  /// Returns the differences of the lines that name another answer, computed from the tokens.
  static std::vector<double> differences(const Transformer& model, const Batch& batch) {
    const auto logits = last_logits(model, batch);
    std::vector<double> all;
    for (Index b = 0; b < batch.size; ++b) {
      if (b % 3 == 2) continue;
      const auto first = static_cast<std::size_t>(batch.token(b, 0));
      const std::vector<double>& x = logits[static_cast<std::size_t>(b)];
      all.push_back(x[first] - x[(first + 1) % kVocab]);
    }
    return all;
  }

  static double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(NamedLines, MeansAndRowsAreThoseOfTheLogits) {
  const auto task = lines(true, false);
  const Transformer model = model_of(*task);
  const Batch batch = held_out_examples(*task, kLines).batch;
  const std::vector<double> values = differences(model, batch);
  const AgainstReport report = read_against(model, *task, {});
  ASSERT_EQ(report.means.size(), 1U) << "no line names an answer for the second target";
  const AgainstMeans& found = report.means[0];
  EXPECT_EQ(found.target, "first");
  EXPECT_NEAR(found.difference.change, mean(values), 1e-5);
  EXPECT_EQ(found.difference.examples, 40);
  const double above = double(std::ranges::count_if(values, [](double x) { return x > 0; }));
  EXPECT_NEAR(*found.above.value(), above / 40, 1e-12);
  ASSERT_EQ(report.rows.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const AgainstRow& row = report.rows[i];
    EXPECT_NEAR(row.difference, values[i], 1e-5);
    EXPECT_EQ(row.line, row.example + 2) << "the header is line 1";
    EXPECT_EQ(row.position, kLength - 1);
    EXPECT_EQ(row.against, next_word(row.answer));
  }
}

/// The interval of a mean of 40 values of 60 examples: a ratio whose denominator varies (Cochran
/// 1977, chapter 6), with Hall's correction of skew, which is small here.
TEST_F(NamedLines, IntervalIsThatOfAMeanOverExamples) {
  const auto task = lines(true, false);
  const Transformer model = model_of(*task);
  const std::vector<double> values = differences(model, held_out_examples(*task, kLines).batch);
  const PairedChange found = read_against(model, *task, {}).means[0].difference;
  double squares = 0;
  for (const double value : values) squares += std::pow(value - mean(values), 2);
  const double error = std::sqrt(squares * kLines / (kLines - 1.0)) / double(values.size());
  const double wider = 1 + std::abs(found.skew);
  EXPECT_NEAR((found.high - found.low) / 2, 1.96 * error * wider, 0.1 * error);
}

TEST_F(NamedLines, LensEndsWithTheMeanOfTheModel) {
  const auto task = lines(true, false);
  const Transformer model = model_of(*task);
  const LensReport report = read_lens(model, *task);
  const AgainstReport whole = read_against(model, *task, {});
  ASSERT_EQ(report.against.means.size(), report.places.size());
  EXPECT_EQ(report.against.means.back().place, report.places.back().name);
  EXPECT_NEAR(report.against.means.back().difference.change, whole.means[0].difference.change,
              1e-5);
  EXPECT_EQ(report.against.rows.size(), report.places.size() * whole.rows.size());
}

TEST_F(NamedLines, ContributionsSumToTheMeanOfTheModel) {
  const auto task = lines(true, false);
  const Transformer model = model_of(*task);
  const AttributionReport report = attribute_logits(model, *task);
  const AgainstReport whole = read_against(model, *task, {});
  EXPECT_NEAR(report.logits[0], whole.means[0].difference.change, 1e-4);
  EXPECT_EQ(report.counts, (std::vector<Index>{40, 0}));
  const Table rows = attributed_examples(model, *task);
  double first = 0;
  for (std::size_t p = 0; p < report.parts.size(); ++p) first += rows.rows[p].back().number();
  EXPECT_NEAR(first, whole.rows[0].difference, 1e-4);
  EXPECT_EQ(rows.rows[0][1], Json(2)) << "line";
}

TEST_F(NamedLines, PairsAreLinesWithTheirCorruptedTokens) {
  const auto task = lines(true, true);
  const Transformer model = model_of(*task);
  const PatchPairs pairs = held_out_pairs(*task, 20);
  EXPECT_EQ(pairs.clean.size, 20);
  EXPECT_EQ(pairs.held_out, 20);
  double clean = 0, corrupted = 0, count = 0;
  const auto clean_logits = last_logits(model, pairs.clean);
  const auto corrupted_logits = last_logits(model, pairs.corrupted);
  for (Index i = 0; i < 20; ++i) {
    const Index example = pairs.examples[static_cast<std::size_t>(i)];
    EXPECT_EQ(example, i / 3 * 4 + i % 3) << "every fourth line has none";
    const auto first = static_cast<std::size_t>(pairs.clean.token(i, 0));
    const std::size_t other = (first + 1) % kVocab;
    EXPECT_EQ(pairs.corrupted.token(i, 0), std::int32_t(other));
    if (example % 3 == 2) continue;
    const auto at = static_cast<std::size_t>(i);
    clean += clean_logits[at][first] - clean_logits[at][other];
    corrupted += corrupted_logits[at][first] - corrupted_logits[at][other];
    ++count;
  }
  const PatchReport report = patch_activations(model, pairs);
  EXPECT_EQ(report.targets, Index(count));
  EXPECT_NEAR(report.clean, clean / count, 1e-5);
  EXPECT_NEAR(report.corrupted, corrupted / count, 1e-5);
  EXPECT_NE(pairs.said.find("20 lines (clean)"), std::string::npos) << pairs.said;
}

TEST_F(NamedLines, SinglePairsHaveTheMeansOfTheReport) {
  const auto task = lines(true, true);
  const Transformer model = model_of(*task);
  const PatchPairs pairs = held_out_pairs(*task, kLines);
  const PatchReport report = patch_activations(model, pairs);
  const Table rows = patched_pairs(model, *task, pairs);
  const std::size_t each = rows.rows.size() / report.heads.size();
  EXPECT_EQ(each, 30U) << "45 lines have corrupted tokens, 15 of them no other answer";
  double clean = 0, patched = 0;
  for (std::size_t i = 0; i < each; ++i) {
    const Json::Array& row = rows.rows[i];
    EXPECT_EQ(row[1], Json(row[0].integer() + 2)) << "line";
    clean += row[3].number() / double(each);
    patched += row[5].number() / double(each);
  }
  EXPECT_NEAR(clean, report.clean, 1e-5);
  const double restored = (patched - report.corrupted) / (report.clean - report.corrupted);
  EXPECT_NEAR(restored, report.heads[0].restored, 1e-4);
}

TEST_F(NamedLines, WithoutOtherAnswersTheQuantityIsALogProbability) {
  const auto task = lines(false, true);
  const Transformer model = model_of(*task);
  const PatchPairs pairs = held_out_pairs(*task, 10);
  EXPECT_STREQ(pairs.quantity(), "log-probability");
  EXPECT_EQ(pairs.contrasts.size(), 20U);
  double sum = 0;
  const auto logits = last_logits(model, pairs.clean);
  for (Index i = 0; i < 10; ++i) {
    const std::vector<double>& x = logits[static_cast<std::size_t>(i)];
    double total = 0;
    for (const double one : x) total += std::exp(one);
    sum += x[static_cast<std::size_t>(pairs.clean.token(i, 0))] - std::log(total);
  }
  double of_first = 0;
  const NoGrad no_grad;
  const Tensor found = model.forward(pairs.clean);
  for (std::size_t i = 0; i < pairs.contrasts.size(); i += 2) {
    of_first += value_at(found, kVocab, pairs.contrasts[i]);
  }
  EXPECT_NEAR(of_first, sum, 1e-4);
}

TEST_F(NamedLines, OtherAnswersAreMeasuredOnPairsOfExamplesToo) {
  const auto task = lines(true, false);
  const PatchPairs pairs = held_out_pairs(*task, 10);
  EXPECT_EQ(pairs.held_out, 20);
  EXPECT_EQ(pairs.contrasts.size(), 7U) << "examples 2, 5 and 8 name none";
  EXPECT_NE(pairs.said.find(kAgainstQuantity), std::string::npos) << pairs.said;
}

TEST_F(NamedLines, KnockoutChangesTheDifferences) {
  const auto task = lines(true, false);
  const Transformer model = model_of(*task);
  const EdgeReport report = test_truth_edges(model, *task, {.examples = kLines, .draws = 2});
  const AgainstReport whole = read_against(model, *task, {});
  for (const EdgeTest& test : report.relations[0].tests) {
    ASSERT_TRUE(test.against.has_value());
    EXPECT_NEAR(test.against->whole.change, whole.means[0].difference.change, 1e-5);
    double change = 0;
    for (std::size_t i = 0; i < test.against->rows.size(); ++i) {
      change += test.against->masked[i] - test.against->rows[i].difference;
    }
    EXPECT_NEAR(test.against->truth.change, change / 40, 1e-6);
    EXPECT_NE(test.against->truth.change, 0);
  }
  EXPECT_EQ(result_of(report).tables.size(), 2U);
  EXPECT_EQ(single_edges_against(report).rows.size(), 40 * report.relations[0].tests.size());
}

TEST_F(NamedLines, LinesThatNameNothingChangeNoResult) {
  const auto task = lines(false, false);
  const Transformer model = model_of(*task);
  EXPECT_TRUE(read_against(model, *task, {}).rows.empty());
  EXPECT_EQ(result_of(read_lens(model, *task)).tables.size(), 3U);
  EXPECT_EQ(attribute_logits(model, *task).quantity, "");
  EXPECT_TRUE(held_out_pairs(*task, 10).contrasts.empty());
  expect_error([&] { with_rows(single_against_table({}, false)); },
               {"cannot show single_against", "'against'"});
}

}}  // namespace headlab
