// A walk over all views of eight kinds of runs. Each sentence with a number is computed again by
// walked_sentences.py, from the files of the run and by the program, without code of the page.
// Read next: said.js, which collects the sentences.
#include "browser/study.h"

namespace headlab::browser { namespace {

class WalkedViews : public OnPage {
 protected:
  Study study;
  int computed = 0;

  /// Returns the addresses of all views of the open page: [address, result that is shown or ""].
  Json places() {
    return tab().evaluate(R"js(app.views.filter((v) => v.available(app.page)).flatMap(({name}) => {
      const at = (more, file = '') => [`#view=${name}${more}`, file];
      if (name === 'head')
        return ['row', 'flow', 'writes', 'truth', 'plane'].map((tab) => at(`&tab=${tab}`));
      if (name === 'results')
        return ['training', ...Object.keys(run().reports)].map((file) => at(`&file=${file}`, file));
      if (name === 'learn') return Object.keys(app.lessons).map((one) => at(`&lesson=${one}`));
      if (name === 'first') return headsOf().map((x) => at(`&h=${x.at}`));
      return [at('')];
    }))js");
  }
  /// Returns what the views of a page say, with the facts that the rules read.
  Json said_by(const fs::path& page) {
    open(page);
    tab().wait_until("app.busy <= 0", 60);
    Json said = tab().evaluate(R"js((() => {
      const set = task().set('held_out');
      const targets = Array.from({length: set.size}, (_, i) => [...set.example(i).targets || []]);
      return {run: run().name, examples: set.size, kinds: task().target_names.length, targets: targets.flat(),
        world: lessonFacts().worlds[0]};
    })())js");
    const std::string collect = read_file(HEADLAB_SOURCE_DIR "/tests/browser/said.js");
    Json views = Json::array();
    const Json all = places();
    for (const Json& place : all.items()) {
      go_to(place.items()[0].string());
      tab().wait_until("app.busy <= 0", 60);
      views.push_back(Json::object({{"view", place.items()[0]},
                                    {"file", place.items()[1]},
                                    {"head", tab().evaluate("chosen()?.at ?? null")},
                                    {"example", tab().evaluate("exampleIndex()")},
                                    {"sentences", tab().evaluate(collect)}}));
    }
    said["views"] = std::move(views);
    return said;
  }
  /// Returns the complaints of walked_sentences.py; adds the numbers that it computed.
  std::string contradictions(const std::string& run, const Json& said) {
    const fs::path file = folder / "said.json";
    const fs::path out = folder / "out.txt";
    write_file(file, said.dump());
    const std::string source = HEADLAB_SOURCE_DIR;
    const std::string command =
        text("python3 -B '", source, "/tests/report/walked_sentences.py' '",
             study.path(run).string(), "' '", file.string(), "' '" HEADLAB_PROGRAM "' '", source,
             "/src/app/report/page' > '", out.string(), "' 2>&1");
    const int status = std::system(command.c_str());
    const std::string words = read_file(out);
    const std::size_t last = words.find("computed again: ");
    if (last == words.npos) return words;
    computed += std::stoi(words.substr(last + 16));
    return status == 0 ? "" : words;
  }
  void train_all() {
    const Words small = {"--d-model", "16", "--heads", "2", "--track-heads", "50"};
    const auto train = [&](const char* task, const char* name, const Words& more) {
      study.train(task, name, cli::with(small, more));
    };
    train("induction:length=16,vocab=12,shortest=3,longest=5,start=2,gap=2", "induction",
          {"--steps", "200", "--layers", "2"});
    train("sort:symbols=8,shortest=3,longest=4", "sort", {"--steps", "300"});
    train("text:length=32", "text", {"--steps", "20"});
    train("reverse_cross", "cross", {"--steps", "100"});
    train("relations:length=8", "untrained", {"--steps", "2"});
    train("relations:length=8", "whole", {"--steps", "300"});
    study.done({"prune", "whole", "--method", "greedy", "--keep", "1", "--finetune", "20", "--out",
                "pruned"});
    write_file(study.path("first.jsonl"), sequences_with_one_query());
    train("file:train=first.jsonl", "one", {"--steps", "100"});
    study.done({"export", "one", "--to", "transformerlens", "--out", "exported"});
    study.done({"import", "exported", "--task", "file:train=first.jsonl", "--out", "imported"});
    study.done({"sweep", "--task", "relations:length=8", "--heads", "1,2", "--seeds", "2",
                "--d-model", "16", "--steps", "60", "--eval-examples", "64", "--out", "sweep"});
  }
  /// Returns sequences that ask once, at their end, for their first token.
  static std::string sequences_with_one_query() {
    std::string lines =
        R"({"header":{"description":"the first token","relations":[{"name":"first"}]}})"
        "\n";
    for (int i = 0; i < 512; ++i) {
      lines += text(R"({"tokens":[)", i % 8, ",", i / 8 % 8, ",", i / 64,
                    R"(,8],"targets":[null,null,null,)", i % 8, R"(],"truth":{"first":{"3":[0]}}})",
                    "\n");
    }
    return lines;
  }
};

TEST_F(WalkedViews, SayNoNumberThatTheFilesOfTheRunContradict) {
  if (const std::string reason = reason_without(kPython); !reason.empty()) GTEST_SKIP() << reason;
  train_all();
  Json said;
  for (const std::string run :
       {"induction", "sort", "text", "cross", "imported", "pruned", "untrained", "sweep"}) {
    said = said_by(study.page(run));
    const std::string shown = tab().text("run().name");
    EXPECT_EQ(contradictions(run == "sweep" ? shown : run, said), "") << run;
    wait();
  }
  std::cout << computed << " numbers of all views were computed again\n";
  EXPECT_GE(computed, 500);
  const auto is_noticed = [&](const char* sentence) {
    const Json view = Json::object({{"view", "results"},
                                    {"file", ""},
                                    {"head", "0.0"},
                                    {"example", 0},
                                    {"sentences", Json::Array{sentence}}});
    said["views"] = Json::Array{view};
    return !contradictions("sort", said).empty();
  };
  EXPECT_TRUE(is_noticed("It took 7 steps.")) << "no rule computes it";
  EXPECT_TRUE(is_noticed("2 of them do most of the work: 0.0 owns larger.")) << "another number";
  EXPECT_FALSE(is_noticed("Attention has no notion of order.")) << "no number";
}

}  // namespace
}  // namespace headlab::browser
