// Signals and terminals, by POSIX. The signal handler does the least that a handler may: it sets a
// flag, which training reads after every step, and restores the default action, so that a second
// signal ends the process. Read next: train.cc.
#include "cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "headlab/base/error.h"
#include "headlab/cli/arguments.h"
#include "headlab/report/table.h"

namespace headlab::cli {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

void on_signal(int signal) {
  stop_signal = 1;
  std::signal(signal, SIG_DFL);
}

/// 75 s as 1:15.
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds) + 0.5);
  const std::int64_t minutes = whole / 60, rest = whole % 60;
  return text(minutes, ":", rest < 10 ? "0" : "", rest);
}

void write_all(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

bool interrupted() { return stop_signal != 0; }

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool stdout_wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

void print(const std::string& text) {
  write_all(stdout, text);
  require(std::ferror(stdout) == 0, "the result could not be written to the output");
}

void note(const std::string& text) { write_all(stderr, text + "\n"); }

Progress::Progress(Index steps) : steps_(steps), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (drawn_) {
    write_all(stderr, "\r\033[K");
    drawn_ = false;
  }
}

void Progress::show(const StepRecord& record) {
  last_ = record.step;
  if (first_ < 0) first_ = record.step - 1;
  if (first_seconds_ == 0) first_seconds_ = record.seconds;
  const double every = terminal_ ? 0.2 : 10;
  if (record.seconds - last_drawn_ < every) return;
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
  note(text("step ", record.last.step, "/", steps_, "  train loss ", significant(record.train_loss),
            "  held-out loss ", significant(record.held_out.loss), "  accuracy ",
            fixed(record.held_out.accuracy, 4)));
}

Result Progress::interrupted_or(Result result, const std::string& path) const {
  if (!interrupted() || last_ >= steps_) return result;
  result.status = 130;
  result.note =
      text("interrupted at step ", last_, " of ", steps_,
           "; the run is saved\nhint: to continue it: headlab train --resume ", shell_word(path));
  return result;
}

RunCallbacks watch(Progress& progress) {
  RunCallbacks callbacks;
  callbacks.on_step = [&progress](const StepRecord& record) { progress.show(record); };
  callbacks.on_evaluation = [&progress](const EvaluationRecord& record) { progress.show(record); };
  callbacks.should_stop = [] { return interrupted(); };
  return callbacks;
}

}  // namespace headlab::cli
