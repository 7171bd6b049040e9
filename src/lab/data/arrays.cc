// Sequences as arrays of whole numbers. Each is read as the line that it would be, so that both are
// checked alike.
// Read next: sequences.cc; base/npz.h.
#include <algorithm>

#include "data/sequences.h"
#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "results/npz.h"

namespace headlab {
namespace {

using Arrays = std::map<std::string, WholeNumbers, std::less<>>;

/// Error unless there is the array, of this many elements; -1: of any number.
const WholeNumbers& array_of(const Arrays& arrays, const std::string& name, Index count = -1) {
  const auto found = arrays.find(name);
  require(found != arrays.end(), "there is no array ", name);
  require(count < 0 || found->second.count() == count, name, " has ", found->second.count(),
          " elements, and needs ", count);
  return found->second;
}

/// Rows of numbers: error unless there are `rows` of them; -1: as many as there are.
const WholeNumbers& rows_of(const Arrays& arrays, const std::string& name, Index rows = -1) {
  const WholeNumbers& array = array_of(arrays, name);
  require(array.shape.size() == 2, name, " must be [sequences, positions]");
  require(rows < 0 || array.shape[0] == rows, name, " has ", array.shape[0], " rows, and needs ",
          rows);
  return array;
}

/// A number, or the word of the header that it stands for.
Json word_of(std::int64_t number, const std::vector<std::string>& words) {
  if (words.empty()) return number;
  require(number >= 0 && number < std::ssize(words), "there is no word ", number, " among ",
          words.size());
  return words[static_cast<std::size_t>(number)];
}

/// Row i, as long as the array `lengths` says where it is there.
Json row_of(const WholeNumbers& rows, const Arrays& arrays, const std::string& lengths, Index i,
            const std::vector<std::string>& words) {
  const Index positions = rows.shape[1];
  const Index length =
      arrays.contains(lengths) ? array_of(arrays, lengths, rows.shape[0])[i] : positions;
  require(length <= positions, "its length is ", length, " of ", positions);
  Json row = Json::array();
  for (Index t = 0; t < length; ++t) row.push_back(word_of(rows[i * positions + t], words));
  return row;
}

/// By query, the keys of sequence i of `count`.
Json truth_in(const WholeNumbers& begin, const WholeNumbers& keys, Index i, Index count) {
  Json queries = Json::object();
  const Index positions = (begin.count() - 1) / count;
  require(begin.count() == positions * count + 1, "begin has ", begin.count(),
          " elements, and needs one for each query and one more");
  for (Index t = 0; t < positions; ++t) {
    const Index from = begin[i * positions + t], to = begin[i * positions + t + 1];
    require(0 <= from && from <= to && to <= keys.count(), "query ", t, " has keys from ", from,
            " to ", to, " of ", keys.count());
    Json list = Json::array();
    for (Index k = from; k < to; ++k) list.push_back(keys[k]);
    if (from < to) queries[std::to_string(t)] = std::move(list);
  }
  return queries;
}

/// The arrays KEY/RELATION/begin and KEY/RELATION/keys, for sequence i.
Json relations_in(const Arrays& arrays, const std::string& key, Index i, Index count) {
  Json relations = Json::object();
  for (const auto& [name, begin] : arrays)
    if (name.starts_with(key + "/") && name.ends_with("/begin")) {
      const std::string path = name.substr(0, name.size() - 6);
      relations[path.substr(std::min(path.size(), key.size() + 1))] =
          truth_in(begin, array_of(arrays, path + "/keys"), i, count);
    }
  return relations;
}

/// The line that sequence i would be.
Json line_of(const Arrays& arrays, Index i, const std::vector<std::string>& words) {
  const WholeNumbers &tokens = rows_of(arrays, "tokens"), &targets = array_of(arrays, "targets");
  const Index count = tokens.shape[0], K = targets.count() / tokens.count();
  require(targets.count() == K * tokens.count() && K > 0, "there are ", targets.count(),
          " targets for ", tokens.count(), " tokens");
  Json line = Json::object({{"tokens", row_of(tokens, arrays, "lengths", i, words)},
                            {"targets", Json::array()},
                            {"truth", relations_in(arrays, "truth", i, count)},
                            {"candidates", relations_in(arrays, "candidates", i, count)}});
  if (arrays.contains("source"))
    line["source"] = row_of(rows_of(arrays, "source", count), arrays, "source_lengths", i, words);
  const Index first = i * tokens.shape[1];
  for (Index place = first; place < first + std::ssize(line.at("tokens").items()); ++place) {
    Json at = Json::array();
    for (Index k = place * K; k < (place + 1) * K; ++k)
      at.push_back(targets[k] < 0 ? Json() : word_of(targets[k], words));
    line["targets"].push_back(std::move(at));
  }
  return line;
}

}  // namespace

Json header_of_arrays(std::string_view bytes) {
  const Arrays arrays = read_npz(bytes);
  const auto found = arrays.find("header");
  if (found == arrays.end()) return Json();
  std::string letters;
  for (Index i = 0; i < found->second.count(); ++i)
    append_utf8(letters, static_cast<char32_t>(std::clamp<Index>(found->second[i], 0, 0xFFFF)));
  return Json::parse(letters, "the header");
}

Sequences LineReader::read_arrays(std::string_view bytes, const std::string& source,
                                  std::vector<std::string>* faults) {
  Sequences all;
  read_part(source, faults, [&] {
    const Arrays arrays = read_npz(bytes);
    const Index count = rows_of(arrays, "tokens").shape[0];
    array_of(arrays, "targets");
    std::vector<std::string> words;
    if (const Json header = header_of_arrays(bytes); !header.is_null()) {
      read(Json::object({{"header", header}}), all);
      words = header_.vocabulary;
    }
    for (Index i = 0; i < count; ++i)
      read_part(text(source, ": sequence ", i), faults,
                [&] { read(line_of(arrays, i, words), all); });
  });
  return all;
}

}  // namespace headlab
