// Signals and terminals, with POSIX. The signal handler does only what a handler may do: it sets a
// flag, which training reads after every step, and restores the default action, so that a second
// signal ends the process. Read next: train.cc.
#include "app/cli/colour.h"
#include "app/cli/commands.h"
#include "headlab/lab/results/words.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace headlab::cli {
namespace {

volatile std::sig_atomic_t stop_signal = 0;
bool quiet = false;
pid_t master = 0;  // the parent of a worker

void on_signal(int signal) {
  stop_signal = 1;
  std::signal(signal, SIG_DFL);
}

void end_at_once(int) {
  constexpr std::string_view kWord = "interrupted: unfinished results are not kept\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kWord.data(), kWord.size());
  _exit(130);
}

/// Handles the signals that end a program. One that was ignored when the program began stays
/// ignored: SIGHUP under nohup, SIGINT in a job that a script starts in the background.
void handle_signals(void (*handler)(int)) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    if (std::signal(number, handler) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

constexpr double kQuiet = 2, kRedrawn = 0.2, kBetweenLines = 10;  // seconds: see StepsShown

/// Returns "12 of 36 done, 3.1/s, 0:08 left"; if a step takes longer than a second, "8.2 s each".
std::string steps_line(double done, std::int64_t all, double took) {
  const double each = took / done;
  std::string rate = fixed(each, 1) + " s each";
  if (each <= 1) {
    const int digits = each > 0.1 ? 1 : 0;
    rate = fixed(1 / each, digits) + "/s";
  }
  return text(static_cast<std::int64_t>(done), " of ", all, " done, ", rate, ", ",
              clock_text(each * (static_cast<double>(all) - done)), " left");
}

/// Returns whether the terminal understands escape sequences, from TERM. If TERM is missing, empty
/// or "dumb", nothing is known of it, and lines are plain as in a file.
bool is_terminal(int descriptor) {
  const char* given = std::getenv("TERM");
  const std::string_view kind = given == nullptr ? "" : given;
  return isatty(descriptor) != 0 && !kind.empty() && kind != "dumb";
}

/// Returns a line of at most 80 columns. The training loss is the mean of the steps after `since`,
/// which is shown if it fits.
std::string evaluation_line(const EvaluationRecord& record, Index steps, Index since) {
  constexpr std::size_t kColumns = 80;
  const std::string step = text("step ", record.last.step, "/", steps);
  const std::string train = significant(record.train_loss);
  const std::string held_out = significant(record.held_out.loss);
  const std::string accuracy = fixed(record.held_out.accuracy, 4);
  const std::string with_since = text(step, "  train loss ", train, " (since ", since,
                                      ")  held-out loss ", held_out, "  accuracy ", accuracy);
  if (with_since.size() <= kColumns) return with_since;
  const std::string without =
      text(step, "  train loss ", train, "  held-out loss ", held_out, "  accuracy ", accuracy);
  if (without.size() <= kColumns) return without;
  return text(step, "  train ", train, "  held out ", held_out, "  accuracy ", accuracy);
}

void write_all(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

std::string resuming_hint(const std::string& path, const std::string& task) {
  return text("hint: to continue it: ", program_call(task), " train --resume ", shell_word(path));
}

/// Returns whether `rest`, the text after the word headlab and a space, continues like a command
/// line.
bool continues_command(std::string_view rest) {
  const std::string_view next = rest.substr(0, rest.find_first_of(" `\n,;:.)"));
  if (next == "COMMAND" || next == "..." || rest.starts_with("...")) return true;
  if (next == "--help" || next == "--version") return true;
  return std::ranges::find(commands(), next, &Command::name) != commands().end();
}

}  // namespace

std::string& program_name() {
  static std::string called = "headlab";
  return called;
}

std::string& typed_program() {
  static std::string typed = "headlab";
  return typed;
}

std::string with_program(std::string_view said, const std::string& program) {
  constexpr std::string_view kOurs = "headlab ";
  constexpr std::string_view kBefore = " `(\n";  // a path such as build/headlab is left as it is
  std::string shown;
  while (true) {
    const std::size_t at = said.find(kOurs);
    if (at == said.npos) break;
    const bool begins_word = at == 0 || kBefore.find(said[at - 1]) != kBefore.npos;
    const bool is_command = begins_word && continues_command(said.substr(at + kOurs.size()));
    shown += said.substr(0, at);
    shown += is_command ? program + " " : std::string(kOurs);
    said.remove_prefix(at + kOurs.size());
  }
  return shown + std::string(said);
}

std::string as_typed(std::string_view said) { return with_program(said, typed_program()); }

std::string program_call(std::string_view task) {
  constexpr std::string_view kProgram = "command:";
  const std::string command = task.starts_with(kProgram) ? std::string(task.substr(kProgram.size()))
                                                         : command_of_environment();
  return text(command.empty() ? "" : text("HEADLAB_COMMAND=", shell_word(command), " "),
              program_name());
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  const std::int64_t minutes = whole / 60, rest = whole % 60;
  return text(minutes, ":", rest < 10 ? "0" : "", rest);
}

bool interrupted() { return stop_signal != 0 || (master != 0 && getppid() != master); }

void stop_with_parent(int parent) {
  master = parent;
  handle_signals([](int) { stop_signal = 1; });  // however often: a worker saves in any case
  watch_steps({});
}

void open_standard_files() {
  int number = 0;
  while (number >= 0 && number <= STDERR_FILENO) {
    number = open("/dev/null", O_RDWR);
  }
  if (number > STDERR_FILENO) close(number);
}

void say_when_interrupted() { handle_signals(end_at_once); }

void catch_interrupts() { handle_signals(on_signal); }

std::size_t stdout_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? std::max<std::size_t>(size.ws_col, 40)
             : 80;
}

std::size_t text_width() { return std::min<std::size_t>(stdout_width(), 80); }

void print(const std::string& text) {
  write_all(stdout, text);
  require(std::ferror(stdout) == 0 || errno == EPIPE, "cannot write the result to the output");
}

void set_quiet(bool wanted) { quiet = wanted; }

void note(const std::string& text) {
  if (!quiet) complain(harmless(text, true));
}

void complain(const std::string& text) {
  const std::string shown = as_typed(text);
  const bool in_colour = wants_colour() && is_terminal(STDERR_FILENO);
  write_all(stderr, (in_colour ? coloured(shown) : shown) + "\n");
}

void print_shown(const TonedText& text) {
  print(wants_colour() && is_terminal(STDOUT_FILENO) ? coloured(text) : text.words());
}

StepsShown::StepsShown() {
  using Clock = std::chrono::steady_clock;
  const bool terminal = is_terminal(STDERR_FILENO);
  watch_steps([=, begin = Clock::now(), shown = Clock::now(), lines = 0,
               drawn = false](double done, std::int64_t all) mutable {
    const auto now = Clock::now();
    const auto since = [&](Clock::time_point then) {
      return std::chrono::duration<double>(now - then).count();
    };
    if (done == 0) begin = now;
    if (done >= static_cast<double>(all)) {
      if (drawn) write_all(stderr, "\r\033[K");
      drawn = false;
      return;
    }
    const bool is_first = terminal || lines == 0;
    double wait = is_first ? kQuiet : kBetweenLines;
    if (drawn) wait = kRedrawn;
    if (quiet || done == 0 || since(shown) < wait || since(begin) < wait / 5) return;
    shown = now;
    drawn = terminal;
    ++lines;
    const std::string line = steps_line(done, all, since(begin));
    write_all(stderr, terminal ? "\r\033[K" + line : line + "\n");
  });
}

StepsShown::~StepsShown() { watch_steps({}); }

Progress::Progress(Index steps) : steps_(steps), terminal_(is_terminal(STDERR_FILENO)) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (drawn_) write_all(stderr, "\r\033[K");
  drawn_ = false;
}

