// Task whose sequences come from a program of the user. The program is started once, reads requests
// from its standard input and prints lines as in a file (sequences.h); kProtocol describes the
// protocol for its author. Its standard error is shown unchanged. A program runs only with the
// user's permission: allow_command, or HEADLAB_COMMAND.
// Read next: sequences.h.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <set>

#include "core/base/digest.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/progress.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/results/words.h"
#include "lab/data/sequences.h"

namespace headlab {
namespace {

constexpr std::size_t kLongestLine = 1 << 24;  // bytes

constexpr const char* kProtocol =
    R"(PROGRAM is a line for the shell. It is started once, and prints a header that
says at least `vocabulary` and `length`. Then it reads requests, such as
  {"count": 64, "seed": 7412, "split": "train"}
and prints as many lines for each, flushed, that follow from the seed and the
split alone; of a larger count the first lines are the same. It runs because
you name it, as --task "command:PROGRAM". Where a run, and not you, names it:
HEADLAB_COMMAND='PROGRAM' headlab heads RUN

)";

std::set<std::string>& allowed() {
  static std::set<std::string> commands;
  return commands;
}

/// Program with pipes to its standard input and output.
class UserProgram {
 public:
  explicit UserProgram(std::string command) : command_(std::move(command)) {}
  ~UserProgram() { stop(); }
  UserProgram(const UserProgram&) = delete;
  UserProgram& operator=(const UserProgram&) = delete;

  std::mutex mutex;  // held during a request

