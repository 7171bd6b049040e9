// headlab inside a host program that uses OpenMP itself: the median time of a `toy` training step
// where the host has no threads, behind parallel loops of the host, in with_threads as the program
// runs its commands, inside a parallel region of the host, and on two threads of the host at once.
// All modes take turns, so that a busy machine is busy for all. Never part of the build; see
// host.sh.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "headlab/base/threads.h"
#include "headlab/bench/bench.h"

namespace {

constexpr int kRounds = 9;

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + std::ssize(x) / 2, x.end());
  return x[x.size() / 2];
}

double step_ms() {
  headlab::TrainingStep step(headlab::bench_options("toy"));
  std::vector<double> ms;
  for (int i = 0; i < 40; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    step.run();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    if (i >= 10) ms.push_back(time.count());
  }
  return median(ms);
}

/// A parallel loop of the host, a millisecond on each thread.
void host_loop() {
#pragma omp parallel
  {
    volatile double x = 1;
    for (int i = 0; i < 1000000; ++i) x = x + 1;
  }
}

double two_at_once() {
  double ms[2];
  std::thread other([&] { ms[1] = step_ms(); });
  ms[0] = step_ms();
  other.join();
  return std::max(ms[0], ms[1]);
}

struct Mode {
  const char* name;
  std::function<double()> run;
  std::vector<double> ms{};
};

}  // namespace

int main() {
  std::vector<Mode> modes = {
      {"alone, a region for each loop", step_ms},
      {"alone, in with_threads",
       [] {
         double ms = 0;
         headlab::with_threads([&] { ms = step_ms(); });
         return ms;
       }},
      {"behind a loop of the host",
       [] {
         host_loop();
         return step_ms();
       }},
      {"in `omp parallel`, `omp single`",
       [] {
         double ms = 0;
#pragma omp parallel
#pragma omp single
         ms = step_ms();
         return ms;
       }},
      {"on two threads of the host at once", two_at_once},
  };
  for (int round = 0; round < kRounds; ++round)
    for (Mode& mode : modes) mode.ms.push_back(mode.run());
  for (const Mode& mode : modes) std::printf("%-36s %6.2f ms a step\n", mode.name, median(mode.ms));
}
