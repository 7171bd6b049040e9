// Pairs of sequences to patch. A pair tells something only if its sequences ask for different
// answers somewhere, so held-out examples are paired by their answers, and two inputs of the user
// are refused if they have the same. Read next: node_patching.cc.
#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/train/evaluate.h"
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

}  // namespace

PatchPairs held_out_pairs(const Task& task, Index examples) {
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
