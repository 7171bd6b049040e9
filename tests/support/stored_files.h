// Files of attention patterns as another program would write them: random words, one head that
// attends to the last equal word, three that attend to all words alike. For tests of `--patterns`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headlab/core/base/files.h"
#include "headlab/core/base/json.h"
#include "headlab/core/base/random.h"
#include "lab/results/npy.h"

namespace headlab {

inline constexpr std::int64_t kStoredLength = 8;

/// The last position before t with the same word; -1 if there is none.
inline std::int64_t last_same(const std::vector<int>& words, std::int64_t t) {
  std::int64_t key = t - 1;
  while (key >= 0 && words[key] != words[t]) --key;
  return key;
}

/// Adds the rows of a head: on the last equal word, or on all words up to the query.
inline void add_rows(const std::vector<int>& words, bool is_same, std::vector<float>& weights) {
  for (std::int64_t t = 0; t < kStoredLength; ++t) {
    const std::int64_t key = std::max<std::int64_t>(0, last_same(words, t));
    for (std::int64_t s = 0; s < kStoredLength; ++s) {
      const float equal = s <= t ? 1 / static_cast<float>(t + 1) : 0;
      weights.push_back(is_same ? static_cast<float>(s == key) : equal);
    }
  }
}

/// Writes p.npy [examples, 2, 2, 8, 8], t.json and f.jsonl with the relation `same`.
inline void write_stored_files(const std::filesystem::path& folder, std::int64_t examples) {
  std::vector<float> weights;
  Json tokens = Json::array();
  std::string truth;
  for (std::int64_t b = 0; b < examples; ++b) {
    Generator random(Key{}.fold(static_cast<std::uint64_t>(b)));
    std::vector<int> words;
    Json texts = Json::array();
    Json keys = Json::object({});
    for (std::int64_t t = 0; t < kStoredLength; ++t) {
      words.push_back(static_cast<int>(random.below(4)));
      texts.push_back("word" + std::to_string(words.back()));
      const std::int64_t key = last_same(words, t);
      if (key >= 0) keys[std::to_string(t)] = Json::Array{key};
    }
    for (int head = 0; head < 4; ++head) add_rows(words, head == 1, weights);
    tokens.push_back(texts);
    truth += Json::object({{"truth", Json::object({{"same", keys}})}}).dump() + "\n";
  }
  const std::vector<std::int64_t> shape = {examples, 2, 2, kStoredLength, kStoredLength};
  write_file(folder / "p.npy", npy_bytes(shape, weights));
  write_file(folder / "t.json", tokens.dump());
  write_file(folder / "f.jsonl", truth);
}

/// The same for the first example alone, without an axis of examples: q.npy and u.json.
inline void write_one_example(const std::filesystem::path& folder) {
  const std::vector<int> words = {0, 1, 0, 2, 1, 0, 3, 2};
  std::vector<float> weights;
  for (int head = 0; head < 4; ++head) add_rows(words, head == 1, weights);
  Json texts = Json::array();
  for (const int word : words) texts.push_back("word" + std::to_string(word));
  write_file(folder / "q.npy", npy_bytes(std::vector<std::int64_t>{2, 2, 8, 8}, weights));
  write_file(folder / "u.json", texts.dump());
}

}  // namespace headlab
