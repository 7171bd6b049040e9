// Symbolic links, pipes and leftovers inside a run that came from someone else: no command writes
// outside the run, and no command waits for ever. A run's own folder may be a link.
// Read next: safety_test.cc.
#include "cli/safety.h"
#include "headlab/core/base/safetensors.h"

namespace headlab::cli { namespace {

/// A run next to files of the user, to which links in it may point.
class LinksInARun : public Safety {
 protected:
  void SetUp() override {
    done(tiny({"--out", "r/a", "--task", "relations:length=8", "--steps", "4", "--eval-every", "2",
               "--track-heads", "2", "--keep-weights", "2"}));
    write("mine", "my file\n");
  }
  fs::path in_run(const std::string& name) const { return folder.path() / "r/a" / name; }
  void link(const std::string& name, const std::string& target = "../../mine") const {
    fs::remove_all(in_run(name));
    fs::create_symlink(target, in_run(name));
  }
  /// Files next to the runs.
  Words outside() const {
    Words names;
    for (const auto& entry : fs::directory_iterator(folder.path()))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
};

TEST_F(LinksInARun, AreReplacedByResultsAndPages) {
  const std::vector<std::pair<std::string, Words>> writers = {
      {"heads.json", {"heads", "r/a"}},
      {"ablation.json", {"ablate", "r/a", "--examples", "32"}},
      {"circuits.json", {"circuits", "r/a"}},
      {"curve.json", typed("curve r/a --examples 16 --judged 16 --methods magnitude")},
      {"report.html", {"page", "r/a"}},
      {"x.json", {"heads", "r/a", "--out", "r/a/x.json"}},
      {"x.svg", typed("pattern r/a --grid --svg r/a/x.svg")},
      {"x.npy", typed("eval r/a --npy r/a/x.npy")}};
  const Words before = outside();
  for (const auto& [name, words] : writers)
    for (const char* target : {"../../mine", "../../none"}) {
      link(name, target);
      const Outcome outcome = done(words);
      EXPECT_FALSE(fs::is_symlink(in_run(name))) << name;
      EXPECT_TRUE(fs::is_regular_file(in_run(name))) << name;
      EXPECT_TRUE(holds(outcome.err, name + " was a symbolic link: it is replaced")) << outcome.err;
      EXPECT_EQ(file("mine"), "my file\n") << name;
      EXPECT_EQ(outside(), before) << name;
    }
}

TEST_F(LinksInARun, AreReplacedByTheStateAndRefusedByLogs) {
  const std::string state = file("r/a/state.safetensors");
  write("mine", state);
  for (const char* name : {"state.safetensors", "config.json"}) {
    write("mine", file(std::string("r/a/") + name));
    const std::string mine = file("mine");
    link(name);
    done({"train", "--resume", "r/a", "--steps", name[0] == 's' ? "6" : "8"});
    EXPECT_FALSE(fs::is_symlink(in_run(name)));
    EXPECT_EQ(file("mine"), mine) << name;
  }
  for (const char* name : {"metrics.jsonl", "heads.jsonl", "snapshots.safetensors"}) {
    const std::string saved = file(std::string("r/a/") + name);
    write("mine", saved);
    link(name);
    const Outcome outcome = run({"train", "--resume", "r/a", "--steps", "10"});
    EXPECT_EQ(outcome.status, 1);
    expect_parts(outcome.err, {name, "it is a symbolic link"});
    EXPECT_EQ(file("mine"), saved);
    link(name, "../../none");
    EXPECT_EQ(run({"train", "--resume", "r/a", "--steps", "10"}).status, 1) << name;
    EXPECT_FALSE(fs::exists(folder.path() / "none"));
    fs::remove(in_run(name));
    write(std::string("r/a/") + name, saved);
  }
}

TEST_F(LinksInARun, LinkedFoldersAreRefused) {
  fs::create_directories(folder.path() / "victim");
  const Words curve = typed("curve r/a --examples 16 --judged 16 --methods magnitude");
  link("cells", "../../victim");
  expect_refused(run(curve), 1, {"cells", "it is a symbolic link"});
  link("sub", "../../victim");
  EXPECT_EQ(run({"heads", "r/a", "--out", "r/a/sub/x.json"}).status, 1);
  EXPECT_TRUE(fs::is_empty(folder.path() / "victim"));
  // Names next to the run that a replacement uses.
  write("victim/config.json", file("r/a/config.json"));
  for (const char* name : {"r/a.being-replaced", "r/a.being-aside"}) {
    fs::create_symlink("../victim", folder.path() / name);
    run(tiny({"--out", "r/a", "--force"}));
    EXPECT_TRUE(fs::exists(folder.path() / "victim/config.json")) << name;
    fs::remove(folder.path() / name);
  }
}

TEST_F(LinksInARun, MayLeadToTheRunItself) {
  fs::create_directory_symlink("r/a", folder.path() / "link");
  done({"heads", "link"});
  EXPECT_TRUE(fs::is_regular_file(in_run("heads.json")));
  fs::create_symlink("mine", folder.path() / "named");  // the user's own, outside of runs
  done({"heads", "r/a", "--out", "named"});
  EXPECT_TRUE(fs::is_symlink(folder.path() / "named"));
  EXPECT_TRUE(holds(file("mine"), "\"headlab\""));
}

TEST_F(LinksInARun, PipesDoNotBlockACommand) {
  ASSERT_EQ(mkfifo(in_run("x.json").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(in_run("report.html").c_str(), 0600), 0);
  done({"page", "r/a"});
  done({"runs", "r"});
}

// ---- files that commands leave

TEST_F(LinksInARun, StaleTemporaryFilesAreDeletedByResultsAndPages) {
  for (const Words& words : {Words{"heads", "r/a"}, {"page", "r/a"}}) {
    for (const char* name :
         {"heads.json.tmp-999-0", "ablation.json.tmp-1-3", "report.html.tmp-5-1"})
      write_file(in_run(name), "half");
    write_file(in_run("notes.txt.tmp-1-0"), "mine");
    done(words);
    for (const auto& entry : fs::directory_iterator(in_run("")))
      EXPECT_FALSE(holds(entry.path().filename(), "json.tmp-") ||
                   holds(entry.path().filename(), "html.tmp-"))
          << entry.path();
    EXPECT_EQ(file("r/a/notes.txt.tmp-1-0"), "mine");
  }
}

TEST_F(LinksInARun, AFileOfTheUserNamedLikeALockIsKept) {
  write("r/a/.heads.json.lock", "process of my thesis\n");
  write("r/.a.lock", "process of my thesis\n");
  done({"heads", "r/a"});
  run({"train", "--resume", "r/a", "--steps", "6"});
  EXPECT_EQ(file("r/a/.heads.json.lock"), "process of my thesis\n");
  EXPECT_EQ(file("r/.a.lock"), "process of my thesis\n");
}

TEST_F(LinksInARun, InterruptedImportOrExportCanBeRepeated) {
  done(tiny({"--task", "copy", "--out", "r/a", "--force"}));
  done({"export", "r/a", "--to", "transformerlens", "--out", "e"});
  const std::string settings = file("e/config.json");
  fs::remove(folder.path() / "e/model.safetensors");
  write("e/model.safetensors.tmp-12-0", "half");
  done({"export", "r/a", "--to", "transformerlens", "--out", "e"});
  EXPECT_FALSE(fs::exists(folder.path() / "e/model.safetensors.tmp-12-0"));
  for (const char* mine : {"e/notes", "e/config.json"}) {
    write(mine, "mine");
    expect_refused(run({"export", "r/a", "--to", "transformerlens", "--out", "e"}), 1,
                   {"cannot export to 'e'"});
    EXPECT_EQ(file(mine), "mine");
    fs::remove(folder.path() / mine);
  }
  write("e/config.json", settings);

  const Words import = {"import", "e", "--out", "i"};
  done(import);
  fs::remove(folder.path() / "i/config.json");
  write("i/config.json.tmp-12-0", "half");
  expect_refused(run(import), 1, {"use --force"});
  done(with(import, {"--force"}));
  // A model that others wrote is no run.
  fs::create_directory(folder.path() / "theirs");
  fs::copy(folder.path() / "e/model.safetensors", folder.path() / "theirs/model.safetensors");
  EXPECT_EQ(run({"import", "e", "--out", "theirs", "--force"}).status, 1);
}

// ---- logs

TEST_F(LinksInARun, LinesThatALogHasLostAreReported) {
  for (const char* name : {"metrics.jsonl", "heads.jsonl"}) {
    const std::string log = file(std::string("r/a/") + name);
    for (const std::string& cut : {log.substr(0, log.find('\n') + 1), std::string()}) {
      write(std::string("r/a/") + name, cut);
      const std::string lost = std::string(name) + " lacks " + (cut.empty() ? "2 lines" : "1 line");
      for (const Words& words : {Words{"eval", "r/a"}, {"page", "r/a"}})
        EXPECT_TRUE(holds(done(words).err, "r/a/" + lost)) << words[0] << lost;
      EXPECT_TRUE(holds(done({"runs", "r", "--csv"}).out, lost));
    }
    write(std::string("r/a/") + name, log);
    EXPECT_FALSE(holds(done({"eval", "r/a"}).err, "lacks"));
  }
  write("r/a/metrics.jsonl", "");
  for (const char* steps : {"6", "8"})  // it stays known
    EXPECT_TRUE(holds(done({"train", "--resume", "r/a", "--steps", steps}).err,
                      "metrics.jsonl lacks 2 lines"));
}

}  // namespace
}  // namespace headlab::cli
