// Whole pages: the same bytes each time, whatever tokens say, within a budget, with a sentence for
// what is missing or damaged. Computations of the page are tested in
// page_core_test.cc. Read next:
// headlab/app/report/page.h.
#include "headlab/app/report/page.h"

#include <gtest/gtest.h>

#include "app/report/encoding.h"
#include "app/report/page_parts.h"
#include "headlab/core/tasks/definition.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/heads/scores/tracking.h"
#include "headlab/lab/prune/prune.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/studies/sweep.h"
#include "lab/runs/snapshots.h"
#include "support/base64.h"
#include "support/runs.h"

namespace headlab { namespace {

class Pages : public testing::Test {
 protected:
  TrainedRun trained(const std::string& name, RunConfig config = tiny_config()) {
    config.train.steps = 20;
    config.track_heads = 10;
    TrainedRun run = create_run(folder_.path() / name, config);
    train_run(run, track_heads(run, {}));
    return run;
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_;
};

Json facts_in(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"facts\">";
  const std::size_t at = html.find(open) + open.size();
  return Json::parse(html.substr(at, html.find("</script>", at) - at));
}

/// The bytes of a block.
std::string block_in(const std::string& html, const Json& block) {
  const std::string open = "id=\"" + block.at("id").string() + "\">";
  const std::size_t at = html.find(open) + open.size();
  return from_base64(html.substr(at, html.find("</script>", at) - at));
}

TEST_F(Pages, AreTheSameBytesEachTime) {
  const TrainedRun run = trained("a");
  const std::string once = make_page({run.path}).html;
  set_thread_count(4);
  EXPECT_EQ(make_page({run.path}).html, once);
  EXPECT_EQ(facts_in(once).at("owner").at("lift"), Json(kOwnerLift));
  set_thread_count(1);
}

TEST_F(Pages, HoldTheWeightsOfTheRun) {
  const TrainedRun run = trained("a");
  const std::string html = make_page({run.path}).html;
  const Json facts = facts_in(html);
  const Json& weights = facts.at("runs").items()[0].at("weights");
  const std::string bytes = block_in(html, weights.at("block"));
  EXPECT_EQ(fnv1a(bytes), weights.at("block").at("hash").integer());
  std::vector<float> values(bytes.size() / 4);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  std::size_t at = 0;
  run.model.visit([&](const std::string& name, const Tensor& parameter) {
    for (const Scalar value : parameter.values()) {
      ASSERT_EQ(values.at(at), value) << name;
      ++at;
    }
  });
  EXPECT_EQ(at, values.size());
  const Json& history = facts.at("runs").items()[0].at("history");
  EXPECT_EQ(history.at("steps"), Json(std::vector<int>{10, 20}));
  const std::string figure = facts.at("runs").items()[0].at("figures").at("history").dump();
  EXPECT_NE(figure.find("1 back (head "), figure.npos) << figure;
  EXPECT_EQ(figure.find("back1"), figure.npos) << figure;
}

TEST_F(Pages, ShowWhatAnalysisWroteWithoutAnyScript) {
  const TrainedRun run = trained("a");
  EXPECT_EQ(make_page({run.path}).html.find("scores-table\">"), std::string::npos);
  write_json(run.path / "heads.json", result_of(score_heads(run.model, *run.task)));
  const std::string html = make_page({run.path}).html;
  EXPECT_NE(html.find("<div id=\"scores-table\"><table><caption>The best head"), std::string::npos);
  EXPECT_NE(html.find("<tr><th scope=\"row\">same class</th><td>0."), std::string::npos);
  EXPECT_NE(html.find(" 2 heads, loss ", html.find("<p id=\"conclusion\">")), std::string::npos);
  EXPECT_NE(facts_in(html).at("runs").items()[0].at("reports").find("heads"), nullptr);
}

/// A result of a run, of these weights.
void write_result(const TrainedRun& run, Index step, const std::string& weights) {
  Json result = result_of(score_heads(run.model, *run.task));
  result["step"] = step;
  result["weights"] = weights;
  write_file(run.path / "heads.json", result.dump());
}

/// The text of a page on a file of its first run.
Json file_in(const Page& page, const std::string& name) {
  const Json facts = facts_in(page.html);
  for (const Json& file : facts.at("runs").items()[0].at("files").items())
    if (file.at("file").string() == name) return file;
  return {};
}

TEST_F(Pages, ShowResultsOfTheirOwnWeightsAlone) {
  const TrainedRun run = trained("a");
  write_result(run, run.step, weights_hash(run.model));
  EXPECT_EQ(file_in(make_page({run.path}), "heads.json").at("step"), Json(run.step));
  EXPECT_FALSE(file_in(make_page({run.path}), "heads.json").at("outdated").boolean());
  write_result(run, run.step - 1, "0123");
  const Page page = make_page({run.path});
  EXPECT_TRUE(file_in(page, "heads.json").at("outdated").boolean()) << "of earlier weights";
  const Json facts = facts_in(page.html);
  EXPECT_EQ(facts.at("runs").items()[0].at("reports").find("heads"), nullptr);
  write_result(run, run.step, "0123");
  EXPECT_THROW(make_page({run.path}), Error) << "of another run";
}

TEST_F(Pages, RefuseWhatAnotherRunLeft) {
  const TrainedRun one = trained("a", tiny_config("keep_weights=3"));
  const TrainedRun other = trained("b", tiny_config("keep_weights=3 seed=7"));
  for (const char* name : {"snapshots.safetensors", "metrics.jsonl", "heads.jsonl"}) {
    const std::string own = read_file(one.path / name);
    fs::copy_file(other.path / name, one.path / name, fs::copy_options::overwrite_existing);
    EXPECT_THROW(make_page({one.path}), Error) << name;
    write_file(one.path / name, own);
  }
  make_page({one.path});
  write_json(one.path / "heads.json",
             Result{.about = stamped({{"step", 1}, {"run", identity_of(other.config)}})});
  EXPECT_THROW(make_page({one.path}), Error) << "a result of a run, of whatever step";
}

/// The conclusion on a run with one report.
std::string conclusion_with(const char* name, const Json& report) {
  const Json pieces =
      conclusion_of(Json::object({{"name", "a"},
                                  {"attention_layers", Json::array()},
                                  {"evaluation", Json::object({{"loss", 1}, {"accuracy", 1}})},
                                  {"reports", Json::object({{name, report}})}}));
  std::string all;
  for (const Json& piece : pieces.items()) all += piece.at("text").string();
  return all;
}

TEST(Conclusion, ReportsDistributedRelations) {
  const Json report = Json::parse(
      R"({"relations":[{"name":"larger","owner":[0,0]},{"name":"same","owner":null},
                       {"name":"a","owner":[0,0]}],
          "heads":[{"layer":0,"head":0,"scores":{"a":{"lift":0.5,"owns":true}}},
                   {"layer":0,"head":1,"scores":{"a":{"lift":0.5,"owns":false}}}],
          "divisions":[{"relation":"larger","heads":[[0,0],[0,1]],"by":"position","explained":0.5,
                        "together":0.75}]})",
      "heads.json");
  const std::string said = conclusion_with("heads", report);
  EXPECT_NE(said.find("0.0, 0.1 share larger, by position (0.50 of it), together 0.75; 0.0 owns a. "
                      "No head owns same."),
            said.npos)
      << said;
  EXPECT_EQ(said.find("does larger"), said.npos) << said;
  EXPECT_EQ(said.find("of them do most of the work"), said.npos) << "one does: " << said;
}

