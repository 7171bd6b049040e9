// Runs the built program as a user would and keeps what it said: `run({"train", "--steps", "3"})`.
// Everything happens in a fresh folder for each test; `Process` can also be watched, interrupted,
// and given a terminal. Children use one thread unless a test asks for more: tests share machines.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <sstream>
#include <vector>

#include "headlab/core/base/build.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/stored_json.h"
#include "support/folders.h"
#include "support/tools.h"

namespace headlab::cli {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// The words of a command line; '' is an empty one.
inline Words typed(const std::string& line) {
  Words words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word == "''" ? "" : word);
  return words;
}

/// The result of a process. `status` is the exit status, or -N if signal N ended it.
struct Outcome {
  int status = 0;
  std::string out, err;
  Json json() const { return Json::parse(out); }
};

struct ProcessOptions {
  fs::path folder = fs::current_path();
  bool terminal = false;    // stdout and stderr are one terminal; what it shows is `out`
  bool keyboard = false;    // stdin is that terminal too
  int columns = 0;          // width of that terminal; 0: it does not say
  std::string out_file{};   // stdout goes to this file
  bool small_pipe = false;  // stderr holds little before a process that is not read must wait
  Words environment{};      // NAME=VALUE; NAME alone takes the variable away
  std::string called = "headlab";  // the program as it was typed
};

