// Replacing a run whose folder cannot change its place: a mount point (EBUSY), a folder of the
// lower layer of an overlay (EXDEV), the current folder. exchange_test.cc replaces the call of the
// system. Names that are too long to be replaced, and runs that are replaced while they
// are used. Read next: run_test.cc.
#include <unistd.h>

#include <cerrno>

#include "headlab/lab/runs/run.h"
#include "support/errors.h"
#include "support/runs.h"
#include "support/tasks.h"
#include "train/exchange_error.h"

namespace headlab { namespace {

class FixedFolder : public InAFolder {
 protected:
  ~FixedFolder() override { exchange_error = 0; }
  fs::path path = folder / "run";
};

TEST_F(FixedFolder, IsFilledInPlace) {
  for (const int error : {EBUSY, EXDEV}) {
    fs::remove_all(path);
    create_run(path, tiny_config());
    write_file(path / "notes.txt", "mine");
    write_file(path / "heads.json", "{\"headlab\": 1}");
    exchange_error = error;
    create_run(path, tiny_config("seed=1"), Existing::replace);
    exchange_error = 0;
    EXPECT_EQ(open_run(path).config.train.seed, 1);
    EXPECT_EQ(names_in(path), (std::vector<std::string>{"config.json", "model.safetensors",
                                                        "notes.txt", "state.safetensors"}));
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"run"});
  }
}

TEST_F(FixedFolder, StaysAsItWasIfTheDiskFailsMeanwhile) {
  create_run(path, tiny_config());
  exchange_error = EIO;
  EXPECT_THROW(create_run(path, tiny_config("seed=1"), Existing::replace), Error);
  EXPECT_EQ(open_run(path).config.train.seed, tiny_config().train.seed);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"run"});
}

TEST_F(FixedFolder, HasANameThatLeavesRoomForItsReplacement) {
  const fs::path longest = folder / std::string(240, 'r');
  for (const int error : {0, EINVAL}) {  // EINVAL: three renames instead of one exchange
    exchange_error = error;
    create_run(longest, tiny_config(), Existing::replace);
    create_run(longest, tiny_config("seed=1"), Existing::replace);
    EXPECT_EQ(open_run(longest).config.train.seed, 1);
  }
  const std::string longer(241, 'r');
  for (const fs::path& name : {folder / longer, folder / (longer + "/"), folder / (longer + "/.")})
    expect_error([&] { check_run_folder(name, Existing::refuse); },
                 {"its name has 241 bytes, and at most 240 are possible | choose a shorter name"});
}

TEST_F(FixedFolder, IsNoticedWhenAnotherRunTakesItsPlace) {
  create_run(path, tiny_config());
  const TrainedRun run = open_run(path);
  EXPECT_FALSE(was_replaced(run));
  create_run(path, tiny_config("seed=1"), Existing::replace);
  EXPECT_TRUE(was_replaced(run));
  fs::remove_all(path);
  EXPECT_TRUE(was_replaced(run));
}

}}  // namespace headlab
