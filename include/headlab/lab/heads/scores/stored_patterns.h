// Attention patterns of any model, read from files: weights as a NumPy array, tokens as JSON, and,
// if there is any, ground truth as lines of a task file. They are scored and shown like the
// patterns of a run. Nothing that needs the model (ablation, patching, circuits) is possible. Read
// next: scores.h, src/lab/heads/scores/stored_input.h.
#pragma once

#include <memory>
#include <string>

#include "headlab/lab/heads/scores/scores.h"

namespace headlab {

struct StoredPatternFiles {
  /// .npy file of float16, float32 or float64: [layers, heads, queries, keys], or with examples in
  /// front.
  std::string patterns;
  /// JSON: [words], [[words], ...] with one list for each example, or {"queries": ..., "keys": ...}
  /// of such lists for cross-attention.
  std::string tokens;
  /// Lines of JSON, one for each example, each with the keys "truth" and "candidates" of a task
  /// file. A header may come first. "": no ground truth.
  std::string truth{};
  bool unnormalised = false;  // whether rows need not sum to 1
};

class StoredPatterns {
 public:
  /// Maximum difference of the sum of a row from 1: patterns of models that compute in 16 bits have
  /// sums within it.
  static constexpr double kSumTolerance = 0.01;

  /// Reads the files. Errors, each with the file and the place: another shape; weights that are
  /// negative or not finite; rows that do not sum to 1 unless they need not; tokens or ground truth
  /// that do not fit the patterns.
  explicit StoredPatterns(const StoredPatternFiles& files);
  StoredPatterns(StoredPatterns&&) noexcept;
  ~StoredPatterns();

  Index examples() const;
  /// Returns whether no query attends to a later key. This holds for the weights, or the header of
  /// the ground truth says so.
  bool is_causal() const;
  /// Returns a model whose pass over examples of task() records the stored patterns. A pass with
  /// interventions is an Error.
  const HeadedModel& model() const;
  /// Returns the task whose example i, of each split, is example i of the files.
  const Task& task() const;

 private:
  friend HeadsReport score_heads(const StoredPatterns& patterns, const HeadsOptions& options);
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Scores the heads. If there are fewer than kFewestExamples examples, heads are chosen and scored
/// on the same examples: there is no p then, so no head is an owner. options.untrained and
/// options.rises are ignored.
HeadsReport score_heads(const StoredPatterns& patterns, const HeadsOptions& options = {});

/// Returns sentences on the examples of the scores: their number, the mask, and the number that a
/// test needs.
std::string examples_text(const StoredPatterns& patterns, const HeadsReport& report);

}  // namespace headlab