class Process {
 public:
  Process(const Words& words, const ProcessOptions& options) {
    open_channels(options);
    pid_ = fork();
    if (pid_ == 0) become(words, options);
    for (int& end : inner_) close_once(end);
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close_once(out_);
    close_once(err_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const { kill(pid_, number); }

  /// Waits until stderr holds `part`, sends a signal, and reads to the end.
  Outcome signalled(const std::string& part, int number) {
    EXPECT_TRUE(wait_for(part));
    signal(number);
    return finish();
  }

  /// Types on the keyboard of the terminal.
  void type(const std::string& keys) const {
    if (write(out_, keys.data(), keys.size()) < 0) throw std::runtime_error("no keyboard");
  }

  /// Reads what the terminal shows until it holds `part`; false if the program ends before.
  bool wait_for_shown(const std::string& part) {
    while (seen_.out.find(part) == std::string::npos) {
      char byte = 0;
      if (read(out_, &byte, 1) != 1) return false;
      seen_.out += byte;
    }
    return true;
  }

  /// As `2>&1 | head` does that has seen enough.
  void close_stderr() { close_once(err_); }

  /// Reads stderr until it holds `part` and no further; false if it ends before.
  bool wait_for(const std::string& part) {
    while (seen_.err.find(part) == std::string::npos) {
      char byte = 0;
      if (read(err_, &byte, 1) != 1) return false;
      seen_.err += byte;
    }
    return true;
  }

  /// Waits until stderr, a small pipe, is nearly full and nothing more has come for a while: the
  /// next line has no room, so the process cannot end any more without being read. False where
  /// pipes are not that small.
  bool wait_until_blocked() const {
#ifdef F_SETPIPE_SZ
    constexpr int kLine = 250, kStill = 300;  // bytes at most; polls, a millisecond each
    const int capacity = fcntl(err_, F_GETPIPE_SZ);
    if (capacity != 4096) return false;
    for (int waiting = 0, before = 0, still = 0; still < kStill; usleep(1000), before = waiting) {
      if (ioctl(err_, FIONREAD, &waiting) != 0) return false;
      still = waiting == before && waiting > capacity - kLine ? still + 1 : 0;
    }
    return true;
#else
    return false;
#endif
  }

  /// Whether the process ends within this time, without anything being read.
  bool ends_within(int milliseconds) {
    for (int waited = 0; waited <= milliseconds; waited += 5) {
      if (waitpid(pid_, &raw_status_, WNOHANG) == pid_) {
        pid_ = 0;
        return true;
      }
      usleep(5000);
    }
    return false;
  }

  /// Reads to the end and waits.
  Outcome finish() {
    std::array<pollfd, 2> ends = {{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
      poll(ends.data(), ends.size(), -1);
      drain(ends[0], seen_.out);
      drain(ends[1], seen_.err);
    }
    if (pid_ > 0) {
      waitpid(pid_, &raw_status_, 0);
      pid_ = 0;
    }
    seen_.status = WIFEXITED(raw_status_) ? WEXITSTATUS(raw_status_) : -WTERMSIG(raw_status_);
    return seen_;
  }

 private:
  static void close_once(int& descriptor) {
    if (descriptor >= 0) close(descriptor);
    descriptor = -1;
  }

  static void drain(pollfd& end, std::string& into) {
    if (end.fd < 0 || end.revents == 0) return;
    std::array<char, 4096> buffer{};
    const ssize_t count = read(end.fd, buffer.data(), buffer.size());
    if (count <= 0)
      end.fd = -1;  // the end, or (EIO) a terminal whose writers are gone
    else
      into.append(buffer.data(), static_cast<std::size_t>(count));
  }

  void open_channels(const ProcessOptions& options) {
    if (options.terminal) {
      out_ = posix_openpt(O_RDWR | O_NOCTTY);
      grantpt(out_);
      unlockpt(out_);
      inner_[0] = open(ptsname(out_), O_RDWR | O_NOCTTY);
      inner_[1] = dup(inner_[0]);
      winsize size{};
      size.ws_col = static_cast<unsigned short>(options.columns);
      ioctl(inner_[0], TIOCSWINSZ, &size);
    } else {
      open_pipe(out_, inner_[0]);
      open_pipe(err_, inner_[1]);
    }
    if (!options.out_file.empty()) {
      close_once(inner_[0]);
      inner_[0] = open(options.out_file.c_str(), O_WRONLY);
    }
#ifdef F_SETPIPE_SZ
    if (options.small_pipe) fcntl(err_, F_SETPIPE_SZ, 4096);
#endif
    fcntl(out_, F_SETFD, FD_CLOEXEC);
    if (err_ >= 0) fcntl(err_, F_SETFD, FD_CLOEXEC);
  }

  static void open_pipe(int& reading, int& writing) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    reading = ends[0];
    writing = ends[1];
  }

  [[noreturn]] void become(const Words& words, const ProcessOptions& options) {
    dup2(options.keyboard ? inner_[0] : open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(inner_[0], STDOUT_FILENO);
    dup2(inner_[1], STDERR_FILENO);
    close(inner_[0]);
    close(inner_[1]);
    for (const int number : {SIGINT, SIGHUP, SIGTERM})
      std::signal(number, SIG_DFL);  // as a user has
    setenv("OMP_NUM_THREADS", "1", 1);
    if (options.terminal) setenv("TERM", "xterm", 1);
    for (const std::string& variable : options.environment) {
      const std::size_t equals = variable.find('=');
      if (equals == variable.npos)
        unsetenv(variable.c_str());
      else
        setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    }
    std::vector<char*> values = {const_cast<char*>(options.called.c_str())};
    for (const std::string& word : words) values.push_back(const_cast<char*>(word.c_str()));
    values.push_back(nullptr);
    if (chdir(options.folder.c_str()) == 0) execv(HEADLAB_PROGRAM, values.data());
    _exit(127);
  }

  pid_t pid_ = 0;
  int out_ = -1, err_ = -1;              // this side
  std::array<int, 2> inner_ = {-1, -1};  // the child's stdout and stderr
  int raw_status_ = 0;
  Outcome seen_;
};

/// Every file below a folder with its bytes: what must not change.
inline std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    files[name] = entry.is_regular_file() ? read_file(entry.path()) : "";
  }
  return files;
}

/// The words with those flags and values of `preset` that they do not give themselves.
inline Words with_preset(Words words, const Words& preset) {
  for (std::size_t i = 0; i + 1 < preset.size(); i += 2)
    if (std::ranges::find(words, preset[i]) == words.end())
      words.insert(words.end(), {preset[i], preset[i + 1]});
  return words;
}

/// A command line with more words.
inline Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Words of a small training that takes a moment: a model of 4 heads of width 4.
inline Words tiny(Words more) {
  more.insert(more.begin(), "train");
  return with_preset(std::move(more),
                     {"--task", "relations:length=8", "--d-model", "16", "--batch", "8", "--steps",
                      "30", "--warmup", "5", "--eval-examples", "32"});
}

/// A fresh folder in which the program runs.
class Program : public testing::Test {
 protected:
  Outcome run(const Words& words, ProcessOptions options = {}) const {
    options.folder = folder.path();
    return Process(words, options).finish();
  }
  /// Runs what is only a preparation.
  Outcome done(const Words& words) const {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome;
  }
  /// For a program that must wait, where it says much, while no process reads it.
  ProcessOptions waiting() const { return {.folder = folder.path(), .small_pipe = true}; }
  /// Expects that the hint of an error is a sentence or a command. Its commands can be pasted: with
  /// --help at the end, each is understood.
  void expect_hint(const std::string& err) {
    const std::size_t at = err.find("\nhint: ");
    if (at == err.npos) return;
    const std::string hint = err.substr(at + 7, err.find('\n', at + 7) - at - 7);
    EXPECT_FALSE(hint.starts_with("-")) << hint;
    std::vector<std::string_view> lines;
    if (hint.starts_with("headlab ")) lines.emplace_back(hint);
    const std::vector<std::string_view> parts = split(hint, '`');
    for (std::size_t i = 1; i < parts.size(); i += 2) {
      if (parts[i].starts_with("headlab ")) lines.push_back(parts[i]);
    }
    for (const std::string_view line : lines) {
      Words words = typed(std::string(line.substr(std::string_view("headlab ").size())));
      if (!words[0].starts_with("-")) words.emplace_back("--help");
      EXPECT_EQ(run(words).status, 0) << line;
    }
  }
  std::string file(const std::string& name) const { return read_file(folder.path() / name); }
  /// A result: without its checksum, which is compared.
  Json kept(const std::string& name) const { return read_json(folder.path() / name); }