TEST(Conclusion, CountsTheHeadsThatAreEnough) {
  const auto words = [](const char* method, int kept, int heads) {
    const Json::Array points = {Json::object({{"kept", kept}, {"loss", 0.5}})};
    const Json::Array methods = {
        Json::object({{"method", method}, {"used", kept}, {"points", points}})};
    return conclusion_with("curve", Json::object({{"methods", methods}, {"heads", heads}}));
  };
  const std::string all_tried = words("exhaustive", 2, 4);
  EXPECT_NE(all_tried.find("the best 2 of 4 are enough (loss 0.5)"), all_tried.npos) << all_tried;
  const std::string one_by_one = words("greedy", 1, 8);
  EXPECT_NE(one_by_one.find("the 1 of 8 that greedy removal leaves is enough (loss 0.5)"),
            one_by_one.npos)
      << one_by_one;
  EXPECT_NE(one_by_one.find("is not scored yet: headlab heads a "), one_by_one.npos);
}

TEST_F(Pages, StayWithinTheirBudget) {
  const TrainedRun run = trained("a", tiny_config("keep_weights=8"));
  const Page whole = make_page({run.path});
  EXPECT_TRUE(whole.left_out.empty());
  for (const PagePart& part : whole.parts) EXPECT_GT(part.bytes, 99) << part.name;
  EXPECT_LT(make_page({run.path}, {.examples = 2, .weights = false}).html.size(),
            make_page({run.path}, {.weights = false}).html.size() - 999);
  std::size_t before = whole.html.size();
  for (const double megabytes : {0.99, 0.8, 0.6, 0.3}) {
    const double budget = static_cast<double>(before - 1) / 1e6;
    const Page page = make_page({run.path}, {.megabytes = budget});
    EXPECT_LT(page.html.size(), before) << megabytes;
    EXPECT_FALSE(page.left_out.empty());
    before = page.html.size();
  }
  const Page least = make_page({run.path}, {.megabytes = 0.001});
  EXPECT_NE(least.left_out.back().find("nothing more can be left out"), std::string::npos);
  EXPECT_EQ(facts_in(least.html).at("runs").items()[0].find("weights"), nullptr);
}

