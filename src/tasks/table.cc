// The table of tasks: a new task is a pair of files beside relations.h and relations.cc and a row
// here. Recommended settings are text that the parsers of the model's and the trainer's settings
// read; what a row leaves out is their default. Read next: relations.h.
#include "headlab/tasks/table.h"

#include "headlab/base/error.h"
#include "headlab/tasks/assign.h"
#include "headlab/tasks/brackets.h"
#include "headlab/tasks/conllu.h"
#include "headlab/tasks/control.h"
#include "headlab/tasks/copy.h"
#include "headlab/tasks/duplicate.h"
#include "headlab/tasks/english.h"
#include "headlab/tasks/grid.h"
#include "headlab/tasks/histogram.h"
#include "headlab/tasks/induction.h"
#include "headlab/tasks/recall.h"
#include "headlab/tasks/relations.h"
#include "headlab/tasks/reverse.h"
#include "headlab/tasks/reverse_cross.h"
#include "headlab/tasks/sort.h"
#include "headlab/tasks/text.h"

namespace headlab {
namespace {

template <class T>
std::unique_ptr<Task> make(std::string_view parameters) {
  typename T::Options options;
  settings_of(options).set_all_text(parameters, ',');
  return std::make_unique<T>(options);
}

template <class T>
void check(std::string_view parameters) {
  typename T::Options options;
  settings_of(options).set_all_text(parameters, ',');
}

template <class T>
Settings parameters() {
  static typename T::Options defaults;
  return settings_of(defaults);
}

template <class T>
constexpr TaskEntry row(const char* name, const char* summary, const char* recommended) {
  return {name, summary, recommended, make<T>, check<T>, parameters<T>};
}

constexpr TaskEntry kTasks[] = {
    row<RelationsTask>("relations", "several keys at once: tokens k back, last of the same class",
                       "layers=1 heads=4 d_model=64 d_ff=0 steps=1000 batch=64 lr=1e-2 warmup=100 "
                       "schedule=cosine decay=0.01 clip=1"),
    row<InductionTask>("induction", "continue a segment of tokens that was seen before",
                       "layers=2 heads=1 d_model=64 d_ff=0 steps=1000 batch=64 lr=1e-3 warmup=100 "
                       "schedule=cosine decay=0.01 clip=1"),
    row<CopyTask>("copy", "write symbols again, behind a separator",
                  "layers=2 heads=1 d_model=64 d_ff=0 steps=800 batch=64 lr=3e-3 warmup=100 "
                  "schedule=cosine decay=0.01 clip=1"),
    row<SortTask>("sort", "write distinct symbols in ascending order, behind a separator",
                  "layers=1 heads=1 d_model=64 d_ff=0 steps=800 batch=64 lr=3e-3 warmup=100 "
                  "schedule=cosine decay=0.01 clip=1"),
    row<ReverseTask>("reverse", "write symbols backwards, behind a separator",
                     "layers=2 heads=1 d_model=64 d_ff=0 steps=2000 batch=64 lr=3e-3 warmup=100 "
                     "schedule=cosine decay=0.01 clip=1"),
    row<ReverseCrossTask>(
        "reverse_cross", "write a source backwards: an encoder-decoder",
        "encoder_layers=1 layers=1 heads=1 d_model=64 d_ff=0 steps=800 batch=64 lr=3e-3 warmup=100 "
        "schedule=cosine decay=0.01 clip=1"),
    row<RecallTask>("recall", "the values of keys from a list of pairs (MQAR)",
                    "layers=2 heads=1 d_model=64 d_ff=0 steps=700 lr=3e-3"),
    row<DuplicateTask>(
        "duplicate", "has this token occurred before?",
        "layers=1 heads=1 d_model=64 d_ff=256 positions=sinusoidal steps=1000 lr=3e-3"),
    row<BracketsTask>("brackets", "the closing bracket that the innermost open one needs (Dyck)",
                      "layers=2 heads=1 d_model=64 d_ff=0 steps=1000 lr=1e-2"),
    row<GridTask>("grid", "hidden pixels of an image, from the pixels left of and above them",
                  "layers=1 heads=2 d_model=64 d_ff=0 positions=sinusoidal steps=1000 lr=1e-2"),
    row<AssignTask>("assign", "toy code: the values of variables, through chains of definitions",
                    "layers=3 heads=2 d_model=64 d_ff=0 steps=2500 lr=1e-3"),
    row<HistogramTask>("histogram", "how often does this token occur? Many heads share one job",
                       "layers=1 heads=4 d_model=64 d_ff=256 positions=none steps=1500 lr=3e-3"),
    row<MemorylessTask>("memoryless", "a control: the label depends on the token alone",
                        "layers=1 heads=4 d_model=64 d_ff=0 steps=500 lr=1e-2"),
    row<RandomTask>("random", "a control: the label is drawn by chance",
                    "layers=1 heads=4 d_model=64 d_ff=0 steps=500 lr=1e-2"),
    row<EnglishTask>("english", "agreement of words across attractors, in a toy grammar",
                     "layers=2 heads=2 d_model=64 d_ff=0 steps=800 batch=64 lr=4e-3 warmup=100 "
                     "schedule=cosine decay=0.01 clip=1"),
    row<ConlluTask>("conllu", "the words of any treebank, with its dependencies as truth",
                    "layers=2 heads=4 d_model=64 d_ff=128 steps=1000 batch=32 lr=2e-3 warmup=100 "
                    "schedule=cosine decay=0.1 clip=1"),
    row<TextTask>("text", "the next character of any UTF-8 text",
                  "layers=4 heads=4 d_model=128 d_ff=512 init=gpt2 steps=2000 batch=12 lr=1e-3 "
                  "min_lr=1e-4 warmup=100 schedule=cosine beta2=0.99 decay=0.1 clip=1"),
};

}  // namespace

std::span<const TaskEntry> task_table() { return kTasks; }

const TaskEntry& find_task(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  std::vector<std::string> known;
  for (const TaskEntry& entry : kTasks) {
    if (name == entry.name) return entry;
    known.emplace_back(entry.name);
  }
  throw unknown_name("task", name, known);
}

namespace {

/// Calls action(entry, parameters) for a spec; errors begin with the task's name.
template <class Action>
auto with_task(std::string_view spec, const Action& action) {
  const TaskEntry& entry = find_task(spec);
  const std::size_t colon = spec.find(':');
  try {
    return action(entry, colon == spec.npos ? std::string_view() : spec.substr(colon + 1));
  } catch (const Error& error) {
    throw Error(text("task ", entry.name, ": ", error.what()), error.hint());
  }
}

}  // namespace

void check_task(std::string_view spec) {
  with_task(spec, [](const TaskEntry& entry, std::string_view given) { entry.check(given); });
}

std::unique_ptr<Task> make_task(std::string_view spec) {
  return with_task(
      spec, [](const TaskEntry& entry, std::string_view given) { return entry.make(given); });
}

}  // namespace headlab
