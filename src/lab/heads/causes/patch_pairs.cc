// Pairs of sequences to patch. A pair tells something only if its sequences ask for different
// answers somewhere, so held-out examples are paired by their answers, and two inputs of the user
// are refused if they have the same. Read next: node_patching.cc.
#include <algorithm>

#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"
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

/// Sets the target of the last position to the model's answer for each of the K targets; returns
/// these answers as text.
std::string answer_last(const Transformer& model, const Task& task, Batch& batch) {
  const NoGrad no_grad;
  const Tensor logits = model.forward(batch);
  const Index outputs = model.config().outputs();
  const Index last = batch.length_of(0) - 1;
  std::vector<std::string> answers;
  for (Index k = 0; k < batch.targets_per_position; ++k) {
    const Scalar* x = logits.data() + (last * batch.targets_per_position + k) * outputs;
    const auto answer = static_cast<std::int32_t>(std::max_element(x, x + outputs) - x);
    batch.target(0, last, k) = answer;
    answers.push_back(task.answer_text(answer));
  }
  return join(answers, " ");
}

/// Gives both inputs the model's own answers at the last position.
void use_answers_of(const Transformer& model, const Task& task, PatchPairs& pair) {
  for (Batch* batch : {&pair.clean, &pair.corrupted}) std::ranges::fill(batch->targets, -1);
  const std::string clean = answer_last(model, task, pair.clean);
  const std::string corrupted = answer_last(model, task, pair.corrupted);
  if (clean == corrupted) {
    throw Error(text("cannot patch: the model answers ", clean, " to both inputs at the last ",
                     "position: there is nothing to restore"),
                "give inputs to which it answers differently");
  }
  pair.said = text("your inputs; the answers are the model's own at the last position: ", clean,
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
  PatchPairs pairs{all.rows(0, n), rows_at(all, partners), ""};
  pairs.said = text("pairs: held-out example I (clean) and I + ", n, " (corrupted)");
  if (moved > 0) {
    pairs.said += text("; for ", moved, " of ", n, " another of ", n, " to ", 2 * n - 1,
                       ", so that the answers differ");
  }
  return pairs;
}

PatchPairs own_pair(const Transformer& model, const Task& task, const std::string& input,
                    const std::string& corrupted) {
  require(!model.config().has_source(),
          "cannot patch: an encoder-decoder reads two inputs, not one");
  PatchPairs pair{.clean = {}, .corrupted = {}, .said = "your inputs"};
  for (const auto& [words, batch] :
       {std::pair(&input, &pair.clean), std::pair(&corrupted, &pair.corrupted)}) {
    const std::vector<std::int32_t> tokens = task.encode(*words);
    require(!tokens.empty(), "cannot patch: the input has no token");
    *batch = task.example_of(tokens).batch;
  }
  if (pair.clean.length != pair.corrupted.length) {
    throw Error(text("cannot patch: the clean input has ", pair.clean.length,
                     " tokens and the corrupted one ", pair.corrupted.length),
                "give two inputs of the same length");
  }
  const bool has_targets = pair.clean.target_count() > 0 && pair.corrupted.target_count() > 0;
  if (!has_targets) use_answers_of(model, task, pair);
  return pair;
}

}  // namespace headlab