/// 4 layers of 4 heads on 64 characters, 0.8 million parameters: weights, examples, maps, scores.
TEST_F(Pages, CharacterModelTakesAtMostSixMegabytes) {
  RunConfig config;
  config.task = "text:length=64";
  config.model.layers = 4;
  config.model.heads = {4};
  config.model.d_model = 128;
  config.model.d_ff = 512;
  fit_to_task(config);
  const TrainedRun run = create_run(path("char"), config);
  const HeadsReport report = score_heads(run.model, *run.task, {.without_truth = false});
  write_json(run.path / "heads.json", result_of(report));
  const Page page = make_page({run.path});
  EXPECT_LE(page.html.size(), 6'000'000u);
  const Json facts = facts_in(page.html);
  EXPECT_NE(facts.at("runs").items()[0].find("weights"), nullptr) << "and it runs live";
  EXPECT_GT(facts.at("runs").items()[0].at("parameters").integer(), 700'000);
}

TEST_F(Pages, KeepSnapshotsInHalfTheBytes) {
  const TrainedRun run = trained("a", tiny_config("keep_weights=4"));
  const Json facts = facts_in(make_page({run.path}).html);
  const Json& snapshots = facts.at("runs").items()[0].at("snapshots");
  EXPECT_EQ(snapshots.at("steps"), Json(std::vector<int>{0, 1, 4, 20}));
  EXPECT_EQ(snapshots.at("block").at("dtype").string(), "f16");
  EXPECT_GT(snapshots.at("error").number(), 0);
  EXPECT_LT(snapshots.at("error").number(), 1e-2);
}

TEST_F(Pages, WithoutWeightsHaveThoseOfNoStep) {
  const TrainedRun run = trained("a", tiny_config("keep_weights=4"));
  const Json one = facts_in(make_page({run.path}, {.weights = false}).html).at("runs").items()[0];
  EXPECT_EQ(one.find("weights"), nullptr);
  EXPECT_TRUE(one.at("snapshots").is_null());
}

/// Weights of emergence steps are the last that a page leaves out.
TEST_F(Pages, KeepTheWeightsOfEmergenceStepsWhenThereIsLittleRoom) {
  const TrainedRun run = trained("a", tiny_config("keep_weights=12"));
  const Json all = facts_in(make_page({run.path}).html).at("runs").items()[0];
  const Json::Array& steps = all.at("snapshots").at("steps").items();
  ASSERT_GT(steps.size(), 6u);
  std::set<Index> wanted = {steps.front().integer(), steps.back().integer()};
  for (const auto& [name, relation] : all.at("history").at("relations").members()) {
    if (!relation.at("emergence_step").is_number()) continue;
    const Index emergence_step = relation.at("emergence_step").integer();
    const auto distance = [&](const Json& step) {
      return std::pair(std::abs(step.integer() - emergence_step), -step.integer());
    };
    wanted.insert(std::ranges::min(steps, {}, distance).integer());
  }
  double megabytes = static_cast<double>(make_page({run.path}).html.size()) / 1e6;
  std::set<Index> kept;
  do {
    megabytes -= 0.0005;
    const Json one = facts_in(make_page({run.path}, {.megabytes = megabytes}).html);
    const Json& snapshots = one.at("runs").items()[0].at("snapshots");
    ASSERT_FALSE(snapshots.is_null()) << "a smaller set is tried before none";
    kept.clear();
    for (const Json& step : snapshots.at("steps").items()) kept.insert(step.integer());
  } while (kept.size() == steps.size());
  EXPECT_LT(kept.size(), steps.size());
  EXPECT_TRUE(std::ranges::includes(kept, wanted));
}

TEST_F(Pages, KeepMapsOfStepsWhoseWeightsFindNoRoom) {
  const TrainedRun run = trained("a", tiny_config("keep_weights=4"));
  const auto size = static_cast<double>(make_page({run.path}).html.size());
  const std::string html = make_page({run.path}, {.megabytes = (size - 1) / 1e6}).html;
  const Json facts = facts_in(html);
  const Json& one = facts.at("runs").items()[0];
  EXPECT_TRUE(one.at("snapshots").is_null());
  EXPECT_EQ(one.at("maps").at("steps"), Json(std::vector<int>{0, 1, 4, 20}));
  const std::string maps = block_in(html, one.at("maps").at("attention_layers").items()[0]);
  const std::string now = block_in(html, one.at("thumbnails").items()[0]);
  ASSERT_EQ(maps.size(), 4 * now.size());
  const auto off = [&](std::size_t step) {  // from the run as it is
    int sum = 0;
    for (std::size_t i = 0; i < now.size(); ++i)
      sum += std::abs(static_cast<std::uint8_t>(maps[step * now.size() + i]) -
                      static_cast<std::uint8_t>(now[i]));
    return sum;
  };
  EXPECT_LT(2 * off(3), off(0));
}

TEST_F(Pages, BringTheParentOfAPrunedRun) {
  const TrainedRun run = trained("a");
  prune_run(run, path("b"), {.keep = 1});
  const Json facts = facts_in(make_page({path("b")}).html);
  ASSERT_EQ(facts.at("runs").items().size(), 2u);
  EXPECT_EQ(facts.at("tasks").items().size(), 1u);
  EXPECT_EQ(facts.at("runs").items()[0].at("parent").integer(), 1);
  EXPECT_EQ(facts.at("runs").items()[1].at("role").string(), "parent");
  EXPECT_EQ(facts_in(make_page({path("b"), path("a")}).html).at("runs").items().size(), 2u);
  EXPECT_EQ(facts_in(make_page({path("a"), path("b")}).html).at("runs").items()[1].at("parent"),
            Json(0));
  fs::remove_all(path("a"));
  const Page alone = make_page({path("b")});
  EXPECT_EQ(facts_in(alone.html).at("runs").items().size(), 1u);
  ASSERT_EQ(alone.left_out.size(), 1u);
  EXPECT_NE(alone.left_out[0].find("no run found"), std::string::npos);
}

TEST_F(Pages, NameDamagedFiles) {
  const TrainedRun run = trained("a");
  for (const char* file : {"heads.json", "curve.json", "ablation.json"}) {
    write_file(run.path / file, "{\"headlab\": ");
    expect_error([&] { make_page({run.path}); }, {file});
    write_file(run.path / file, "{}");
    EXPECT_THROW(make_page({run.path}), Error);
    write_file(run.path / file, "{\"headlab\": \"0.1.0\"}");
    EXPECT_THROW(make_page({run.path}), Error) << file;
    fs::remove(run.path / file);
  }
  EXPECT_THROW(make_page({path("nothing")}), MissingRun);
  EXPECT_THROW(make_page({}), Error);
}

TEST_F(Pages, RefuseResultsOfAnotherSchemaAndColumnsWithoutADescription) {
  const TrainedRun run = trained("a");
  const fs::path file = run.path / "ablation.json";
  const std::string end = R"(,"heads":[],"tables":[{"name":"heads","columns":[7]}]})";
  for (const char* schema : {R"("schema":2)", R"("schema":4)", R"("seed":0)"}) {
    write_file(file, std::string(R"({"headlab":"0.1.0",)") + schema + end);
    expect_error([&] { make_page({run.path}); },
                 {"ablation.json", "another development version", "repeat the command"});
  }
  write_file(file, R"({"headlab":"0.1.0","schema":3)" + end);
  expect_error([&] { make_page({run.path}); }, {"ablation.json"});
}

TEST_F(Pages, ControlTasksShowNoOwner) {
  for (const char* task : {"memoryless", "random"}) {
    RunConfig config = tiny_config();
    config.task = task;
    const TrainedRun run = trained("c", config);
    write_json(run.path / "heads.json", result_of(score_heads(run.model, *run.task)));
    const std::string html = make_page({run.path}).html;
    EXPECT_EQ(html.find("<td>owner</td>"), std::string::npos) << task;
    EXPECT_NE(html.find("No head owns a relation"), std::string::npos) << task;
    fs::remove_all(run.path);
  }
}

/// A text may hold anything: here are the characters that end elements, and those that end lines.
TEST_F(Pages, CarryHostileTokensUnharmed) {
  std::string hostile;
  for (int i = 0; i < 200; ++i)
    hostile += "</script><img onerror=x>\xE2\x80\xA8\xD7\x90\xF0\x9F\x98\x80 &\"'{{csp}}\n";
  write_file(path("hostile.txt"), hostile);
  RunConfig config = tiny_config();
  config.task = "text:file=" + path("hostile.txt").string() + ",length=16";
  const TrainedRun run = trained("<b>a&amp;", config);
  const std::string html = make_page({run.path}).html;
  const Json facts = facts_in(html);
  std::string all;
  for (const Json& token : facts.at("tasks").items()[0].at("tokens").items()) all += token.string();
  for (const char* token : {"<", "\xF0\x9F\x98\x80", "\xD7\x90", "&"})
    EXPECT_NE(all.find(token), std::string::npos) << token;
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_NE(html.find("&lt;b&gt;a&amp;amp;</title>"), std::string::npos);
}

}  // namespace
}  // namespace headlab
