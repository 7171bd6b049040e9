// What the tests of all tasks share: the message of an error, and the checks that hold for any
// task: same key same batch, ids in range, gold that can be seen and that holds the answer. Read
// next: table_test.cc.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "headlab/base/error.h"
#include "headlab/tasks/table.h"

namespace headlab {

/// "what | hint" of the Error that `action` throws; "" if it throws none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return text(error.what(), " | ", error.hint());
  }
  return "";
}

/// What make_task says about a specification; "" if it makes a task.
inline std::string refusal(const std::string& spec) {
  return error_of([&] { make_task(spec); });
}

inline void expect_contains(const std::string& all, const std::string& part) {
  EXPECT_NE(all.find(part), std::string::npos) << "'" << all << "' lacks '" << part << "'";
}

/// All of a gold as text, one "b,t:keys" for each query.
inline std::string gold_text(const Gold& gold) {
  std::string out;
  for (Index i = 0; i < gold.queries(); ++i) {
    const auto query = gold.query(i);
    out += text(query.b, ",", query.t, ":");
    for (const std::int32_t key : query.keys) {
      out += text(key, " ");
    }
  }
  return out;
}

/// Tokens `from` to `from + count` of a sequence, as they are shown.
inline std::string shown(const Task& task, const Batch& batch, Index b, Index from, Index count) {
  std::string out;
  for (Index t = from; t < from + count; ++t) {
    out += task.token_text(batch.token(b, t));
  }
  return out;
}

}  // namespace headlab
