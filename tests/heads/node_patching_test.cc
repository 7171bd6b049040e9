// Patching of nodes: sums and identities that hold for every model, a circuit built by hand, and
// the estimates against effects of a small change.
#include "headlab/lab/heads/causes/node_patching.h"

#include "headlab/core/base/files.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/patching.h"
#include "lab/heads/causes/node_values.h"
#include "support/errors.h"
#include "support/folders.h"
#include "support/induction_pair.h"
#include "support/models.h"

namespace headlab { namespace {

const PatchedNode& node_of(const PatchDirection& all, PatchNode kind, const HeadId& head) {
  return *std::ranges::find_if(all.nodes, [&](const PatchedNode& node) {
    return node.kind == kind && node.head == head;
  });
}

class NodesOf : public testing::TestWithParam<TransformerConfig> {
 protected:
  Transformer model_ = random_model(GetParam());
  Batch clean_ = random_batch(GetParam(), 3, 5);
  Batch corrupted_ = random_batch(GetParam(), 3, 5, 0.2, Key{8});
};

TEST_P(NodesOf, OutputsAndStreamsEqualPatchedActivations) {
  const PatchReport report = patch_activations(model_, clean_, corrupted_);
  const PatchDirection nodes = patch_nodes(model_, clean_, corrupted_, true);
  EXPECT_NEAR(nodes.base, report.corrupted, 1e-6);
  EXPECT_NEAR(nodes.donor, report.clean, 1e-6);
  for (const PatchReport::Head& head : report.heads) {
    EXPECT_NEAR(node_of(nodes, PatchNode::output, head.head).effect.mean, head.restored, 1e-4);
  }
  std::vector<double> streams;
  for (const std::vector<double>& row : report.residual) {
    streams.insert(streams.end(), row.begin(), row.end());
  }
  std::vector<double> found;
  for (const PatchedNode& node : nodes.nodes) {
    if (node.kind == PatchNode::stream) found.push_back(node.effect.mean);
  }
  expect_near(found, streams, 1e-4);
}

/// Without a change, the outputs computed for patched nodes are those of the model.
TEST_P(NodesOf, UnchangedInputsGiveTheOutputsOfTheModel) {
  const Activations activations(model_, clean_);
  const std::vector<AttentionLayer> attention_layers = model_.attention_layers();
  for (std::size_t m = 0; m < attention_layers.size(); ++m) {
    const AttentionActivations& own = activations.cache().attention[m];
    const HeadInputs inputs = head_inputs(*attention_layers[m].attention, own);
    expect_near(attend(attention_layers[m], inputs, clean_), own.z, 1e-5);
    expect_near(attend_with(attention_layers[m], own.pattern, inputs.v), own.z, 1e-5);
  }
}

/// Breaking is restoring with the two inputs exchanged.
TEST_P(NodesOf, BreakingIsRestoringWithTheInputsExchanged) {
  const PatchDirection a = patch_nodes(model_, clean_, corrupted_, false);
  const PatchDirection b = patch_nodes(model_, corrupted_, clean_, true);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    EXPECT_NEAR(a.nodes[i].effect.mean, b.nodes[i].effect.mean, 1e-4);
    EXPECT_NEAR(a.nodes[i].estimate, b.nodes[i].estimate, 1e-4);
  }
}

/// Two tokens whose embeddings are almost the same: to first order the estimate is the effect.
TEST_P(NodesOf, EstimatesAreExactForSmallChanges) {
  const Index C = GetParam().d_model;
  if (GetParam().features > 0) return;
  Transformer copies = model_.clone();
  copies.visit([&](const std::string& name, const Tensor& W) {
    if (name != "embed.W_E") return;
    for (Index c = 0; c < C; ++c) {
      W.data()[C + c] = W.data()[c] * Scalar(1.004);
    }
  });
  Batch base = clean_;
  Batch donor = clean_;
  for (std::int32_t& token : base.tokens) token = 0;
  for (std::int32_t& token : donor.tokens) token = 1;
  for (std::int32_t& token : base.source) token = 0;
  for (std::int32_t& token : donor.source) token = 1;
  for (std::int32_t& target : base.targets) target = 2;
  for (std::int32_t& target : donor.targets) target = 3;
  const PatchDirection nodes = patch_nodes(copies, donor, base, true);
  double largest = 0;
  for (const PatchedNode& node : nodes.nodes) {
    largest = std::max(largest, std::abs(node.effect.mean));
  }
  for (const PatchedNode& node : nodes.nodes) {
    EXPECT_NEAR(node.estimate, node.effect.mean, 0.05 * std::max(1.0, largest))
        << name_of(node.kind) << " " << node.position;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, NodesOf,
                         testing::Values(small_config(), small_encoder(), small_encoder_decoder(),
                                         small_config("norm_place=post"),
                                         small_config("norm_place=parallel"),
                                         small_config("kv_heads=1 block=llama window=3+0"),
                                         small_config("positions=alibi"),
                                         small_config("attention_function=sigmoid"),
                                         small_config("attention_function=softmax_one")));

TEST(Nodes, InductionHeadCarriesTheAnswerByItsKeysAndValues) {
  const auto task = make_task(kInduction);
  const Transformer model = induction_pair(task->shape());
  const Batch clean = held_out_examples(*task, 40).batch;
  Batch corrupted = clean;
  for (std::int32_t& token : corrupted.tokens) token = (token + 1) % 9;
  for (std::int32_t& target : corrupted.targets) target = target < 0 ? -1 : (target + 1) % 9;
  const PatchDirection nodes = patch_nodes(model, clean, corrupted, true, true);
  const HeadId before{0, 0};
  const HeadId induction{1, 0};
  EXPECT_NEAR(node_of(nodes, PatchNode::output, induction).effect.mean, 1, 1e-4);
  EXPECT_NEAR(node_of(nodes, PatchNode::v, induction).effect.mean, 1, 1e-4)
      << "the pattern is the same, only the tokens differ";
  EXPECT_NEAR(node_of(nodes, PatchNode::pattern, induction).effect.mean, 0, 1e-4);
  double by_keys = -1;
  double by_values = -1;
  double direct = -1;
  for (const PatchedPath& path : nodes.paths) {
    if (path.from == before && path.to == induction && path.by == "k") by_keys = path.effect.mean;
    if (path.from == before && path.to == induction && path.by == "v") by_values = path.effect.mean;
    if (path.from == before && path.by == "logits") direct = path.effect.mean;
  }
  EXPECT_NEAR(direct, 0, 1e-4);
  EXPECT_NEAR(by_values, 0, 1e-4);
  const double whole = node_of(nodes, PatchNode::k, induction).effect.mean;
  EXPECT_NEAR(by_keys, whole, 1e-3) << "its keys depend on the previous-token head alone";
}

TEST(Nodes, OwnInputsOfDifferentLengthsAreRefused) {
  const auto task = make_task("relations:length=8,vocab=6,classes=3,relations=1+same");
  TransformerConfig config = small_config("");
  config.shape() = task->shape();
  const Transformer model = random_model(config);
  EXPECT_EQ(own_pair(model, *task, "a b c d", "b b c d").clean.length, 4);
  expect_error([&] { own_pair(model, *task, "a b c", "a b"); }, {"3 tokens", "same length"});
}

/// Returns the task of sequences whose last token answers are these, in the order of the file.
std::unique_ptr<Task> task_of_answers(const TemporaryFolder& folder,
                                      const std::vector<int>& answers) {
  std::string lines;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    lines += text(R"({"tokens":[)", i % 8, R"(,9],"targets":[null,)", answers[i], "]}\n");
  }
  const std::string path = (folder.path() / "lines.jsonl").string();
  write_file(path, lines);
  return make_task("file:train=" + path + ",held_out=" + path + ",test=" + path);
}

Index differing_pairs(const PatchPairs& pairs) {
  Index differing = 0;
  for (Index b = 0; b < pairs.clean.size; ++b) {
    differing += pairs.clean.target(b, 1) != pairs.corrupted.target(b, 1);
  }
  return differing;
}

TEST(Pairs, OfAPeriodicFileAskForDifferentAnswers) {
  const TemporaryFolder folder;
  const auto periodic = task_of_answers(folder, {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4});
  const PatchPairs pairs = held_out_pairs(*periodic, 64);
  EXPECT_EQ(pairs.clean.size, 8);
  EXPECT_EQ(differing_pairs(pairs), 8);
  EXPECT_EQ(pairs.corrupted.token(0, 0), 1);  // example 9, the first after 8 that differs
  EXPECT_EQ(pairs.said,
            "pairs: held-out example I (clean) and I + 8 (corrupted); for 8 of 8 another of 8 to "
            "15, so that the answers differ");
}

TEST(Pairs, ThatDifferStayInTheOrderOfTheFile) {
  const TemporaryFolder folder;
  const auto task = task_of_answers(folder, {1, 1, 2, 2, 3, 3, 4, 4});
  const PatchPairs pairs = held_out_pairs(*task, 64);
  EXPECT_EQ(pairs.said, "pairs: held-out example I (clean) and I + 4 (corrupted)");
  for (Index b = 0; b < 4; ++b) EXPECT_EQ(pairs.corrupted.token(b, 0), 4 + b);
}

/// No partner differs: the pairs are as they come, and patching says so.
TEST(Pairs, OfEqualAnswersKeepTheirPartners) {
  const TemporaryFolder folder;
  const auto task = task_of_answers(folder, {5, 5, 5, 5});
  const PatchPairs pairs = held_out_pairs(*task, 1);
  EXPECT_EQ(differing_pairs(pairs), 0);
  EXPECT_EQ(pairs.corrupted.token(0, 0), 1);
}

TEST(Pairs, OfTheUserNameTheAnswersOfTheModel) {
  const TemporaryFolder folder;
  const auto task = task_of_answers(folder, {1, 2, 3, 4, 5, 6, 7, 8});
  TransformerConfig config = small_config("");
  config.shape() = task->shape();
  const Transformer model = random_model(config);
  expect_error([&] { own_pair(model, *task, "1 9", "1 9"); },
               {"to both inputs at the last position", "answers differently"});
}

}  // namespace
}  // namespace headlab
