// The first screen of every task of `headlab list tasks`, in small, and of other kinds of runs: the
// task states its question, something is asked on the example that opens, and something breaks
// there without the owner that the first step ablates. Read next: first_test.cc.
#include <cstdlib>

#include "browser/study.h"
#include "headlab/core/tasks/table.h"

namespace headlab::browser { namespace {

/// A task in small, with flags of its own.
struct SmallTask {
  std::string name;
  std::string task;
  Words more = {};
};

std::string data(const char* file) { return std::string(HEADLAB_SOURCE_DIR "/datasets/") + file; }

const Words kTwoLayers = {"--layers", "2", "--heads", "2"};

const std::vector<SmallTask>& small_tasks() {
  static const std::vector<SmallTask> tasks = {
      {"relations", "relations:length=8,vocab=6,classes=3,relations=1+same"},
      {"induction", "induction:length=16,vocab=12,shortest=3,longest=5,start=2,gap=2", kTwoLayers},
      {"copy", "copy:symbols=8,shortest=3,longest=4"},
      {"sort", "sort:symbols=8,shortest=3,longest=4"},
      {"reverse", "reverse:symbols=8,shortest=3,longest=4"},
      {"reverse_cross", "reverse_cross:symbols=8,shortest=3,longest=4"},
      {"recall", "recall:pairs=3,queries=2,vocab=12", kTwoLayers},
      {"duplicate", "duplicate:length=8,symbols=8"},
      {"brackets", "brackets:length=8,types=3,depth=3"},
      {"grid", "grid:width=4,height=4,colors=4"},
      {"patches", "patches:width=4,height=2"},
      {"assign", "assign:variables=4,values=4,shortest=2,longest=3,queries=2,depth=2"},
      {"histogram", "histogram:length=8,symbols=6"},
      {"memoryless", "memoryless:length=8"},
      {"random", "random:length=8"},
      {"english", "english"},
      {"text", "text:length=24,file=" + data("fables.txt")},
      {"tokens", "tokens:file=tokens.bin,length=12"},
      {"repeated", "repeated:length=16,vocab=8"},
      {"file", "file:train=" + data("definitions.jsonl")},
      {"command", "command:sh print.sh"}};
  return tasks;
}

/// A program that prints sequences of two tokens and their first token as the answer.
constexpr const char* kPrinter =
    R"(printf '%s\n' '{"header":{"vocabulary":["a","b","c"],"length":2,"relations":[{"name":"before","description":"the token before"}]}}'
while read line; do
  count=${line#*count\":}; count=${count%%,*}
  i=0
  while [ $i -lt $count ]; do
    case $((i % 3)) in 0) t=a;; 1) t=b;; *) t=c;; esac
    echo '{"tokens":["'$t'","b"],"targets":[null,"'$t'"],"truth":{"before":{"1":[0]}}}'
    i=$((i+1))
  done
done
)";

class Questions : public OnPage {
 protected:
  Study study;

  void prepare() override {
    std::string tokens;
    for (int i = 0; i < 600; ++i) {
      tokens += {static_cast<char>(i * 7 % 13), '\0'};
    }
    write_file(study.path("tokens.bin"), tokens);
    write_file(study.path("print.sh"), kPrinter);
    setenv("HEADLAB_COMMAND", "sh print.sh", 1);
  }
  void tidy_up() override {
    unsetenv("HEADLAB_COMMAND");
    OnPage::tidy_up();
  }
  void train(const SmallTask& small) {
    Words words = {"--steps", "1000",      "--batch", "32",           "--lr",
                   "3e-3",    "--d-model", "32",      "--eval-every", "0"};
    const Words one_layer = {"--layers", "1", "--heads", "4"};
    const Words& more = small.more.empty() ? one_layer : small.more;
    words.insert(words.end(), more.begin(), more.end());
    study.train(small.task, small.name, words);
    study.done({"heads", small.name});
  }

