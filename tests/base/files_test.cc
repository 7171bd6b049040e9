// Files: what is written is what is read, and whatever goes wrong leaves the old file and no other.
// A full disk is played with a limit on the size of files (setrlimit). Read next:
// src/core/base/files.cc.
#include "headlab/core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <thread>

#include "headlab/lab/results/stored_json.h"
#include "support/errors.h"
#include "support/folders.h"

namespace headlab { namespace files_tests {

namespace fs = std::filesystem;

/// A fresh directory for each test.
class Files : public testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(directory_))
      out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

  TemporaryFolder folder_;
  const fs::path& directory_ = folder_.path();
};

using Names = std::vector<std::string>;

TEST_F(Files, AreReadAsTheyWereWritten) {
  std::string bytes;
  for (int i = 0; i < 100000; ++i) bytes += static_cast<char>(i * 7 % 256);
  for (const std::string& content : {std::string(), std::string(1, '\0'), bytes}) {
    write_file(directory_ / "a", content);
    EXPECT_EQ(read_file(directory_ / "a"), content);
  }
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(Files, AreWrittenPartByPart) {
  write_file(directory_ / "a", std::vector<std::string_view>{"one", "", "two"});
  EXPECT_EQ(read_file(directory_ / "a"), "onetwo");
  write_file(directory_ / "a", std::vector<std::string_view>{});
  EXPECT_EQ(read_file(directory_ / "a"), "");
}

TEST_F(Files, SayWhyTheyCannotBeReadOrWritten) {
  const fs::path missing = directory_ / "none";
  expect_error([&] { read_file(missing); },
               {"cannot read '" + missing.string() + "': No such file or directory | "});
  expect_error([&] { read_file(directory_); }, {"Is a directory"});
  expect_error([&] { write_file(missing / "a", "x"); },
               {"No such file or directory | ", "directories in it must exist"});
  expect_error([&] { write_file(directory_, "x"); }, {"Is a directory"});
  const std::string too_long = error_of([&] { read_file(directory_ / std::string(300, 'a')); });
  EXPECT_TRUE(too_long.ends_with(": File name too long")) << "no hint fits: " << too_long;
  write_file(directory_ / "file", "x");
  expect_error([&] { write_file(directory_ / "file" / "a", "x"); },
               {"a part of the path is a file"});
  const std::string long_name(300, 'a'),
      said = error_of([&] { read_file(directory_ / long_name); });
  EXPECT_EQ(said.find("a part of the path"), said.npos) << said;
  EXPECT_THROW(write_file("", "x"), Error);
  EXPECT_EQ(names(), Names{"file"});
}

TEST_F(Files, KeepTheOldContentWhenTheDiskIsFull) {
  write_file(directory_ / "a", "old");
  const std::string large(100000, 'x');
  {
    const FileSizeLimit limit(4096);
    expect_error([&] { write_file(directory_ / "a", large); }, {"File too large | "});
  }
  EXPECT_EQ(read_file(directory_ / "a"), "old");
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(Files, AreNotMadeWhenTheDiskIsFull) {
  {
    const FileSizeLimit limit(10);
    EXPECT_THROW(write_file(directory_ / "a", std::vector<std::string_view>{"12345", "67890", "1"}),
                 Error);
  }
  EXPECT_EQ(names(), Names{});
}

TEST_F(Files, SayThatADeviceIsFullAndHowToHelp) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  expect_error([] { write_file("/dev/full", "x"); },
               {"cannot write '/dev/full': No space left on device | free some space"});
  EXPECT_THROW(append_line("/dev/full", "x"), Error);
}

TEST_F(Files, LeaveDevicesWhereTheyAre) {
  write_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, RespectReadOnlyDirectories) {
  if (geteuid() == 0) GTEST_SKIP() << "permissions do not bind root";
  fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
  expect_error([&] { write_file(directory_ / "a", "x"); }, {"Permission denied"});
  fs::permissions(directory_, fs::perms::owner_all);
}

TEST_F(Files, KeepTheirPermissions) {
  write_file(directory_ / "a", "x");
  fs::permissions(directory_ / "a", fs::perms::owner_read | fs::perms::owner_write);
  write_file(directory_ / "a", "y");
  EXPECT_EQ(fs::status(directory_ / "a").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, KeepNoSetIdBits) {
  write_file(directory_ / "a", "x");
  const fs::perms kept = fs::perms::owner_all | fs::perms::others_write;  // beyond the usual umask
  fs::permissions(directory_ / "a", kept | fs::perms::set_uid | fs::perms::set_gid);
  write_file(directory_ / "a", "y");
  EXPECT_EQ(fs::status(directory_ / "a").permissions(), kept);
}

/// A shell's `>> FILE` opens the file for a descriptor; /dev/stdout is one.
TEST_F(Files, AreWrittenWhereAnOpenDescriptorHasArrived) {
  const fs::path file = directory_ / "a";
  write_file(file, "before ");
  const int open_file = ::open(file.c_str(), O_WRONLY | O_APPEND);
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/", "/dev/../dev/fd/"}) {
    const fs::path named = folder + std::to_string(open_file);
    EXPECT_TRUE(is_written_in_place(named));
    for (const Links links : {Links::replace, Links::refuse, Links::follow})
      write_file(named, "x", links);
  }
  EXPECT_EQ(read_file(file), "before xxxxxxxxx");
  EXPECT_EQ(::close(open_file), 0);
  expect_error([&] { write_file("/dev/fd/999", "x"); }, {"/dev/fd/999", "Bad file descriptor"});
  for (const char* other : {"/dev/fd/", "/dev/fd/1x", "/dev/fd/a", "/dev/stdouts"})
    EXPECT_FALSE(is_written_in_place(other)) << other;
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(Files, AreWrittenIntoPipesIfLinksAreFollowed) {
  const fs::path pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("pipe", directory_ / "link");
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(directory_ / "link", "through", Links::follow);
  std::string bytes(7, ' ');
  EXPECT_EQ(::read(reader, bytes.data(), bytes.size()), 7);
  EXPECT_EQ(bytes, "through");
  EXPECT_EQ(::close(reader), 0);
}

TEST_F(Files, ReplaceLinksAndPipesUnlessTheyAreAskedToFollow) {
  fs::create_directory(directory_ / "sub");
  write_file(directory_ / "sub" / "real", "mine");
  fs::create_symlink("sub/real", directory_ / "link");
  write_file(directory_ / "link", "x");
  EXPECT_FALSE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(read_file(directory_ / "link"), "x");
  EXPECT_EQ(read_file(directory_ / "sub" / "real"), "mine");
  fs::create_symlink("sub/none", directory_ / "dangling");
  write_file(directory_ / "dangling", "x");
  EXPECT_FALSE(fs::exists(directory_ / "sub" / "none"));
  ASSERT_EQ(mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  write_file(directory_ / "pipe", "x");  // which would wait for a reader
  EXPECT_EQ(read_file(directory_ / "pipe"), "x");

  fs::create_symlink("sub/real", directory_ / "named");
  write_file(directory_ / "named", "x", Links::follow);
  EXPECT_TRUE(fs::is_symlink(directory_ / "named"));
  EXPECT_EQ(read_file(directory_ / "sub" / "real"), "x");
}

TEST_F(Files, AreRefusedAsLinksWhereThatIsAsked) {
  fs::create_symlink("target", directory_ / "link");
  const auto refused = [&](const auto& write) {
    expect_error(write, {"cannot write '" + (directory_ / "link").string() + "'"});
    EXPECT_FALSE(fs::exists(directory_ / "target"));
  };
  refused([&] { append_line(directory_ / "link", "x"); });
  refused([&] { write_file(directory_ / "link", "x", Links::refuse); });
  refused([&] { refuse_link(directory_ / "link"); });
}

TEST_F(Files, KnowTheirTemporaryNames) {
  EXPECT_TRUE(is_temporary("a/heads.json.tmp-12-0"));
  EXPECT_EQ(temporary_target("a/heads.json.tmp-12-0"), "heads.json");
  for (const char* other : {"heads.json", ".tmp-1-0", "a.tmp-", "a.tmp-x", "a.tmp-1-0.json"})
    EXPECT_FALSE(is_temporary(other)) << other;
}

TEST_F(Files, DoNotHangOnLinksThatGoRound) {
  fs::create_symlink("b", directory_ / "a");
  fs::create_symlink("a", directory_ / "b");
  EXPECT_THROW(read_file(directory_ / "a"), Error);
}

TEST_F(Files, AreNotReadFromPipesAndDevices) {
  const fs::path pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& endless : {pipe, fs::path("/dev/zero")})
    expect_error([&] { read_file(endless); },
                 {"cannot read '" + endless.string() + "': it is a device or a pipe"});
}

TEST_F(Files, AreNeverSeenHalfWritten) {
  const fs::path path = directory_ / "a";
  const std::string first(50000, 'a'), second(70000, 'b');
  write_file(path, first);
  std::jthread writer([&] {
    for (int i = 0; i < 50; ++i) write_file(path, i % 2 == 0 ? second : first);
  });
  for (int i = 0; i < 500; ++i) {
    const std::string seen = read_file(path);
    ASSERT_TRUE(seen == first || seen == second);
  }
}

TEST_F(Files, GrowLineByLine) {
  append_line(directory_ / "a", "one");
  append_line(directory_ / "a", "");
  append_line(directory_ / "a", "two");
  EXPECT_EQ(read_file(directory_ / "a"), "one\n\ntwo\n");
  EXPECT_THROW(append_line(directory_ / "a", "x\ny"), Error);
  EXPECT_THROW(append_line(directory_ / "none" / "a", "x"), Error);
}

TEST_F(Files, FlippedBitInJsonIsDetected) {
  const fs::path file = directory_ / "a.json";
  const Json json = stamped({{"loss", 0.1}, {"heads", Json::Array{1, 2}}, {"none", Json()}});
  write_json(file, json);
  EXPECT_EQ(read_json(file), json);
  const std::string whole = read_file(file);
  EXPECT_TRUE(whole.starts_with("{\n  \"headlab\"")) << whole;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    std::ofstream(file, std::ios::binary) << flipped;
    testing::internal::CaptureStderr();
    try {
      const bool same = read_json(file) == json;
      EXPECT_TRUE(!testing::internal::GetCapturedStderr().empty() || same) << flipped;
    } catch (const Error&) {
      testing::internal::GetCapturedStderr();
    }
  }
}

TEST_F(Files, JsonWithoutChecksumIsReadWithANote) {
  write_file(directory_ / "a.json", "{\"headlab\": \"0.1.0\", \"loss\": 2}");
  testing::internal::CaptureStderr();
  EXPECT_EQ(read_json(directory_ / "a.json").at("loss").number(), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("a.json has no checksum"), said.npos) << said;
}

TEST_F(Files, LoseAHalfWrittenLine) {
  append_line(directory_ / "a", "one");
  {
    const FileSizeLimit limit(10);
    EXPECT_THROW(append_line(directory_ / "a", std::string(100, 'x')), Error);
  }
  EXPECT_EQ(read_file(directory_ / "a"), "one\n");
}

TEST_F(Files, AreWrittenWhenNamesOfDeadProcessesAreInTheWay) {
  const std::string mine = "a.tmp-" + std::to_string(getpid()) + "-";
  for (int i = 0; i < 2000; ++i) std::ofstream(directory_ / (mine + std::to_string(i))) << "stale";
  write_file(directory_ / "a", "x");
  EXPECT_EQ(read_file(directory_ / "a"), "x");
  EXPECT_EQ(names().size(), 2001u);
}

TEST_F(Files, LiveInDirectoriesThatAreMadeWithTheirParents) {
  make_directories(directory_ / "x" / "y");
  make_directories(directory_ / "x" / "y");
  EXPECT_TRUE(fs::is_directory(directory_ / "x" / "y"));
  write_file(directory_ / "file", "x");
  EXPECT_THROW(make_directories(directory_ / "file"), Error);
  EXPECT_THROW(make_directories(directory_ / "file" / "z"), Error);
}

/// /proc/self/mem is a regular file that cannot be read at its beginning.
TEST_F(Files, FailedReadsAreErrors) {
  const std::string memory = "/proc/self/mem";
  const std::string wrong = "cannot read '/proc/self/mem'";
  expect_error([&] { read_file(memory); }, {wrong, "Input/output error"});
  expect_error([&] { FileReader(memory).read(0, 16); }, {wrong, "Input/output error"});
}

}  // namespace files_tests
}  // namespace headlab