void Progress::show(const StepRecord& record) {
  last_ = record.step;
  if (first_ < 0) first_ = record.step - 1;
  if (first_seconds_ == 0) first_seconds_ = record.seconds;
  const double every = terminal_ ? kRedrawn : kBetweenLines;
  if (quiet || record.seconds - last_drawn_ < every) return;
  const bool first = last_drawn_ < 0;
  last_drawn_ = record.seconds;
  if (first && !terminal_) return;  // a file needs no line for the first step
  const auto done = static_cast<double>(record.step - first_);
  const double per_step = (record.seconds - first_seconds_) / std::max(1.0, done - 1);
  const double left = per_step * static_cast<double>(steps_ - record.step);
  const std::string line =
      text("step ", record.step, "/", steps_, "  loss ", significant(record.loss), "  ",
           grouped(static_cast<Index>(record.tokens_per_s)), " tokens/s  ", clock_text(left),
           " left");
  write_all(stderr, terminal_ ? "\r\033[K" + line : line + "\n");
  drawn_ = terminal_;
}

void Progress::show(const EvaluationRecord& record) {
  clear();
  note(evaluation_line(record, steps_, std::max(evaluated_, first_)));
  evaluated_ = record.last.step;
}

Output Progress::interrupted_or(Output output, const std::string& path,
                                const std::string& task) const {
  if (!interrupted() || last_ >= steps_) return output;
  output.status = 130;
  output.note = text("interrupted at step ", last_, " of ", steps_, "; the run is saved\n",
                     resuming_hint(path, task));
  return output;
}

Output Progress::stopped_while_waiting(const std::string& path, const std::string& task) const {
  return {.note =
              text("interrupted while the program of the task did not answer, after step ", last_,
                   " of ", steps_, "; the last save is kept\n", resuming_hint(path, task)),
          .status = 130};
}

RunCallbacks watch(Progress& progress) {
  RunCallbacks callbacks;
  callbacks.on_step = [&progress](const StepRecord& record) { progress.show(record); };
  callbacks.on_evaluation = [&progress](const EvaluationRecord& record) { progress.show(record); };
  callbacks.should_stop = [] { return interrupted(); };
  return callbacks;
}

}  // namespace headlab::cli
