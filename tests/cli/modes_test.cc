// A flag that changes nothing is refused: each flag of each command is given in each mode of that
// command. Then the answer, the files or the notes differ from those without it, or the command
// line is wrong, or the list below says why it is taken. Read next: mistakes_test.cc.
#include <set>

#include "cli/program.h"

namespace headlab::cli { namespace {

/// The value of each flag that is not a switch.
const std::string kValues =
    "--accumulate=2 --activation=relu --activations=f.npz --batch=4 --beta1=.5 --beta2=.5 "
    "--budget=.5 --clip=.01 "
    "--config=c.json --d-ff=12 --d-head=3 --d-model=24 --d-value=3 --decay=.5 --draws=20 "
    "--drop=50 --dropout=.2 --encoder-layers=1 --eps=.1 --eval-every=7 --eval-examples=16 "
    "--example=1 --examples=40 --finetune=3 --gate-steps=3 --head=0.1 --heads=1 --init=gpt2 "
    "--judged=16 --keep=2 --keep-weights=3 --kind=mean --kv-heads=2 --lambda=.5 --layers=2 "
    "--lr=.003 --matrix=qk --max-loss-rise=1 --method=random "
    "--methods=magnitude --min-lr=.001 --model=w --momentum=.5 --norm-place=post --npy=f "
    "--optimizer=adam --out=f --per-layer-min=1 --permutations=300 "
    "--positions=none --relation=same --resume=w --rounds=2 --save-every=3 "
    "--schedule=linear --seed=5 --seeds=2 --sizes=1 --steps=33 --svg=f --target=1 "
    "--task=relations:length=6 --temperature=0.5 --tokens=3 --top-k=2 --track-heads=5 "
    "--top-p=.3 --warmup=9 --width=84mm --z=f --input=a --prompt=a --source=a --stop=a";

/// Flags that may change nothing here, and why they are taken.
const std::map<std::string, std::string> kTaken = {
    {"train --force", "there is nothing to replace"},
    {"prune --force", "there is nothing to replace"},
    {"curve --force", "there is nothing to make anew"},
    {"prune --examples", "magnitude looks at none, and --max-loss-rise would"},
    {"train --save-every", "the last save is the same"},
    {"sweep --save-every", "the last save is the same"},
    {"sample --stop", "the token need not come"},
};

struct Modes {
  const char* command;
  std::vector<Words> modes;  // what follows the command
};

class EveryFlag : public Program, public testing::WithParamInterface<Modes> {
 protected:
  EveryFlag() {
    done(tiny({"--out", "a", "--track-heads", "10"}));
    done(tiny({"--out", "t", "--task", "copy"}));
    done(tiny({"--out", "b", "--steps", "20"}));
    done({"show", "copy", "--write", "s.jsonl", "--count", "3"});
    write_file(folder.path() / "c.json", R"({"lr": 0.02})");
  }

  /// The result of a call on a fresh copy of the run: status, words, and the files that it left.
  Outcome left_by(const Words& words) {
    for (const char* name : {"w", "o", "f"}) fs::remove_all(folder.path() / name);
    fs::copy(folder.path() / "a", folder.path() / "w", fs::copy_options::recursive);
    Outcome outcome = run(words);
    for (std::string* said : {&outcome.out, &outcome.err}) *said = without_times(*said);
    for (const auto& [name, bytes] : contents(folder.path())) {
      // Among a state's bytes are times.
      const auto lines = name.ends_with("state.safetensors") ? 0 : std::ranges::count(bytes, '\n');
      outcome.out += name + " " + std::to_string(lines) + "\n";
    }
    return outcome;
  }

  static std::string without_times(const std::string& said) {
    std::string kept;
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
      const bool timed =
          std::ranges::any_of(Words{"command:", "per second", "tokens/s", "\"command\"", "seconds",
                                    "per_s", "ms", "\"bytes\"",
                                    "in all"},  // a page holds how long a curve took
                              [&](const std::string& part) { return holds(line, part); });
      if (!timed) kept += line + "\n";
    }
    return kept;
  }

