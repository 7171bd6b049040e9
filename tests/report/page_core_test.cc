// The model in the page against the model of the program: every task, every kind of model, heads
// gated and replaced, edges hidden; and that the page notices when it computes something
// else. The page's half is tests/report/core_test.mjs, which runs under node; without node these
// tests are skipped. Read next: src/app/report/page/engine/page_data.js.
#include "report/page_core.h"

#include "headlab/core/ops/ops.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/scores/activations.h"
#include "support/tasks.h"

namespace headlab { namespace {

/// An attention function of a program's own, which no page knows: twice the weights of softmax.
Tensor doubled_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                         AttentionOptions options, Tensor* pattern) {
  const Tensor weights = softmax(attention_scores(q, k, options)) * 2;
  return weighted_values(weights, v, options, pattern);
}

/// A wiring of a program's own, which no page knows: the network reads the stream without a norm.
Tensor bare_block(const Block& block, Tensor x, const BlockPass& pass) {
  x = x + pass.attn(pass.norm(block.ln1, x));
  return block.has_mlp ? x + pass.mlp(x) : x;
}

const bool kOwnRowIsThere = [] {
  own_block_wirings().push_back({.name = "bare",
                                 .summary = "x + attn(norm(x)), x + mlp(x)",
                                 .stream = StreamKind::other,
                                 .forward = bare_block,
                                 .has_ln2 = false,
                                 .has_cross = false});
  own_attention_functions().push_back(
      {"doubled", "2 softmax", false, AfterMask::normalised, 5, doubled_attention});
  return true;
}();

RunConfig config_of(const std::string& task) {
  RunConfig config;
  config.task = task;
  config.model.layers = 2;
  config.model.heads = {2};
  config.model.d_model = 8;
  config.model.d_ff = 12;
  return config;
}

TEST_F(PageCore, ComputesTheModelOfEveryTask) {
  for (const TaskEntry& entry : complete_tasks()) {
    SCOPED_TRACE(entry.name);
    expect_same({random_run(config_of(entry.name)).path}, few_examples());
  }
}

TEST_F(PageCore, AgreesWithPyTorch) {
  const std::string tests = HEADLAB_SOURCE_DIR "/tests";
  std::string command = text("node ", HEADLAB_SOURCE_DIR, "/tests/report/core_golden_test.mjs");
  for (const char* name : {"decoder_llama", "decoder_local", "decoder_pre_gelu",
                           "encoder_post_relu", "encoder_decoder_pre", "encoder_decoder_post"})
    command += text(" ", tests, "/golden/", name, ".safetensors");
  const Told told = told_by(command);
  EXPECT_TRUE(told.well) << told.text;
}

constexpr const char* kRelations = "relations:length=8,vocab=6,classes=3,relations=1+same";

struct Variant {
  const char* name;
  void (*change)(TransformerConfig& model);
  const char* task = kRelations;
};

constexpr const char* kOneTarget = "duplicate:length=8";
constexpr const char* kTwoStacks = "reverse_cross";

const Variant kVariants[] = {
    {"tied", [](TransformerConfig& c) { c.tied = true; }, kOneTarget},
    {"wide values", [](TransformerConfig& c) { c.d_value = 5; }},
    {"narrow keys", [](TransformerConfig& c) { c.d_head = 3; }},
    {"one key block", [](TransformerConfig& c) { c.heads = {4}, c.kv_heads = 1; }},
    {"no feed-forward", [](TransformerConfig& c) { c.d_ff = 0; }},
    {"no layer", [](TransformerConfig& c) { c.layers = 0; }},
    {"three layers", [](TransformerConfig& c) { c.layers = 3; }},
    {"a layer without heads",
     [](TransformerConfig& c) {
       c.heads = {2, 0};
     }},
    {"lost heads",
     [](TransformerConfig& c) {
       c.heads = {4}, c.kv_heads = 2;
       c.attention = {{"blocks.0.attn", {1, 3}}, {"blocks.1.attn", {}}};
     }},
    {"no norm", [](TransformerConfig& c) { c.norm = NormType::none; }},
    {"an encoder", [](TransformerConfig&) {}, "relations:length=8,vocab=6,relations=next+same"},
    {"an empty encoder", [](TransformerConfig& c) { c.encoder_layers = 0; }, kTwoStacks},
};

TEST_F(PageCore, ComputesEveryKindOfModel) {
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(variant.name);
    RunConfig config = config_of(variant.task);
    fit_to_task(config);
    variant.change(config.model);
    expect_same({random_run(config).path}, few_examples());
  }
}

