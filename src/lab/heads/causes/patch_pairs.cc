// Pairs of sequences to patch. A pair tells something only if its sequences ask for different
// answers somewhere, so held-out examples are paired by their answers, and two inputs of the user
// are refused if they have the same. Read next: node_patching.cc.
#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/data/lab_tasks.h"
#include "headlab/lab/heads/causes/file_prompts.h"
#include "headlab/lab/heads/causes/node_patching.h"

namespace headlab {
namespace {

/// Partners that are looked at for one example, so that many equal sequences take no time.
constexpr Index kMostTried = 1024;

/// Returns whether sequences a and b ask for different answers at some position.
bool answers_differ(const Batch& batch, Index a, Index b) {
  const Index each = batch.length * batch.targets_per_position;
  for (Index i = 0; i < each; ++i) {
    const std::int32_t one = batch.targets[a * each + i];
    const std::int32_t other = batch.targets[b * each + i];
    if (one >= 0 && other >= 0 && one != other) return true;
  }
  return false;
}

/// Returns for each of the first n sequences of 2 n its partner among the others.
std::vector<Index> partners_of(const Batch& batch, Index n) {
  std::vector<Index> partners;
  std::vector<bool> is_taken(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    Index chosen = -1;
    for (Index step = 0; step < n && step < kMostTried; ++step) {
      const Index place = (i + step) % n;
      if (!is_taken[place] && answers_differ(batch, i, n + place)) {
        chosen = place;
        break;
      }
    }
    for (Index step = 0; step < n && chosen < 0; ++step) {
      const Index place = (i + step) % n;
      if (!is_taken[place]) chosen = place;
    }
    is_taken[chosen] = true;
    partners.push_back(n + chosen);
  }
  return partners;
}

template <class Values>
Values rows_at(const Values& values, std::span<const Index> rows, Index width) {
  Values chosen;
  if (values.empty()) return chosen;
  for (const Index row : rows) {
    const auto begin = values.begin() + row * width;
    chosen.insert(chosen.end(), begin, begin + width);
  }
  return chosen;
}

Batch rows_at(const Batch& batch, std::span<const Index> rows) {
  Batch chosen = batch.rows(0, std::ssize(rows));
  chosen.tokens = rows_at(batch.tokens, rows, batch.length);
  chosen.vectors = rows_at(batch.vectors, rows, batch.length * batch.features);
  chosen.lengths = rows_at(batch.lengths, rows, 1);
  chosen.targets = rows_at(batch.targets, rows, batch.length * batch.targets_per_position);
  chosen.source = rows_at(batch.source, rows, batch.source_length);
  chosen.source_lengths = rows_at(batch.source_lengths, rows, 1);
  return chosen;
}

/// Returns the batch of a user's input.
Batch batch_of(const Task& task, const std::string& words) {
  const std::vector<std::int32_t> tokens = task.encode(words);
  require(!tokens.empty(), "cannot patch: the input has no token");
  return task.example_of(tokens).batch;
}

/// Measures the quantity that the words name.
void use_named_answer(const Transformer& model, const Task& task, const AnswerWords& words,
                      PatchPairs& pair) {
  const NamedAnswer asked = find_answer(model, task, pair.clean, words);
  pair.contrasts = {asked.contrast(pair.clean.targets_per_position)};
  pair.said = text("your inputs; the quantity is the ", asked.said);
}

/// Measures the first choice of the model for the clean input less that for the corrupted one.
void use_first_choices(const Transformer& model, const Task& task, const AnswerWords& words,
                       PatchPairs& pair) {
  NamedAnswer asked = find_answer(model, task, pair.clean, words);
  asked.against = first_choice(model, pair.corrupted, asked.position, asked.target);
  const std::string clean = task.answer_text(asked.answer);
  const std::string corrupted = task.answer_text(asked.against);
  const std::string place =
      words.position < 0 ? "the last position" : text("position ", asked.position);
  if (clean == corrupted) {
    throw Error(text("cannot patch: the model answers ", clean, " to both inputs at ", place,
                     ": there is nothing to restore"),
                "give inputs to which it answers differently, or name `answer` and `against`");
  }
  pair.contrasts = {asked.contrast(pair.clean.targets_per_position)};
  pair.said = text("your inputs; the answers are the model's own at ", place, ": ", clean,
                   " (clean) and ", corrupted, " (corrupted)");
}

/// Returns the first `examples` indices of examples with corrupted tokens.
std::vector<Index> corrupted_examples(const FilePrompts& prompts, Index examples) {
  std::vector<Index> chosen;
  for (Index i = 0; i < std::ssize(prompts.corrupted); ++i) {
    const bool is_corrupted = !prompts.corrupted[static_cast<std::size_t>(i)].empty();
    if (is_corrupted && std::ssize(chosen) < examples) chosen.push_back(i);
  }
  return chosen;
}

/// Returns the log-probabilities of all targets.
std::vector<Contrast> log_probabilities(const Batch& examples) {
  std::vector<Contrast> contrasts;
  for (std::size_t i = 0; i < examples.targets.size(); ++i) {
    const std::int32_t target = examples.targets[i];
    if (target >= 0) contrasts.push_back({static_cast<Index>(i), target, -1});
  }
  return contrasts;
}

/// Returns the pairs of a file whose lines name corrupted tokens.
PatchPairs corrupted_pairs(const Task& task, const FilePrompts& prompts, Index examples) {
  PatchPairs pairs;
  pairs.examples = corrupted_examples(prompts, examples);
  const Batch all = held_out_examples(task, pairs.examples.back() + 1).batch;
  pairs.clean = rows_at(all, pairs.examples);
  pairs.corrupted = pairs.clean;
  pairs.held_out = pairs.clean.size;
  for (Index i = 0; i < pairs.held_out; ++i) {
    const Index example = pairs.examples[static_cast<std::size_t>(i)];
    const std::vector<std::int32_t>& tokens = prompts.corrupted[static_cast<std::size_t>(example)];
    std::ranges::copy(tokens, &pairs.corrupted.token(i, 0));
  }
  const Index each = all.length * all.targets_per_position;
  pairs.contrasts = contrasts_against(pairs.clean, rows_at(prompts.against, pairs.examples, each));
  const bool has_against = !pairs.contrasts.empty();
  if (!has_against) pairs.contrasts = log_probabilities(pairs.clean);
  require(!pairs.contrasts.empty(), "cannot patch: the lines with 'corrupted' have no target");
  pairs.said =
      text("pairs: ", pairs.held_out, " lines (clean) and their `corrupted` tokens; ",
           "the quantity is the ", has_against ? kAgainstQuantity : "log-probability of the target",
           ", at ", pairs.contrasts.size(), " of ", pairs.clean.target_count(), " targets");
  return pairs;
}

/// Measures the answers `against` that lines of a file name for the clean examples.
void use_answers_against(const Task& task, PatchPairs& pairs) {
  const AgainstTargets named(task, Split::validation, pairs.clean);
  if (named.empty()) return;
  pairs.contrasts = named.contrasts();
  pairs.said += text("; the quantity is the ", kAgainstQuantity, ", at ", pairs.contrasts.size(),
                     " targets of the clean ones");
}

}  // namespace

PatchPairs held_out_pairs(const Task& task, Index examples) {
  const FilePrompts prompts =
      prompts_in_file(task, Split::validation, task.different(Split::validation));
  if (!prompts.corrupted.empty()) return corrupted_pairs(task, prompts, examples);
  const Batch all = held_out_examples(task, 2 * examples).batch;
  const Index n = std::min(examples, all.size / 2);
  if (n == 0) {
    throw Error(text("cannot patch: it needs two different sequences, and the task has ", all.size,
                     " held-out example"),
                "use a task with more held-out data");
  }
  const std::vector<Index> partners = partners_of(all, n);
  Index moved = 0;
  for (Index i = 0; i < n; ++i) moved += partners[i] != n + i;
  PatchPairs pairs{all.rows(0, n), rows_at(all, partners)};
  pairs.said = text("pairs: held-out example I (clean) and I + ", n, " (corrupted)");
  if (moved > 0) {
    pairs.said += text("; for ", moved, " of ", n, " another of ", n, " to ", 2 * n - 1,
                       ", so that the answers differ");
  }
  for (Index i = 0; i < n; ++i) pairs.examples.push_back(i);
  pairs.held_out = 2 * n;
  use_answers_against(task, pairs);
  return pairs;
}

PatchPairs own_pair(const Transformer& model, const Task& task, const std::string& input,
                    const std::string& corrupted, const AnswerWords& words) {
  require(!model.config().has_source(),
          "cannot patch: an encoder-decoder reads two inputs, not one");
  PatchPairs pair{.clean = batch_of(task, input), .corrupted = batch_of(task, corrupted)};
  if (pair.clean.length != pair.corrupted.length) {
    throw Error(text("cannot patch: the clean input has ", pair.clean.length,
                     " tokens and the corrupted one ", pair.corrupted.length),
                "give two inputs of the same length");
  }
  const bool has_targets = pair.clean.target_count() > 0 && pair.corrupted.target_count() > 0;
  if (!words.answer.empty()) {
    use_named_answer(model, task, words, pair);
  } else if (has_targets && words.position < 0 && words.target.empty()) {
    pair.said = "your inputs; the answers are those of the task, at all positions";
  } else {
    use_first_choices(model, task, words, pair);
  }
  return pair;
}

}  // namespace headlab
