// The program in odd surroundings: closed standard files, ignored signals, results that go to pipes
// and devices, names that begin with a dash, and runs that are replaced while they are measured.
// Read next: interrupt_test.cc.
#include "cli/program.h"

namespace headlab::cli { namespace {

class Surroundings : public Program {
 protected:
  /// Runs a line of sh in the folder of the test; $H is the program.
  int shell(const std::string& line) const {
    return std::system(text("cd '", folder.path().string(), "' || exit 1; H='", HEADLAB_PROGRAM,
                            "'; export OMP_NUM_THREADS=1; ", line)
                           .c_str());
  }
  void train(const std::string& out) const { done(tiny({"--out", out})); }
};

/// Waits until the training has begun.
constexpr const char* kWait = "until [ -e .r.lock ]; do sleep 0.01; done; ";
constexpr const char* kTrain =
    "$H train --task copy --heads 2 --d-model 8 --batch 2 "
    "--eval-examples 2 --threads 1 --steps ";

/// A program in sh for the task `command`.
constexpr const char* kAnswers =
    R"(echo '{"header":{"vocabulary":["a","b"],"length":2,"relations":[{"name":"r"}]}}'
while read line; do
  count=${line#*count\":}; count=${count%%,*}; i=0
  while [ $i -lt $count ]; do
    echo '{"tokens":["a","b"],"targets":[null,"a"],"truth":{"r":{"1":[0]}}}'; i=$((i+1))
  done
done
)";

TEST_F(Surroundings, ClosedStandardFilesGetNoOtherText) {
  ASSERT_EQ(shell(std::string(kTrain) + "6 --eval-every 2 --out whole >/dev/null 2>&1"), 0);
  int number = 0;
  for (const char* closed :
       {"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    const std::string out = text("r", number++);
    EXPECT_EQ(shell(kTrain + ("6 --eval-every 2 --out " + out + " ") + closed), 0) << closed;
    EXPECT_EQ(file(out + "/model.safetensors"), file("whole/model.safetensors")) << closed;
    const std::string log = file(out + "/metrics.jsonl");
    EXPECT_EQ(std::ranges::count(log, '\n'), 3) << closed << log;
  }
}

TEST_F(Surroundings, ClosedStderrDoesNotWriteIntoTheLock) {
  EXPECT_EQ(shell(text(kTrain, "100000 --out r --eval-every 1 2>&- >/dev/null & p=$!; ", kWait,
                       "until grep -q . r/metrics.jsonl; do sleep 0.01; done; "
                       "cat .r.lock > lock; kill $p; wait $p; true")),
            0);
  EXPECT_TRUE(file("lock").starts_with("process "));
  EXPECT_FALSE(holds(file("lock"), "step")) << file("lock");
}

TEST_F(Surroundings, ClosedFilesDoNotDisturbTheProgramOfATask) {
  write_file(folder / "p.sh", kAnswers);
  for (const char* closed : {"<&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"})
    EXPECT_EQ(shell(text("$H train --task 'command:sh p.sh' --heads 1 --d-model 8 --layers 1 "
                         "--steps 2 --batch 2 --eval-examples 2 --out q --force ",
                         closed)),
              0)
        << closed;
}

/// A script's background jobs ignore SIGINT, and nohup ignores SIGHUP.
TEST_F(Surroundings, IgnoredSignalsStayIgnored) {
  for (const char* signal : {"INT", "HUP", "TERM", "USR1"}) {
    const std::string line =
        text("rm -rf r; (trap '' ", signal, "; exec ", kTrain,
             "300 --out r >/dev/null 2>&1) & p=$!; ", kWait, "kill -", signal, " $p; wait $p");
    EXPECT_EQ(shell(line), 0) << signal;
    EXPECT_TRUE(holds(file("r/metrics.jsonl"), R"("step":300,)")) << signal;
  }
}

TEST_F(Surroundings, ResultsGoToPipesAndDevices) {
  train("a");
  done({"heads", "a", "--out", "plain.json"});
  done({"pattern", "a", "--grid", "--svg", "plain.svg"});
  EXPECT_EQ(shell("$H heads a --out /dev/stdout | cat > piped.txt"), 0);
  EXPECT_EQ(shell("$H heads a --out /dev/stderr 2> err.txt >/dev/null"), 0);
  EXPECT_EQ(shell("echo first > file.txt; $H heads a --out /dev/stdout >> file.txt"), 0);
  EXPECT_EQ(shell("$H pattern a --grid --svg /dev/stdout | cat > svg.txt"), 0);
  EXPECT_EQ(shell("mkfifo fifo; cat fifo > fifo.txt & $H pattern a --grid --svg fifo; wait"), 0);
  EXPECT_EQ(shell("$H page a --out /dev/stdout | cat > page.txt"), 0);
  const std::string json = file("plain.json"), svg = file("plain.svg");
  const std::string kept = json.substr(0, json.find("\"command\""));
  for (const char* name : {"piped.txt", "err.txt", "file.txt"})
    EXPECT_TRUE(holds(file(name), kept.substr(0, 200))) << name;
  EXPECT_TRUE(file("file.txt").starts_with("first\n"));
  const std::string drawn = svg.substr(svg.size() - 200);
  for (const char* name : {"svg.txt", "fifo.txt"}) EXPECT_TRUE(holds(file(name), drawn)) << name;
  EXPECT_TRUE(file("page.txt").starts_with("<!doctype html>"));
  EXPECT_FALSE(fs::exists("/dev/.stdout.lock"));
}

TEST_F(Surroundings, ADashIsNoName) {
  train("a");
  for (const char* line : {"heads a --out -", "pattern a --grid --svg -", "page a --out -",
                           "eval a --npy=-", "train --task copy --out -"})
    expect_refused(run(typed(line)), 2, {"a file named - is refused", "use /dev/stdout"});
  EXPECT_FALSE(fs::exists(folder / "-"));
}

TEST_F(Surroundings, TwoDashesEndTheFlags) {
  train("a");
  fs::rename(folder / "a", folder / "-x");
  expect_refused(run({"eval", "-x"}), 2, {"unknown flag '-x'"});
  const Json said = done({"eval", "--json", "--", "-x"}).json();
  EXPECT_TRUE(said.at("command").string().ends_with("eval -- -x")) << said.dump();
  fs::rename(folder / "-x", folder / "--json");
  EXPECT_TRUE(holds(done({"eval", "--", "--json"}).out, "loss"));
  expect_refused(run({"eval", "--", "--help"}), 1, {"no run found in '--help'"});
  expect_refused(run({"eval", "--"}), 2, {"missing argument RUN"});
}

TEST_F(Surroundings, ARunThatIsBeingReplacedIsNotListed) {
  train("a");
  for (const char* beside : {"a.being-replaced", "a.being-aside"})
    fs::copy(folder / "a", folder / beside);
  const Outcome listed = done({"runs", "."});
  EXPECT_TRUE(holds(listed.out, "./a "));
  EXPECT_FALSE(holds(listed.out, "being")) << listed.out;
}

/// The program of the task replaces the run while its heads are scored.
TEST_F(Surroundings, AResultOfAReplacedRunIsNotKept) {
  write_file(folder / "p.sh", std::string("test -e now && cp b/config.json a/\n") + kAnswers);
  const Words small = typed("--heads 1 --d-model 8 --layers 1 --steps 2 --batch 2 --task");
  done(with(with({"train", "--out", "a"}, small), {"command:sh p.sh"}));
  done(with(with({"train", "--seed", "5", "--out", "b"}, small), {"command:sh p.sh"}));
  write_file(folder / "now", "");
  const ProcessOptions allowed = {.folder = folder.path(),
                                  .environment = {"HEADLAB_COMMAND=sh p.sh"}};
  const Outcome outcome = Process({"heads", "a"}, allowed).finish();
  EXPECT_EQ(outcome.status, 1);
  expect_parts(outcome.err, {"a was replaced meanwhile", "hint: repeat the command"});
  EXPECT_FALSE(fs::exists(folder / "a/heads.json"));
}

}}  // namespace headlab::cli
