// Runs, files and folders that came from someone else: they start no program, write to no file
// outside their folder, and steer no terminal. Programs that a task starts end with headlab.
// Read next: trust_test.cc.
#include <elf.h>

#include <chrono>
#include <cstring>

#include "cli/safety.h"
#include "headlab/core/base/safetensors.h"

namespace headlab::cli { namespace {

// ---- programs

TEST_F(Safety, OnlyTheValueOfTaskAllowsAProgram) {
  write("x", answering());
  const std::string name = "demo-command:sh x";
  done(training("command:sh x", name, {"--steps", "2"}));
  ASSERT_TRUE(executed());
  for (const Words& words : {Words{"heads", name},
                             {"eval", name},
                             {"page", name},
                             {"ablate", name},
                             {"circuits", name},
                             {"export", name, "--to", "npz", "--out", "command:sh x"},
                             {"train", "--resume", name, "--steps", "3"},
                             {"cost", "--model", name},
                             {"prune", name, "--keep", "1", "--out", "command:sh x"},
                             {"heads", name, "--out", "command:sh x"},
                             {"train", "--config", name + "/config.json", "--out", "command:sh x"},
                             {"show", "--write", "command:sh x", "relations"},
                             {"compare", name, name},
                             {"sample", name},
                             {"curve", name},
                             {"completion", "words", "headlab train --task command:sh x"}}) {
    run(words);
    EXPECT_FALSE(executed()) << words[0];
  }
  expect_refused(run({"heads", name}), 1, {"you have not named it", "HEADLAB_COMMAND='sh x'"});
  fs::remove_all(folder.path() / "command:sh x");  // which `show` would read as a file
  done({"show", "command:sh x"});
  EXPECT_TRUE(executed());
  done({"train", "--task=command:sh x", "--out", "b", "--steps", "1", "--batch", "1", "--heads",
        "1", "--d-model", "8", "--eval-examples", "2"});
  EXPECT_TRUE(executed());
}

TEST_F(Safety, EachTaskOfAListMayNameAProgram) {
  write("x", answering());
  write("y", answering("true"));
  const Words words =
      with({"sweep", "--task", "command:sh x,command:sh y", "--steps", "1", "--out", "s"}, kSmall);
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(Safety, HintsQuoteWhatTheyName) {
  write("x", answering());
  const std::string task = "command:sh x # '; touch PASTED; '";
  done(training(task, "a", {"--steps", "1"}));
  const Outcome refused = run({"eval", "a"});
  const std::string mark = "if you trust it: ";
  std::string hint = refused.err.substr(refused.err.find(mark) + mark.size());
  hint = hint.substr(0, hint.find(" headlab"));
  ASSERT_TRUE(hint.starts_with("HEADLAB_COMMAND=")) << refused.err;
  std::system(("cd '" + folder.path().string() + "' && " + hint + " true").c_str());
  EXPECT_FALSE(fs::exists(folder.path() / "PASTED")) << hint;
}

TEST_F(Safety, CtrlCEndsAProgramThatDoesNotAnswerWithAllThatItStarted) {
  const std::string silent =
      "if [ $n = 8 ]; then sleep 300 & echo $! > helper; echo $$ > self; sleep 300; fi";
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    write("x", answering(silent));
    fs::remove(folder.path() / "self");
    Process process(training("command:sh x", "a", {"--steps", "50", "--force"}),
                    {.folder = folder.path()});
    for (int i = 0; i < 1000 && !fs::exists(folder.path() / "self"); ++i) usleep(10'000);
    usleep(100'000);
    const auto begin = std::chrono::steady_clock::now();
    process.signal(signal);
    const Outcome outcome = process.finish();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));  // 1 when idle
    EXPECT_EQ(outcome.status, signal == SIGKILL ? -SIGKILL : 130) << outcome.err;
    EXPECT_TRUE(has_ended(pid_in("self"))) << signal;
    EXPECT_TRUE(has_ended(pid_in("helper"))) << signal;
    const bool says_how = holds(outcome.err, "headlab train --resume a");
    EXPECT_EQ(says_how, signal != SIGKILL) << outcome.err;
  }
  write("x", answering());
  const Outcome resumed =
      run({"train", "--resume", "a"}, {.environment = {"HEADLAB_COMMAND=sh x"}});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST_F(Safety, ASweepThatIsKilledLeavesNoWorkerAndNoProgram) {
  write("x", answering("echo $$ > self$$; [ $n = 8 ] && sleep 300"));
  Process process(with({"sweep", "--task", "command:sh x", "--steps", "50", "--seeds", "2",
                        "--jobs", "2", "--out", "s"},
                       kSmall),
                  {.folder = folder.path()});
  const auto programs = [&] {
    std::vector<pid_t> all;
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (entry.path().filename().string().starts_with("self"))
        all.push_back(std::stoi(entry.path().filename().string().substr(4)));
    return all;
  };
  for (int i = 0; i < 500 && programs().size() < 3; ++i) usleep(10'000);
  usleep(500'000);
  process.signal(SIGKILL);
  process.finish();  // returns when no process holds its stderr any more
  for (const pid_t program : programs()) EXPECT_TRUE(has_ended(program));
}

TEST_F(Safety, ChildrenOfAProgramEndWithIt) {
  write("x", "sleep 300 & echo $! > helper\n" + answering());
  done(training("command:sh x", "a", {"--steps", "1"}));
  EXPECT_TRUE(has_ended(pid_in("helper")));
}

// ---- names

TEST_F(Safety, CompletionInBashQuotesNames) {
  if (const std::string reason = reason_without(kBash); !reason.empty()) GTEST_SKIP() << reason;
  write("completion.bash", done({"completion", "bash"}).out);
  const std::string program = fs::path(HEADLAB_PROGRAM).parent_path();
  const Words names = {"$(touch P)", "a;touch P", "`touch P`", "a&&touch P", "a b",      "a'b",
                       "*",          "~root",     "a\"b",      "a>P",        "a|touch P"};
  for (const std::string& name : names) {
    const fs::path place = folder.path() / "there";
    fs::remove_all(place);
    fs::create_directories(place / name);
    write_file(place / name / "config.json", "{}");
    const std::string script =
        "PATH='" + program +
        "':$PATH; source ../completion.bash; COMP_LINE='headlab eval ' "
        "COMP_POINT=13 COMP_CWORD=2; COMP_WORDS=(headlab eval ''); _headlab; "
        "eval \"set -- ${COMPREPLY[0]}\"; printf %s \"$#:$1\" > ../word";
    write("there.sh", script);
    std::system(("cd '" + place.string() + "' && bash ../there.sh").c_str());
    EXPECT_EQ(file("word"), "1:" + name);
    EXPECT_FALSE(fs::exists(place / "P")) << name;
  }
}

TEST_F(Safety, CompletionOffersNoNameThatIsSeveralLinesOrAFlag) {
  for (const char* name : {"a\ntouch P", "b\x1b[8m", "-x", "plain"}) {
    fs::create_directories(folder.path() / name);
    write_file(folder.path() / name / "config.json", "{}");
  }
  EXPECT_EQ(done({"completion", "words", "headlab eval "}).out, "./-x\nplain\n");
}

// ---- links
// ---- the terminal

TEST_F(Safety, NothingFromFilesSteersATerminal) {
  std::string lines =
      R"({"header":{"relations":[{"name":"r","description":"\u001b[8mhidden\u001b[0m"}]}})"
      "\n";
  for (int i = 0; i < 40; ++i)
    lines += R"({"tokens":["\u001b[41ma","b\u009b8m\u007f","c)" + std::to_string(i) +
             R"("],"targets":[null,null,"\u001b[41ma"],"truth":{"r":{"2":[0]}}})" + "\n";
  write("t.jsonl", lines);
  done(training("file:train=t.jsonl", "a", {"--steps", "2"}));
  const auto harmless_only = [](const Words& words, const Outcome& outcome) {
    for (const std::string& said : {outcome.out, outcome.err}) {
      EXPECT_EQ(said.find('\x1b'), said.npos) << join(words, " ");
      EXPECT_EQ(said.find("\xC2\x9B"), said.npos) << join(words, " ");
      EXPECT_EQ(said.find('\x7f'), said.npos) << join(words, " ");
    }
  };
  for (const char* line :
       {"eval a", "heads a", "pattern a 0.0", "show file:train=t.jsonl", "ablate a", "attribute a",
        "patch a", "sample a", "circuits a", "page a", "runs .", "pattern a --grid"})
    for (const char* flag : {"", "--csv", "--latex", "--json"}) {
      Words words = typed(line);
      if (*flag != '\0') words.emplace_back(flag);
      harmless_only(words, run(words));
    }
  const std::string json = done(typed("pattern a 0.0 --json")).out;
  EXPECT_TRUE(holds(json, R"("b\u009B8m\u007F")")) << "what stands after such a character is lost";
}

// ---- command lines

TEST_F(Safety, AFlagThatACommandCannotHonourIsRefusedBeforeTheWork) {
  const auto before = contents(folder.path());
  for (const char* line :
       {"train --out a --csv", "train --out a --latex", "train --out a --table heads",
        "import x --out a --csv", "export x --out a --table t", "completion bash --csv"}) {
    const Outcome outcome = run(typed(line));
    EXPECT_EQ(outcome.status, 2) << line;
    expect_sentence(outcome.err, {"has no table"});
  }
  for (const char* name : {"train", "import", "export", "start", "completion", "sample"}) {
    const std::string help = done({name, "--help"}).out;
    for (const char* flag : {"--csv", "--latex", "--table"})
      EXPECT_FALSE(holds(help, flag)) << name;
  }
  EXPECT_EQ(contents(folder.path()), before);
  done(tiny({"--out", "a"}));
  const auto made = contents(folder.path());
  for (const char* line :
       {"prune a --keep 2 --table nope", "page a --table nope", "ablate a --table nope",
        "sweep --heads 1 --out s --table nope", "curve a --table nope", "heads a --table nope",
        "circuits a --table nope", "runs . --table nope"}) {
    const Outcome outcome = run(typed(line));
    EXPECT_EQ(outcome.status, 2) << line << outcome.err;
    expect_sentence(outcome.err, {"unknown table 'nope'"});
  }
  EXPECT_EQ(contents(folder.path()), made);
}

TEST_F(Safety, ErrorsOfTheFileSystemHaveWordsOfTheirOwn) {
  done(tiny({"--out", "a"}));
  const Outcome outcome = run({"export", "a", "--to", "npz", "--out", "/dev/null"});
  expect_refused(outcome, 1, {"cannot export to '/dev/null': it is not a folder"});
}

// ---- the program itself

TEST(Hardening, TheProgramIsPositionIndependentAndItsTablesAreReadOnly) {
  const std::string bytes = read_file(HEADLAB_PROGRAM);
  if (!bytes.starts_with(ELFMAG)) GTEST_SKIP() << "no ELF here";
  if (holds(bytes, "__asan_init") || holds(bytes, "__tsan_init") || holds(bytes, "__ubsan_handle"))
    GTEST_SKIP() << "sanitizers";
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) GTEST_SKIP() << "not of 64 bits";
  EXPECT_EQ(header.e_type, ET_DYN);
  bool relro = false, now = false;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, bytes.data() + header.e_phoff + i * sizeof part, sizeof part);
    relro = relro || part.p_type == PT_GNU_RELRO;
    if (part.p_type != PT_DYNAMIC) continue;
    for (std::size_t at = 0; at < part.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, bytes.data() + part.p_offset + at, sizeof entry);
      now = now || entry.d_tag == DT_BIND_NOW ||
            (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_BIND_NOW) != 0) ||
            (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_NOW) != 0);
    }
  }
  EXPECT_TRUE(relro);
  EXPECT_TRUE(now);
  EXPECT_TRUE(holds(bytes, "__stack_chk_fail"));
  const bool is_fortified = holds(bytes, "_chk");
  EXPECT_TRUE(is_fortified || holds(build(), "Debug"));
}

}  // namespace
}  // namespace headlab::cli