  TemporaryFolder folder;
};

/// The line after `command: `, as it was before it was folded.
inline std::string again_of(const std::string& out) {
  const std::string mark = "command:";
  std::string line = out.substr(std::min(out.find(mark) + mark.size(), out.size()));
  for (const auto& [folded, whole] : {std::pair{" \\\n    ", " "}, {"\n  # ", "  # "}})
    for (std::size_t at; (at = line.find(folded)) != line.npos;)
      line.replace(at, std::string_view(folded).size(), whole);
  return line.substr(std::min<std::size_t>(1, line.size()), line.find('\n') - 1);
}

/// The commands of that line, without its comment: of each the words after `headlab`. These tests
/// use none that need quotes.
inline std::vector<Words> commands_again(const std::string& out) {
  const std::string line = again_of(out);
  std::istringstream words(line.substr(0, line.find("  #")));
  std::vector<Words> commands;
  for (std::string word; words >> word;)
    if (word == "headlab")
      commands.emplace_back();
    else if (word != "&&")
      commands.back().push_back(word);
  return commands;
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A text that holds each of these.
inline void expect_parts(const std::string& text, const Words& parts) {
  for (const std::string& part : parts) EXPECT_TRUE(holds(text, part)) << part << " in " << text;
}

/// `error: ...`, then perhaps `hint: ...`, a line each, and nothing else.
inline void expect_sentence(const std::string& err, const Words& parts) {
  EXPECT_EQ(err.rfind("error: ", 0), 0u) << err;
  const auto lines = std::count(err.begin(), err.end(), '\n');
  EXPECT_TRUE(lines == 1 || (lines == 2 && holds(err, "\nhint: "))) << err;
  expect_parts(err, parts);
}

/// A command that ended with this status and a sentence that holds these parts.
inline void expect_refused(const Outcome& outcome, int status, const Words& parts) {
  EXPECT_EQ(outcome.status, status) << outcome.err;
  expect_sentence(outcome.err, parts);
}

/// A command line that cannot be carried out, for tables of tests.
struct Mistake {
  const char* name;
  const char* line;
  int status;
  const char* parts;  // of the answer, between bars

  Words words() const { return typed(line); }
  Words said() const {
    const auto all = split(parts, '|');
    return {all.begin(), all.end()};
  }
};
inline void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

}  // namespace headlab::cli
