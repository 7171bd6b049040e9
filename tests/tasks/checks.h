// Helpers of the tests of all tasks: the message of an error, and the checks that hold for any
// task: same key same batch, ids in range, ground truth that can be seen and that holds the answer.
// Read next: table_test.cc.
#pragma once

#include <map>

#include "support/errors.h"
#include "support/tasks.h"

namespace headlab {

/// The message of make_task for a specification; "" if it makes a task.
inline std::string refusal(const std::string& spec) {
  try {
    make_task(spec);
  } catch (const Error& error) {
    return text(error.what(), " | ", error.hint());
  }
  return "";
}

inline void expect_contains(const std::string& all, const std::string& part) {
  EXPECT_NE(all.find(part), std::string::npos) << "'" << all << "' lacks '" << part << "'";
}

/// A task and examples of it.
struct Sampled {
  std::unique_ptr<Task> task;
  Example example;
};
/// Training examples of a task, made once for all tests.
inline const Sampled& sampled(std::string_view spec, Index count) {
  static std::map<std::pair<std::string, Index>, Sampled> all;
  Sampled& one = all[{std::string(spec), count}];
  if (!one.task) {
    one.task = make_task(std::string(spec));
    one.example = one.task->make(Key{1}, count, Split::train);
  }
  return one;
}

/// All of a ground truth as text, one "b,t:keys" for each query.
inline std::string truth_text(const GroundTruth& truth) {
  std::string out;
  for (Index i = 0; i < truth.queries(); ++i) {
    const auto query = truth.query(i);
    out += text(query.b, ",", query.t, ":");
    for (const std::int32_t key : query.keys) out += text(key, " ");
  }
  return out;
}

/// The tokens of sequence b as they are shown, without padding: what a reader sees.
inline std::vector<std::string> words_of(const Task& task, const Batch& batch, Index b) {
  std::vector<std::string> words;
  for (Index t = 0; t < batch.length_of(b); ++t)
    words.push_back(task.token_text(batch.token(b, t)));
  return words;
}

/// The targets of sequence b, position by position; "" where there is no target.
inline std::vector<std::string> answers_of(const Task& task, const Batch& batch, Index b) {
  std::vector<std::string> answers;
  for (Index t = 0; t < batch.length_of(b); ++t) {
    const std::int32_t target = batch.target(b, t);
    answers.push_back(target < 0 ? "" : task.token_text(target));
  }
  return answers;
}

/// The keys of every position of sequence b; empty where the query is not eligible.
using KeySets = std::vector<std::vector<std::int32_t>>;
inline KeySets keys_of(const Example& example, std::size_t relation, Index b) {
  KeySets all;
  for (Index t = 0; t < example.batch.length_of(b); ++t) {
    const auto keys = example.truth[relation].keys(b, t);
    all.emplace_back(keys.begin(), keys.end());
  }
  return all;
}

/// Tokens `from` to `from + count` of a sequence, as they are shown.
inline std::string shown(const Task& task, const Batch& batch, Index b, Index from, Index count) {
  std::string out;
  for (Index t = from; t < from + count; ++t) out += task.token_text(batch.token(b, t));
  return out;
}

}  // namespace headlab
