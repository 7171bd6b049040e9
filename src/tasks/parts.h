// What the tasks share: their text form, the letters that stand for their tokens, the loop over the
// sequences of a batch, and a few ways to draw tokens. A task is a pair of files,
// include/headlab/tasks/NAME.h and src/tasks/NAME.cc, and a row in table.cc: a struct of options
// with its table of settings, and a class that is made from the options. Read next: relations.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/error.h"
#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

/// "NAME:a=1,b=2", all settings named, so that make_task makes the same task from it.
std::string spec_text(std::string_view name, const Settings& settings);
template <class Options>
std::string spec_text(std::string_view name, Options options) {
  return spec_text(name, settings_of(options));
}

/// Error that begins with "NAME: " if a value is outside its range: options may come from code,
/// where no one has checked them.
void check_ranges(const Settings& settings, std::string_view name);

/// Error for a file name that the text form of a task cannot hold: one with a comma that an `=`
/// follows, or another comma, or nothing.
void check_file_name(std::string_view name);

/// Error for a token that is not in [0, vocab).
void check_token(std::int32_t token, Index vocab);
/// Symbols as letters: a ... z, A ... Z, then #52, #53 ... Error as check_token.
std::string letter_text(std::int32_t token, Index vocab);

/// A position or a count as a token, or as a key of gold.
constexpr std::int32_t id(Index i) { return static_cast<std::int32_t>(i); }

/// A batch of the task's shape, still without tokens.
Batch empty_batch(const Task& task, Index count);

/// A batch of the task's shape; write(example, b, random) fills sequence b. Every sequence has its
/// own generator and `write` keeps nothing, so that no sequence depends on another.
template <class Write>
Example make_sequences(const Task& task, Key key, Index count, Split split, Write write) {
  Example example{empty_batch(task, count), std::vector<Gold>(task.relations().size())};
  for (Gold& gold : example.gold) gold.reserve(count * example.batch.length);
  for (Index b = 0; b < count; ++b) {
    Generator random = sequence_generator(key, split, b);
    write(example, b, random);
  }
  return example;
}

/// The tokens of sequence b, padding included.
std::span<std::int32_t> row(Batch& batch, Index b);

/// Fills tokens with numbers uniform in [0, vocab).
void fill_uniform(std::span<std::int32_t> tokens, Index vocab, Generator& random);

/// The numbers 0 ... n - 1, of which the first `count` are drawn without replacement.
std::vector<std::int32_t> draw_distinct(Index n, Index count, Generator& random);

/// The positions in `tokens` that hold `token`, ascending, into `found`, whose memory is used
/// again.
void find_token(std::int32_t token, std::span<const std::int32_t> tokens,
                std::vector<std::int32_t>& found);

/// The class of each token: its number modulo `classes`.
std::vector<std::int32_t> classes_of(std::span<const std::int32_t> tokens, Index classes);

/// The last position before t that holds the same as t; -1 if there is none.
inline Index last_equal(std::span<const std::int32_t> values, Index t) {
  const std::int32_t wanted = values[t];
  Index key = t - 1;
  while (key >= 0 && values[key] != wanted) --key;
  return key;
}

}  // namespace headlab