  Words flags_of(const std::string& command) {
    Words flags;
    std::istringstream help(done({command, "--help", "all"}).out);
    for (std::string line; std::getline(help, line);) {
      if (line.starts_with("  --")) flags.push_back(line.substr(2, line.find_first_of(" ", 2) - 2));
      if (const std::size_t off = line.find("--no-"); off != line.npos)
        flags.back() = line.substr(off, line.find(' ', off) - off);
    }
    return flags;
  }

  /// Arguments for every command; --textbook trains for half a minute.
  const std::set<std::string> shared_ = {"--json", "--csv",     "--latex", "--table",   "--quiet",
                                         "--help", "--threads", "--jobs",  "--textbook"};
};

Words joined(const std::string& command, const Words& mode, const Words& more) {
  Words words = with(mode, more);
  const bool trains = (command == "train" || command == "sweep") && mode[0] != "--resume";
  if (trains) words = tiny(words);
  if (!trains) words.insert(words.begin(), command);
  words[0] = command;
  return words;
}

TEST_P(EveryFlag, ChangesSomething) {
  const auto& [command, modes] = GetParam();
  for (const Words& mode : modes) {
    const Outcome without = left_by(joined(command, mode, {}));
    const Outcome numbers = left_by(joined(command, mode, {"--json"}));
    EXPECT_EQ(without.status, 0) << without.err;
    EXPECT_EQ(left_by(joined(command, mode, {"--json"})).out, numbers.out);
    for (const std::string& flag : flags_of(command)) {
      if (shared_.contains(flag) || std::ranges::count(mode, flag) > 0) continue;
      const std::size_t at = kValues.find(flag + "=");
      Words more = {at == kValues.npos ? flag : kValues.substr(at, kValues.find(' ', at) - at)};
      const Outcome with = left_by(joined(command, mode, more));
      if (with.status == 2 || with.status == 1) continue;  // refused in a sentence
      bool same = with.out == without.out && with.err == without.err;
      more.emplace_back("--json");
      same = same && left_by(joined(command, mode, more)).out == numbers.out;
      EXPECT_TRUE(!same || kTaken.contains(std::string(command) + " " + flag))
          << command << " " << mode.back() << ": " << flag;
    }
  }
}

const std::vector<Modes> kModes = {
    {"ablate", {{"w"}, {"w", "--pairs"}, {"w", "--truth-edges"}}},
    {"circuits", {{"w"}, {"w", "--head", "0.1"}, {"w", "--head", "0.1", "--matrix", "qk"}}},
    {"heads", {{"w"}}},
    {"pattern", {{"w", "0.2"}, {"w"}, {"w", "--grid"}, {"w", "--input", "a b"}}},
    {"history", {{"w"}}},
    {"attribute", {{"w"}}},
    {"patch", {{"w"}}},
    {"compare", {{"w", "b"}, {"w", "b", "--measure", "accuracy"}}},
    {"show", {{"copy"}, {"copy", "--write", "o"}, {"s.jsonl", "--check"}}},
    {"list", {{"tasks"}, {"files"}}},
    {"runs", {{"."}}},
    {"eval", {{"w"}}},
    {"sample", {{"t"}, {"t", "--temperature", "0"}, {"t", "--top-k", "1"}}},
    {"cost", {{"--d-model", "16"}, {"--model", "w"}}},
    {"prune",
     {{"w", "--out", "o", "--keep", "2"},
      {"w", "--out", "o", "--keep", "2", "--method", "magnitude"},
      {"w", "--out", "o", "--drop", "50", "--method", "random"}}},
    {"curve", {{"w"}, {"w", "--methods", "magnitude"}, {"w", "--methods", "random"}}},
    {"page", {{"w"}, {"w", "--check"}}},
    {"explain", {{"five-tokens"}, {"attention", "w"}, {"mistakes"}, {"lift"}}},
    {"train",
     {{"--out", "o"},
      {"--out", "o", "--optimizer", "sgd"},
      {"--out", "o", "--schedule", "constant", "--d-ff", "8"},
      {"--resume", "w", "--steps", "36"}}},
    {"sweep", {{"--out", "o"}}},
};
INSTANTIATE_TEST_SUITE_P(Commands, EveryFlag, testing::ValuesIn(kModes),
                         [](const auto& row) { return std::string(row.param.command); });

}  // namespace
}  // namespace headlab::cli