/// Two answers for a vocabulary of four, sequences of several lengths, attention in both
/// directions.
TEST_F(PageCore, ComputesAnswersThatAreNoTokens) {
  std::string lines = R"({"header":{"architecture":"encoder","vocabulary":["s","l","r","e"],)"
                      R"("answers":["no","yes"]}})"
                      "\n";
  for (const char* tokens : {R"("s","l","r","e")", R"("s","r","l","l","e")", R"("s","l","e")"})
    lines += text(R"({"tokens":[)", tokens, R"(],"targets":["yes"]})", "\n");
  const std::string path = (folder_ / "pairs.jsonl").string();
  write_file(path, lines);
  RunConfig config = config_of(text("file:train=", path, ",held_out=", path, ",test=", path));
  for (const NormType norm : {NormType::layer, NormType::none}) {
    config.model.norm = norm;
    const TrainedRun run = random_run(config);
    EXPECT_EQ(run.model.config().outputs(), 2);
    expect_same({run.path}, Json::object({{"examples", 3}}));
  }
}

/// Pages of models that the page's own model does not know.
struct PageOfUnknownModel : PageCore {
  /// `settings` are KEY=KIND of a kind that the page cannot compute.
  void expect_stored_patterns(const std::string& settings, double tolerance) {
    RunConfig config = config_of(kRelations);
    settings_of(config.model).set_all_text(settings);
    const TrainedRun run = random_run(config);
    const Batch first = run.task->make_batch(streams::scored(), 1, Split::validation);
    const Tensor pattern = Activations(run.model, first).pattern({0, 0});
    const std::vector<double> weights(pattern.values().begin(), pattern.values().end());
    std::string kind = settings;
    std::ranges::replace(kind, '=', ' ');
    expect_read(make_page({run.path}), "stored_test.mjs",
                Json::object({{"unknown", std::vector<std::string>{kind}},
                              {"tolerance", tolerance},
                              {"pattern", weights}}));
  }
};

/// Some weights of `doubled` are larger than 1, and all are stored as they are; patterns of softmax
/// are stored in bytes.
TEST_F(PageOfUnknownModel, ShowsStoredPatternsAndSaysWhy) {
  EXPECT_TRUE(kOwnRowIsThere);
  expect_stored_patterns("attention_function=doubled", 1e-5);
  expect_stored_patterns("norm_place=bare", 1.0 / 128);
}

TEST_F(PageCore, AblatesHeadsAsTheProgramDoes) {
  RunConfig config = config_of(kRelations);
  config.model.heads = {3, 2};
  config.model.d_head = 4;
  const TrainedRun run = random_run(config);
  Json expected = few_examples();
  expected["cases"] = ablated_cases(run, all_sets(run.model), 3);
  expect_same({run.path}, expected);
}

/// A pass that ablates a head of a later layer begins with the streams of the pass before: those
/// of the second stack come after those of the first.
TEST_F(PageCore, AblatesEncoderAndDecoderHeadsAsTheProgramDoes) {
  RunConfig config = config_of(kTwoStacks);
  config.model.encoder_layers = 2;
  config.model.layers = 2;
  const TrainedRun run = random_run(config);
  std::vector<HeadSet> sets;
  for (const HeadId& head : all_heads(run.model)) sets.push_back({head});
  Json expected = few_examples();
  expected["cases"] = ablated_cases(run, sets, 3);
  expect_same({run.path}, expected);
}

/// The cost of masking the ground-truth edges of each relation in one head costs on the relation's
/// targets.
Json edge_tests(const TrainedRun& run) {
  Json tests = Json::array();
  const EdgeExperiment experiment(run.model, *run.task, {.examples = 512});  // as the page holds
  const std::vector<Relation> relations = run.task->relations();
  const std::vector<AttentionLayer> attention_layers = run.model.attention_layers();
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const auto attention_layer =
        std::ranges::find(attention_layers, relations[r].kind, &AttentionLayer::kind);
    const HeadId head{attention_layer - attention_layers.begin(), 1};
    tests.push_back(Json::object({{"relation", relations[r].name},
                                  {"heads", Json::Array{head}},
                                  {"change", experiment.test(r, {head}).truth.change}}));
  }
  return tests;
}

TEST_F(PageCore, MasksGroundTruthEdgesAsTheProgramDoes) {
  for (const char* task : {kRelations, "reverse_cross", "brackets:length=10", "induction"}) {
    SCOPED_TRACE(task);
    RunConfig config = config_of(task);
    if (std::string(task).starts_with(kTwoStacks)) config.model.encoder_layers = 1;
    const TrainedRun run = random_run(config);
    Json expected = few_examples();
    expected["edges"] = edge_tests(run);
    expect_same({run.path}, expected);
  }
}

TEST_F(PageCore, NoticesWhenItComputesSomethingElse) {
  Json expected = few_examples();
  expected["mutations"] = true;
  expected["whole"] = true;
  expect_same({random_run(config_of("relations:length=8,vocab=6,relations=1+same")).path},
              expected);
}

}  // namespace
}  // namespace headlab