  /// Starts the program unless this process has done so: a forked process has its own. Returns
  /// whether it was started.
  bool start() {
    if (child_ > 0 && owner_ == getpid()) return false;
    int in[2], out[2], life[2];
    require(socketpair(AF_UNIX, SOCK_STREAM, 0, in) == 0 && pipe(out) == 0 && pipe(life) == 0,
            "cannot start a program: the system has no further pipe");
    for (const int end : {in[0], out[0], life[0], life[1]}) fcntl(end, F_SETFD, FD_CLOEXEC);
    owner_ = getpid();
    has_ended_ = false;
    child_ = fork();
    require(child_ >= 0, "cannot start a program: the system starts no further process");
    if (child_ == 0) become_program(in[1], out[1]);
    setpgid(child_, child_);  // as the child does, in case the parent runs first
    for (const int end : {in[1], out[1]}) close(end);
    guard_ = fork();
    if (guard_ == 0) become_guard(life[0], child_);
    close(life[0]);
    to_ = in[0];
    from_ = out[0];
    life_ = life[1];
    read_.clear();
    return true;
  }
  void say(const std::string& line) {
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t sent = send(to_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) fail("does not read its requests");
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Returns its next line, without the line end.
  std::string line() {
    std::size_t end;
    while ((end = read_.find('\n')) == read_.npos) {
      if (read_.size() > kLongestLine) fail("prints a line that does not end");
      wait_for_bytes();
      char bytes[65536];
      const ssize_t got = ::read(from_, bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail(kEnded);
      read_.append(bytes, static_cast<std::size_t>(got));
    }
    std::string next = read_.substr(0, end);
    read_.erase(0, end + 1);
    return next;
  }
  /// Returns whether output arrives within some milliseconds.
  bool has_more(int milliseconds) const {
    pollfd more{from_, POLLIN, 0};
    return !read_.empty() || (poll(&more, 1, milliseconds) > 0 && (more.revents & POLLIN) != 0);
  }
  /// Ends the program and throws an Error with its fault.
  [[noreturn]] void fail(const std::string& what) {
    const int status = stop();
    const std::string ended = what != kEnded        ? ""
                              : WIFSIGNALED(status) ? text(" by signal ", WTERMSIG(status))
                                                    : text(" with status ", WEXITSTATUS(status));
    throw Error(text("cannot read examples: the program `", command_, "` ", what, ended),
                text("try it by hand: echo '{\"count\": 2, \"seed\": 0, \"split\": \"train\"}' | ",
                     "sh -c ", shell_word(command_)));
  }

 private:
  static constexpr const char* kEnded = "has ended";

  /// Runs in the child: starts the program as the leader of a group that contains all its children.
  [[noreturn]] void become_program(int in, int out) const {
    setpgid(0, 0);
    dup2(in, 0);
    dup2(out, 1);
    for (const int end : {in, out}) close(end);
    execl("/bin/sh", "sh", "-c", command_.c_str(), nullptr);
    _exit(127);
  }

  /// Runs in another child: kills the program's group when this process has ended for any reason,
  /// because the other end of `life` is then closed. It belongs to the group, whose number is
  /// therefore never reused while it is needed. Calls only functions that are allowed in a forked
  /// child.
  [[noreturn]] static void become_guard(int life, pid_t group) {
    setpgid(0, group);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(signal, SIG_IGN);
    constexpr long kMostFiles = 4096;
    const long limit = sysconf(_SC_OPEN_MAX);
    const long most = limit > 0 ? std::min(limit, kMostFiles) : kMostFiles;
    for (int other = 0; other < most; ++other) {
      if (other != life) close(other);
    }
    char byte = 0;
    while (read(life, &byte, 1) < 0 && errno == EINTR) {
    }
    kill(-group, SIGKILL);
    _exit(0);
  }

  /// Waits until it has printed something or has ended. Error after command_patience(); Stopped if
  /// the user wants the work to stop.
  void wait_for_bytes() {
    constexpr int kSlice = 100;  // ms
    for (int waited = 0; waited < command_patience(); waited += kSlice) {
      pollfd wanted{from_, POLLIN, 0};
      if (poll(&wanted, 1, std::min(kSlice, command_patience() - waited)) > 0) return;
      if (stop_wanted() && stop_wanted()()) {
        stop();
        throw Stopped();
      }
      if (ended() && poll(&wanted, 1, 0) <= 0) fail(kEnded);
    }
    fail(text("has printed nothing for ", command_patience() / 1000.0,
              " seconds: does it flush its lines?"));
  }

  /// Returns whether the program itself has ended; its children may still run.
  bool ended() {
    if (has_ended_) return true;
    const pid_t ended = waitpid(child_, &status_, WNOHANG);
    const bool is_interrupted = ended < 0 && errno == EINTR;
    has_ended_ = ended != 0 && !is_interrupted;
    return has_ended_;
  }

  /// Ends it with all its children. Returns its exit status.
  int stop() {
    if (child_ <= 0 || owner_ != getpid()) return 0;
    constexpr int kMoments = 20;  // in which it may end by itself
    close(to_);
    for (int moments = 0; !ended(); ++moments) {
      if (moments == kMoments) kill(-child_, SIGKILL);
      usleep(10'000);
    }
    kill(-child_, SIGKILL);
    close(life_);
    if (guard_ > 0) waitpid(guard_, nullptr, 0);
    close(from_);
    child_ = -1;
    return status_;
  }

  std::string command_, read_;
  pid_t child_ = -1, guard_ = -1, owner_ = -1;
  int to_ = -1, from_ = -1, life_ = -1;
  int status_ = 0;
  bool has_ended_ = false;
};

/// The definition of the task, whose batches are made whole.
struct FromCommand : FromElsewhere {
  /// Measured when it is first asked for.
  struct Overlap {
    std::mutex mutex;
    std::string said;
  };

  std::string command, hash;
  std::shared_ptr<UserProgram> program;
  std::shared_ptr<Overlap> overlap = std::make_shared<Overlap>();

  explicit FromCommand(std::string_view given) : command(given) {
    require(!command.empty(), "it needs a program, such as --task \"command:python3 my_task.py\"");
    const char* said = std::getenv("HEADLAB_COMMAND");
    if (!allowed().contains(command) && said != nullptr && said == command) {
      command_of_environment() = command;
    } else if (!allowed().contains(command)) {
      throw Error(text("cannot start the program `", command, "`: you have not named it"),
                  text("if you trust it: HEADLAB_COMMAND=", shell_word(command), " headlab ..."));
    }
    program = std::make_shared<UserProgram>(command);
    program->start();
    header = read_header();
    hash = Json(header).dump();
    for (const Split split : {Split::train, Split::validation}) {
      const std::string before = ask(Key{}, 2, split, 20);
      if (ask(Key{}, 2, split, 20) != before) {
        program->fail(
            "answers the same seed with other lines: what it draws must follow from the "
            "seed and the split alone");
      }
      hash += before;
    }
    hash = fingerprint(hash);
  }
  std::string about_data() const {
    const std::lock_guard lock(overlap->mutex);
    if (overlap->said.empty()) overlap->said = overlap_text();
    return FromElsewhere::about_data(text("made by `", command, "`; ", overlap->said));
  }
  /// Returns how many of some held-out sequences also occur among sequences drawn for training. A
  /// program may draw both from the same few sequences, and then held-out ones do not test
  /// generalisation.
  std::string overlap_text() const {
    constexpr Index kTraining = 2000, kHeldOut = 200;
    const Key key = Key{}.fold("overlap");
    const std::vector<std::string> training = inputs(key, kTraining, Split::train);
    const std::set<std::string> known(training.begin(), training.end());
    const std::vector<std::string> held_out = inputs(key, kHeldOut, Split::validation);
    const auto met = std::ranges::count_if(held_out, [&](const std::string& one) {
      return known.contains(one);
    });
    if (met == 0) {
      return text("none of ", kHeldOut, " held-out sequences is among ", grouped(kTraining),
                  " drawn for training");
    }
    return text("warning: ", met, " of ", kHeldOut, " held-out sequences are among ",
                grouped(kTraining), " drawn for training, so they do not measure generalization");
  }
  /// Returns the tokens and sources of sequences that the program draws, each as a text.
  std::vector<std::string> inputs(Key key, Index count, Split split) const {
    LineReader reader(header);
    const Sequences made = reader.read_all(ask(key, count, split), "`" + command + "`");
    std::vector<std::string> all;
    for (Index i = 0; i < made.size(); ++i) {
      const auto numbers = [](std::span<const std::int32_t> list) {
        return join(texts_of(list, [](std::int32_t token) { return text(token); }), " ");
      };
      all.push_back(text(numbers(made.tokens[i]), " / ", numbers(made.source[i])));
    }
    return all;
  }
  std::string data_hash() const { return hash; }
  void write(Example& example, Key key, Split split, bool with_truth) const {
    const Index count = example.batch.size;
    LineReader reader(header);
    const Sequences made = reader.read_all(ask(key, count, split), "`" + command + "`");
    require(made.size() == count, "cannot read examples: the program `", command,
            "` printed an empty line");
    require(shape_of(reader.header()) == shape(), "cannot read examples: the program `", command,
            "` printed a sequence longer than its header says");
    require(made.corrupted.empty() && made.against.empty(), "cannot read examples: the program `",
            command, "` printed 'corrupted' or 'against', which only the task 'file' reads");
    for (Index b = 0; b < count; ++b) {
      Sequence sequence{example, b, split, Generator(key.fold(b)), b, with_truth};
      FromElsewhere::write(made, b, sequence);
    }
  }

  /// Returns the lines that it prints for a request, one after the other; whether there are more is
  /// looked for so many milliseconds.
  std::string ask(Key key, Index count, Split split, int wait = 0) const {
    const std::lock_guard lock(program->mutex);
    if (program->start()) {
      require(Json(read_header()) == Json(header), "cannot read examples: the program `", command,
              "` begins with another header than before");
    }
    const char* names[] = {"train", "validation", "test"};
    const std::uint64_t seed = Generator(key).below(kMostExact);
    program->say(
        Json::object({{"count", count}, {"seed", seed}, {"split", names[static_cast<int>(split)]}})
            .dump() +
        "\n");
    std::string lines;
    for (Index i = 0; i < count; ++i) lines += program->line() + "\n";
    if (program->has_more(wait)) {
      program->fail(text("printed more than the ", count, " lines it was asked for"));
    }
    return lines;
  }
  Header read_header() const {
    const std::string line = program->line();
    Header said =
        in_context(text("cannot read the first line of the program `", command, "`"),
                   [&] { return Header::of(Json::parse(line, "the line").at("header")); });
    if (said.vocabulary.empty() || said.length == 0) {
      program->fail("names no `vocabulary` or no `length` in its header");
    }
    if (said.targets.empty()) said.targets = {"target"};
    return said;
  }
};

}  // namespace

int& command_patience() {
  static int milliseconds = 60'000;
  return milliseconds;
}

std::string& command_of_environment() {
  static std::string command;
  return command;
}

void allow_command(const std::string& command) { allowed().insert(command); }

AllowedCommands::AllowedCommands(const std::vector<std::string>& specs) : before_(allowed()) {
  constexpr std::string_view kCommand = "command:";
  for (const std::string& spec : specs) {
    if (spec.starts_with(kCommand)) allowed().insert(spec.substr(kCommand.size()));
  }
}

AllowedCommands::~AllowedCommands() { allowed() = before_; }

const Header* header_of_command(const Task& task) {
  const auto* from_command = dynamic_cast<const TaskOf<FromCommand>*>(&task);
  return from_command == nullptr ? nullptr : &from_command->definition().header;
}

TaskEntry command_task() {
  TaskEntry entry{"command",
                  "your own sequences and truth, from a program that prints lines of JSON",
                  "layers=2 heads=4 d_model=64 steps=2000 lr=1e-3",
                  {.why = "what can be learned depends on the program"}};
  entry.make = [](std::string_view given) -> std::unique_ptr<Task> {
    return std::make_unique<TaskOf<FromCommand>>(text("command:", given), FromCommand(given));
  };
  entry.check = [](std::string_view) {};
  entry.parameters = [] { return Settings(); };
  entry.advice = [](std::string_view given) {
    return given.empty() ? "" : FromCommand(given).header.recommended;
  };
  entry.form = kProtocol + form_of_lines();
  return entry;
}

}  // namespace headlab
