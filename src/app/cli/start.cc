// `headlab start`: a tour. Six commands on one small run, which takes a few seconds, each with a
// sentence before it and one after. What they write lies in runs/start and runs/start-pruned, where
// the next tour replaces it. Read next: commands.cc.
#include "cli/commands.h"

namespace headlab::cli {
namespace {

struct Stop {
  const char *before, *command, *after;
};

constexpr Stop kTour[] = {
    {"A task is a language whose truth is known. In this one each token asks for others.",
     "show relations:length=12",
     "The keys are where the answers stand: a head that does a relation looks there."},
    {"A small transformer with one layer of eight heads learns it.",
     "train --task relations:length=12 --heads 8 --d-model 32 --steps 400 --batch 32 --out "
     "runs/start --force",
     "The loss says how well it answers, and not who does what."},
    {"The attention of each head, held against the truth:", "heads runs/start",
     "An owner finds its keys far better than anyone could who ignores what stands there."},
    {"Looking is not yet mattering. What does it cost to silence a head?", "ablate runs/start",
     "Heads whose loss hardly changes do nothing that others do not do as well."},
    {"Then they can go: four heads stay, and the model trains on for a moment.",
     "prune runs/start --keep 4 --finetune 200 --out runs/start-pruned --force",
     "The pruned model is a run like any other, and every command reads it."},
    {"All of it in one file, with the model itself inside, to be opened in a browser:",
     "page runs/start", "That was the tour. headlab train --help says what else a run can be."},
};

}  // namespace

Result start(Invocation& call) {
  call.read({});
  for (const char* name : {"json", "csv", "latex", "table"})
    if (call.given(name))
      throw UsageError("the tour is told in words", "leave " + flag_of(name) + " out");
  std::size_t number = 0;
  for (const auto& [before, command, after] : kTour) {
    print(text(++number, " of ", std::size(kTour), ": ", before, "\n$ headlab ", command, "\n\n"));
    const int status = run_words(texts_of(split(command, ' '), std::identity()));
    if (status != 0) return {.status = status};
    print("\n" + wrapped(after, "", 80) + "\n");
  }
  return {};
}

}  // namespace headlab::cli