  /// Returns the words and answers of the first screen of a page, and those after its first step.
  Json first_screen(const fs::path& page) {
    open(page);
    return tab().evaluate(
        "(async () => { const words = (id) => document.getElementById(id).textContent; const said "
        "= {headline: words('headline'), question: task().question, detail: words('detail'), "
        "asked: answerCounts().asked, owners: ownersOfQuestions().map((x) => x.at), broken: 0, "
        "title: stepRows()[0].title, step: '', astray: questions().filter((one) => "
        "showsAnswer(one) && !keysOf(one).length && questions().some((other) => other.slot === "
        "one.slot && keysOf(other).length)).length}; toStep(1); for (let i = 0; i < 400; ++i) { "
        "await "
        "new Promise((done) => setTimeout(done, 5)); if (app.busy <= 0) break; } return {...said, "
        "broken: answerCounts().broken, step: words('headline'), off: "
        "Object.keys(app.state.gates)}; })()");
  }

  /// The sentence has a verb of the model's own, or is that of a file; the example shows what it
  /// says.
  void expect_question(const fs::path& page, const std::string& task) {
    const Json said = first_screen(page);
    const std::string question = said.at("question").string();
    const std::string form = task == "file" ? "/^[A-Z][^.:]{6,}[.] To answer, attend to: /"
                                            : "/^([A-Z][^.]*, t|T)he model [a-z]+s [^.:]{6,}[.:]/";
    EXPECT_TRUE(tab().holds(form + ".test(" + Json(question).dump() + ")")) << question;
    EXPECT_EQ(question.find(" must "), std::string::npos) << question;
    EXPECT_NE(said.at("detail").string().find(question), std::string::npos) << said.dump();
    EXPECT_GT(said.at("asked").number(), 0) << said.dump();
    EXPECT_EQ(said.at("astray"), Json(0)) << "answers in lanes that ask nothing, where others do";
    EXPECT_TRUE(questions_.insert(question).second) << question << " is said of two tasks";
    bool is_owner = false;
    for (const Json& off : said.at("off").items()) {
      for (const Json& owner : said.at("owners").items()) {
        is_owner |= owner.string() == off.string();
      }
    }
    EXPECT_EQ(is_owner, !said.at("owners").items().empty()) << said.dump();
    const bool is_shared = said.at("title").string().ends_with(" that share");
    if (is_owner && !is_shared) {  // without one of several, the others may answer
      EXPECT_GT(said.at("broken").number(), 0) << said.dump();
    }
    if (is_owner) ++owners_;
    wait();
  }

  std::set<std::string> questions_;
  int owners_ = 0;  // pages whose first step ablates a head that has a question
};

TEST_F(Questions, EveryTaskAsksSomethingThatBreaksWithoutItsOwner) {
  for (const TaskEntry& entry : task_table()) {
    const auto small = std::ranges::find(small_tasks(), std::string(entry.name), &SmallTask::name);
    ASSERT_NE(small, small_tasks().end()) << entry.name << " has no small task here";
    SCOPED_TRACE(entry.name);
    train(*small);
    expect_question(study.page(small->name), small->name);
  }
  EXPECT_GE(owners_, 8) << "most tasks have such heads";
}

TEST_F(Questions, AnImportedModelIsAskedSomething) {
  train({"text", "text:length=24,file=" + data("fables.txt"), {"--layers", "1", "--heads", "4"}});
  study.done({"export", "text", "--to", "transformerlens", "--out", "exported"});
  study.done({"import", "exported", "--task", "repeated", "--out", "imported"});
  study.done({"heads", "imported"});
  expect_question(study.page("imported"), "");
  EXPECT_FALSE(shows("#headline", "not trained yet")) << "it was, on a text";
}

TEST_F(Questions, TheRunOfASweepIsAskedSomething) {
  study.done({"sweep",    "--task",    "relations:length=8,vocab=6,classes=3,relations=1+same",
              "--heads",  "1,2",       "--seeds",
              "2",        "--d-model", "32",
              "--steps",  "1000",      "--batch",
              "32",       "--lr",      "3e-3",
              "--warmup", "20",        "--eval-examples",
              "64",       "--out",     "swept"});
  study.page("swept");
  open(study.path("swept/report.html"));
  click("#open-1");
  tab().evaluate("history.replaceState(null, '', '#view=first&run=' + app.state.run)");
  const std::string address = tab().text("location.hash");
  EXPECT_TRUE(shows("#detail", "At each token, the model names the token 1 back")) << address;
  EXPECT_GT(tab().number("answerCounts().asked"), 0);
}

}  // namespace
}  // namespace headlab::browser
