// Direct logit attribution: parts sum to logits, and in a circuit built by hand the head that says
// the answer has all of it.
#include "headlab/lab/heads/causes/attribution.h"

#include <cmath>
#include <map>
#include <numeric>

#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "heads/attribution_checks.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

TEST(Attribution, PartsSumToTheLogits) { expect_parts_sum_to_logits(1e-5); }

TEST(Attribution, NamesEveryPartOnce) {
  const Transformer model = random_model(small_config());
  const Attribution found = attribute_logits(model, random_batch(small_config(), 2, 5));
  const std::vector<std::string> expected = {
      "embedding",         "positions",    "0.0",        "0.1",
      "blocks.0.attn.b_O", "blocks.0.mlp", "1.0",        "1.1",
      "blocks.1.attn.b_O", "blocks.1.mlp", "ln_final.b", "unembed.b_U"};
  EXPECT_EQ(found.parts, expected);
  for (const char* settings : {"block=llama", "biases=off", "tied=true norm=rms"}) {
    const TransformerConfig config = small_config(settings);
    for (const std::string& part :
         attribute_logits(random_model(config), random_batch(config, 2, 5)).parts)
      EXPECT_TRUE(part.find(".b") == part.npos || (config.biases && part.ends_with(".b_O")))
          << settings << ": " << part;
  }
}

TEST(Attribution, EncoderDecoderReportsPartsOfTheDecoder) {
  const TransformerConfig config = small_encoder_decoder();
  const Attribution found = attribute_logits(random_model(config), random_batch(config, 2, 5));
  for (const char* part : {"1.0", "2.1", "decoder.blocks.0.cross_attn.b_O", "decoder.blocks.0.mlp"})
    EXPECT_EQ(std::ranges::count(found.parts, part), 1) << part;
  EXPECT_EQ(std::ranges::count(found.parts, "0.0"), 0) << "the encoder writes to no logit";
}

TEST(Attribution, GivesTheInductionHeadTheWholeAnswer) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const AttributionReport report = attribute_logits(model, *task, 40);
  ASSERT_EQ(report.logits.size(), 1u);
  EXPECT_GT(report.logits[0], 30);
  for (std::size_t p = 0; p < report.parts.size(); ++p) {
    const double expected = report.parts[p] == "1.0" ? report.logits[0] : 0;
    EXPECT_NEAR(report.shares[p][0], expected, 1e-3) << report.parts[p];
  }
  const Attribution found = attribute_logits(model, held_out_examples(*task, 40).batch);
  double sum = 0;
  for (const std::vector<double>& shares : found.shares)
    sum += std::accumulate(shares.begin(), shares.end(), 0.0);
  EXPECT_NEAR(report.logits[0], sum / static_cast<double>(found.rows.size()), 1e-3);
}

TEST(Attribution, RefusesPostNormModelsAndBatchesWithoutTargets) {
  TransformerConfig post = small_config("norm_place=post");
  expect_error([&] { attribute_logits(random_model(post), random_batch(post, 2, 5)); },
               {"post-norm", "cannot attribute logits"});
  const TransformerConfig one = small_config();
  expect_error([&] { attribute_logits(random_model(one), random_batch(one, 2, 5, 1.0)); },
               {"no targets"});
}

TEST(Attribution, SingleExamplesHaveTheMeansOfTheReportAndSumToTheirLogits) {
  const auto task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  TransformerConfig config = small_config("");
  config.shape() = task->shape();
  const Transformer model = random_model(config);
  const AttributionReport report = attribute_logits(model, *task, 70);
  const Table table = attributed_examples(model, *task, 70);
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> sums;  // by part, target
  for (const Json::Array& row : table.rows) {
    auto& [sum, count] = sums[{row[6].string(), row[3].string()}];
    sum += row[7].number();
    ++count;
  }
  for (std::size_t p = 0; p < report.parts.size(); ++p) {
    for (std::size_t k = 0; k < 2; ++k) {
      const auto& [sum, count] = sums[{report.parts[p], report.targets[k]}];
      EXPECT_NEAR(report.shares[p][k], sum / count, 1e-9);
      if (std::isnan(report.low[p][k])) continue;
      EXPECT_LT(report.low[p][k], report.shares[p][k]);
      EXPECT_GT(report.high[p][k], report.shares[p][k]);
    }
  }
  const Batch batch = held_out_examples(*task, 70).batch;
  const Tensor logits = model.forward(batch);
  const Json::Array& first = table.rows[0];
  const Index row = first[2].integer() * 2 + (first[3].string() == report.targets[0] ? 0 : 1);
  double mean = 0;
  double sum = 0;
  for (Index v = 0; v < 6; ++v) mean += static_cast<double>(logits.data()[row * 6 + v]) / 6;
  for (std::size_t p = 0; p < report.parts.size(); ++p) sum += table.rows[p][7].number();
  EXPECT_NEAR(sum, static_cast<double>(logits.data()[row * 6 + batch.targets[row]]) - mean, 1e-4);
}

}  // namespace
}  // namespace headlab
