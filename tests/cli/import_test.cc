// Models from elsewhere through the program: a model whose heads are known is found out, what does
// not fit is refused before anything is written, and Python loads what goes out by the lines that
// help shows. Read next: tests/model/layouts_test.cc.
#include "cli/program.h"
#include "headlab/lab/runs/run.h"
#include "support/golden.h"
#include "support/lens_models.h"

namespace headlab::cli { namespace {

const std::string kLayouts = std::string(HEADLAB_SOURCE_DIR) + "/tests/golden/layouts/";

class Import : public Program {
 protected:
  /// Imports the model that was built by hand.
  void by_hand() {
    done({"import", kLayouts + "induction-by-hand", "--out", "hand", "--task",
          "induction:length=20,vocab=16,shortest=4,longest=6,start=2,gap=4"});
  }
  /// The command fails with one sentence that holds these, and writes nothing.
  void expect_nothing_written(const Words& words, const Words& parts) {
    expect_refused(run(words), 1, parts);
    EXPECT_FALSE(fs::exists(folder / "new"));
  }
};

TEST_F(Import, FindsHeadsOfAModelBuiltByHand) {
  by_hand();
  const Json relations = done({"heads", "hand", "--json"}).json().at("relations");
  const Json &induction = relations.items()[0], &previous = relations.items()[1];
  EXPECT_EQ(induction.at("owner"), Json::parse("[1, 0]")) << induction.dump();
  EXPECT_EQ(previous.at("owner"), Json::parse("[0, 1]")) << previous.dump();
  EXPECT_GT(induction.at("best").at("mass").number(), 0.99);
  EXPECT_GT(previous.at("best").at("mass").number(), 0.99);
}

/// Its initial values are not known: nothing is compared with values that headlab would draw.
TEST_F(Import, HasNoColumnOfTheUntrainedModel) {
  by_hand();
  done({"prune", "hand", "--keep", "2", "--out", "pruned"});
  for (const char* name : {"hand", "pruned"}) {
    EXPECT_FALSE(holds(done({"heads", name, "--all"}).out, "untrained")) << name;
    const Json best = done({"heads", name, "--json"}).json().at("relations").items()[0].at("best");
    EXPECT_TRUE(best.at("mass_untrained").is_null()) << name;
  }
  done(tiny({"--out", "own"}));
  EXPECT_TRUE(holds(done({"heads", "own"}).out, "untrained"));
}

TEST_F(Import, FindsCausalHeadsOfAModelBuiltByHand) {
  by_hand();
  EXPECT_GT(done({"eval", "hand", "--json"}).json().at("accuracy").number(), 0.999);
  const Json ablated = done({"ablate", "hand", "--json"}).json();
  for (const Json& one : ablated.at("heads").items()) {
    const bool known = one.at("layer").integer() + one.at("head").integer() == 1;
    if (known)
      EXPECT_GT(one.at("change").number(), 1) << one.dump();
    else
      EXPECT_NEAR(one.at("change").number(), 0, 1e-4) << one.dump();
  }
}

TEST_F(Import, CountsTensorsThatAreLeftOutByKind) {
  for (const char* layout : {"huggingface-gpt2", "transformerlens"}) {
    const Outcome outcome = done({"import", kLayouts + layout, "--out", layout});
    EXPECT_TRUE(holds(outcome.out, "left out: 2 masks (headlab makes its own)\n")) << outcome.out;
  }
}

TEST_F(Import, RunsAreReadByTheOtherCommands) {
  by_hand();
  for (const Words& words :
       {Words{"circuits", "hand"}, Words{"attribute", "hand"}, Words{"patch", "hand"},
        Words{"page", "hand"}, Words{"prune", "hand", "--keep", "2", "--out", "pruned"},
        Words{"eval", "pruned"}})
    done(words);
}

TEST_F(Import, ReadsTokensShorterThanTheModel) {
  std::string tokens;
  for (int i = 0; i < 400; ++i) tokens += {static_cast<char>(i * i % 16), '\0'};
  write_file(folder / "val.bin", tokens);
  done({"import", kLayouts + "induction-by-hand", "--out", "a", "--task",
        "tokens:file=val.bin,length=8"});
  done({"heads", "a", "--examples", "4"});
  done({"export", "a", "--to", "huggingface-gpt2", "--out", "b"});
  done({"import", "b", "--out", "c", "--task", "repeated:length=16"});
  done({"import", "c", "--out", "d", "--task", "repeated:length=12"});
}

TEST_F(Import, RefusesAnotherVocabulary) {
  write_file(folder / "val.bin", std::string(800, '\x21'));
  expect_nothing_written({"import", kLayouts + "nanogpt", "--out", "new", "--task",
                          "tokens:file=val.bin,length=8"},
                         {"holds the token 8481, but the vocabulary has 23"});
  expect_nothing_written({"import", kLayouts + "nanogpt", "--out", "new", "--task",
                          "repeated:vocab=9"},
                         {"with the task", "vocab 23", "the task 9"});
  expect_nothing_written({"import", kLayouts + "nanogpt", "--out", "new", "--task",
                          "repeated:length=40"},
                         {"with the task", "length 12", "no sequence longer"});
}

TEST_F(Import, WritesNothingOfAFileThatIsDamaged) {
  fs::copy(kLayouts + "huggingface-llama", folder / "llama");
  fs::resize_file(folder / "llama" / "model-00001-of-00003.safetensors", 4000);
  expect_nothing_written({"import", "llama", "--out", "new"},
                         {"model-00001-of-00003", "truncated"});
}

TEST_F(Import, RefusesKeysThatItDoesNotKnowUnlessTheUserIgnoresThem) {
  fs::copy(kLayouts + "mistral", folder / "m");
  Json config = Json::parse(read_file(folder / "m" / "config.json"));
  config["logits_scaling"] = 8;
  config["mine"] = "text";
  write_file(folder / "m" / "config.json", config.dump());
  expect_nothing_written({"import", "m", "--out", "new"}, {"m/config.json", "logits_scaling", "8"});
  expect_nothing_written({"import", "m", "--out", "new", "--ignore-key", "logits_scaling"},
                         {"m/config.json", "mine", "text"});
  const Outcome outcome =
      done({"import", "m", "--out", "new", "--ignore-key", "logits_scaling,mine"});
  EXPECT_NE(outcome.out.find("ignored keys: logits_scaling, mine"), std::string::npos);
  EXPECT_NE(outcome.out.find("window 3"), std::string::npos);
}

TEST_F(Import, SaysThatThePathOrItsConfigIsMissing) {
  expect_parts(run({"import", "nowhere", "--out", "r"}).err,
               {"cannot import nowhere: there is no such folder or file", "name the folder"});
  fs::create_directory(folder.path() / "empty");
  expect_parts(run({"import", "empty", "--out", "r"}).err,
               {"cannot import empty: empty/config.json is missing"});
}

TEST_F(Import, SaysThatAConfigIsNoFileOfTensors) {
  expect_nothing_written({"import", kLayouts + "nanogpt/config.json", "--out", "new"},
                         {"config.json", "it is JSON, not safetensors"});
}

TEST_F(Import, OneHeldOutExampleIsEnoughForAPageAndTooFewForPatch) {
  std::string tokens;
  for (int i = 0; i < 400; ++i) tokens += {static_cast<char>(i * i % 16), '\0'};
  write_file(folder / "all.bin", tokens);
  write_file(folder / "one.bin", tokens.substr(0, 2 * 9));
  done({"import", kLayouts + "induction-by-hand", "--out", "a", "--task",
        "tokens:file=all.bin,validation=one.bin,test=one.bin,length=8"});
  for (const char* command : {"page", "heads", "eval", "attribute", "circuits"})
    done({command, "a"});
  expect_refused(run({"patch", "a"}), 1, {"cannot patch: it needs two different sequences"});
  expect_refused(run({"ablate", "a"}), 1,
                 {"cannot ablate heads: it needs at least two examples, got 1"});
}

/// The lines of Python that help shows for a layout.
std::string lines_for(const std::string& help, const std::string& layout) {
  std::string lines;
  const std::size_t begin = help.find("\n" + layout + "\n  ");
  if (begin == help.npos) return lines;
  std::istringstream rest(help.substr(begin + layout.size() + 2));
  for (std::string line; std::getline(rest, line) && line.starts_with("  ");)
    lines += line.substr(2) + "\n";
  return lines;
}

/// Lines of a task with two answers for three tokens, without an architecture in the header.
std::string lines_with_answers() {
  std::string lines = R"({"header":{"vocabulary":["a","b","."],"answers":["no","yes"],)"
                      R"("relations":[{"name":"first","positional":true}]}})"
                      "\n";
  const char* letters[] = {"a", "b"};
  for (int i = 0; i < 16; ++i) {
    const char *one = letters[i % 2], *two = letters[i / 2 % 2],
               *three = letters[(i / 4 + i / 8) % 2];
    lines +=
        text(R"({"tokens":[")", one, R"(",")", two, R"(",")", three, R"("],"targets":[null,)",
             R"(null,")", one == three ? "yes" : "no", R"("],"truth":{"first":{"2":[0]}}})", "\n");
  }
  return lines;
}

class ImportAnswers : public Import, public testing::WithParamInterface<LensModel::Sizes> {
 protected:
  void SetUp() override {
    Import::SetUp();
    LensModel(GetParam()).write(folder / "theirs");
    write_file(folder / "data.jsonl", lines_with_answers());
  }
};

TEST_P(ImportAnswers, AreReadByEveryCommand) {
  const std::string task = "file:train=data.jsonl,held_out=data.jsonl,test=data.jsonl";
  const std::string said = done({"import", "theirs", "--out", "run", "--task", task}).out;
  expect_parts(said, {"2 answers that are no tokens"});
  EXPECT_EQ(holds(said, "bidirectional attention"), GetParam().sees_all);
  EXPECT_EQ(holds(said, "no norm"), !GetParam().has_norms);
  for (const char* command : {"eval", "heads", "ablate", "curve", "patch", "attribute"})
    done({command, "run"});
  expect_parts(done({"circuits", "run"}).out, {"2 answers are not tokens"});
  const Json ov = done({"circuits", "run", "--head", "0.0", "--json"}).json();
  EXPECT_EQ(ov.at("answers"), Json::parse(R"(["no", "yes"])"));
  EXPECT_EQ(ov.at("ov").items().at(0).items().size(), 2);
  done({"page", "run"});
  EXPECT_TRUE(holds(file("run/report.html"), R"("answers":["no","yes"])"));
  expect_refused(run({"sample", "run"}), 1,
                 {GetParam().sees_all ? "must be a decoder" : "not tokens"});
  done({"prune", "run", "--keep", "1", "--out", "pruned"});
  done({"export", "run", "--to", "transformerlens", "--out", "out"});
  done({"import", "out", "--out", "again", "--task", task});
  EXPECT_EQ(done({"eval", "again", "--json"}).json().at("loss"),
            done({"eval", "run", "--json"}).json().at("loss"));
}

INSTANTIATE_TEST_SUITE_P(
    Lens, ImportAnswers,
    testing::Values(LensModel::Sizes{.vocab = 3, .outputs = 2},
                    LensModel::Sizes{.hidden = 4, .vocab = 3, .outputs = 2, .has_norms = false},
                    LensModel::Sizes{.vocab = 3, .outputs = 2, .sees_all = true}),
    [](const auto& test) { return text("Number", test.index); });

/// A classifier of whole sequences: it has an answer, but no relation.
TEST_F(Import, TasksWithoutRelationsHaveScoresAndAPage) {
  LensModel({.length = 8, .vocab = 3, .outputs = 2}).write(folder / "theirs");
  std::string lines = R"({"header":{"vocabulary":["a","b","."],"answers":["no","yes"]}})"
                      "\n";
  for (const char* row :
       {R"(["a","."],"targets":[null,"yes"])", R"(["b","."],"targets":[null,"no"])",
        R"(["b","a","."],"targets":[null,null,"yes"])"})
    lines += text(R"({"tokens":)", row, "}\n");
  write_file(folder / "data.jsonl", lines);
  done({"import", "theirs", "--out", "run", "--task",
        "file:train=data.jsonl,held_out=data.jsonl,test=data.jsonl"});
  for (const char* command : {"eval", "heads", "ablate", "page"}) done({command, "run"});
  EXPECT_FALSE(holds(file("run/report.html"), "The best head for each relation"));
}

TEST_F(Import, SaysThatATaskHasOtherAnswers) {
  LensModel({.length = 8, .vocab = 3, .outputs = 2}).write(folder / "theirs");
  expect_nothing_written({"import", "theirs", "--out", "new"},
                         {"with the task", "a decoder with 2 outputs",
                          "the task is for a decoder with 3", "--task file:train=FILE"});
}

TEST_F(Import, TrainsAndShowsAnswersThatAreNoTokens) {
  write_file(folder / "data.jsonl", lines_with_answers());
  expect_parts(done({"show", "data.jsonl"}).out, {"yes"});
  done({"train", "--task", "file:train=data.jsonl,held_out=data.jsonl,test=data.jsonl", "--norm",
        "none", "--steps", "2", "--d-model", "8", "--out", "own"});
  const Json config = Json::parse(file("own/config.json"));
  EXPECT_EQ(config.at("answers"), Json(2));
  EXPECT_EQ(config.at("norm"), Json("none"));
  done({"eval", "own"});
  done(tiny({"--out", "other"}));
  EXPECT_EQ(Json::parse(file("other/config.json")).find("answers"), nullptr);
}

TEST_F(Import, ArraysGoOutAsNumPyLoadsThem) {
  by_hand();
  done({"export", "hand", "--to", "npz", "--out", "out"});
  const PythonWith python = python_with("numpy", "NumPy");
  if (!python.reason.empty()) GTEST_SKIP() << python.reason;
  write_file(folder / "lines.py",
             "import json\n" + lines_for(done({"export", "--help"}).out, "npz") +
                 "print(json.dumps({name: weights[name].ravel().tolist() for name in "
                 "weights.files} | {'shape': W_E.shape}))\n");
  ASSERT_EQ(std::system(text("cd ", folder.path().string(), " && sed -i s/OUT/out/ lines.py && ",
                             python.program, " lines.py > a.json")
                            .c_str()),
            0);
  const Json loaded = Json::parse(read_file(folder / "a.json"));
  EXPECT_EQ(loaded.at("shape").dump(), "[16,68]");
  Index count = 1;
  open_run(folder / "hand").model.visit([&](const std::string& name, const Tensor& values) {
    ++count;
    EXPECT_EQ(loaded.at(name),
              Json(std::vector<double>(values.values().begin(), values.values().end())))
        << name;
  });
  EXPECT_EQ(std::ssize(loaded.members()), count);
}

class Export : public Import, public testing::WithParamInterface<const char*> {};

TEST_P(Export, IsLoadedByTheLinesThatHelpShows) {
  const PythonWith python = python_with("torch", "PyTorch");
  if (!python.reason.empty()) GTEST_SKIP() << python.reason;
  const std::string layout = GetParam();
  const Golden golden("layouts/" + layout + "/expected");
  done({"import", kLayouts + layout, "--out", "a"});
  done({"export", "a", "--to", layout, "--out", "out"});
  write_file(folder / "lines.py", lines_for(done({"export", "--help"}).out, layout));
  const Ids ids = golden.ids("tokens");
  const std::vector<Index> row(ids.begin(), ids.end());
  const Json tokens(Json::Array{std::vector<Index>(row.begin(), row.begin() + 9),
                                std::vector<Index>(row.begin() + 9, row.end())});
  write_file(folder / "tokens.json", tokens.dump());
  const std::string in = folder.path().string() + "/";
  ASSERT_EQ(std::system(text(python.program, " ", HEADLAB_SOURCE_DIR,
                             "/tests/golden/make_layouts.py --run ", layout, " ", in, "out ", in,
                             "tokens.json < ", in, "lines.py > ", in, "logits.json")
                            .c_str()),
            0);
  const Json logits = Json::parse(read_file(folder / "logits.json"));
  const Tensor expected = golden.tensor("logits");
  for (Index b = 0, i = 0; b < 2; ++b)
    for (const Json& at : logits.items()[b].items())
      for (const Json& logit : at.items()) ASSERT_NEAR(logit.number(), expected.data()[i++], 1e-4);
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Export,
                         testing::Values("huggingface-gpt2", "huggingface-llama", "nanogpt",
                                         "transformerlens"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}}  // namespace headlab::cli
