// Sequences as arrays of whole numbers (NAME.npz). Names and shapes of all arrays are checked
// first; then each sequence is read as the line that it would be, so that lines and arrays pass the
// same checks. Read next: sequences.cc; results/npz.h.
#include <algorithm>
#include <optional>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"
#include "lab/data/sequences.h"
#include "lab/results/npz.h"

namespace headlab {
namespace {

using Arrays = std::map<std::string, WholeNumbers, std::less<>>;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kNothingAsked = -1, kIgnored = -100;  // -100 is PyTorch's value

/// Parts of a name such as "truth/NAME/begin".
struct RelationArray {
  std::string key, relation, part;  // "truth" or "candidates"; "NAME"; "begin" or "keys"
};

RelationArray parts_of(const std::string& name) {
  const std::size_t first = name.find('/'), last = name.rfind('/');
  if (first == name.npos || first == last) return {};
  return {name.substr(0, first), name.substr(first + 1, last - first - 1), name.substr(last + 1)};
}

/// Returns the array of a name. Error if there is none.
const WholeNumbers& array_of(const Arrays& arrays, std::string_view name) {
  const auto found = arrays.find(name);
  require(found != arrays.end(), "there is no array ", name);
  return found->second;
}

void require_shape(const Arrays& arrays, const std::string& name, const Shape& wanted,
                   const std::string& meaning) {
  const auto found = arrays.find(name);
  if (found == arrays.end() || found->second.shape == wanted) return;
  throw Error(text(name, " has the shape ", shape_text(found->second.shape), ", and needs ",
                   shape_text(wanted), ", ", meaning),
              "check the order of its axes: sequences come first");
}

/// Throws an Error for an array that nothing reads.
void require_known_names(const Arrays& arrays) {
  const std::vector<std::string> plain = {"tokens",         "targets", "lengths",   "source",
                                          "source_lengths", "header",  "corrupted", "against"};
  for (const auto& [name, array] : arrays) {
    const RelationArray parts = parts_of(name);
    const bool of_relation = (parts.key == "truth" || parts.key == "candidates") &&
                             !parts.relation.empty() &&
                             (parts.part == "begin" || parts.part == "keys");
    if (of_relation || std::ranges::count(plain, name) > 0) continue;
    std::vector<std::string> known = plain;
    const std::string relation = parts.relation.empty() ? "NAME" : parts.relation;
    for (const std::string key : {"truth", "candidates"}) {
      for (const std::string part : {"begin", "keys"}) {
        known.push_back(text(key, "/", relation, "/", part));
      }
    }
    throw unknown_name("array", name, known);
  }
  for (const auto& [name, array] : arrays) {
    const RelationArray parts = parts_of(name);
    if (parts.part.empty()) continue;
    const std::string other = parts.part == "begin" ? "keys" : "begin";
    array_of(arrays, text(parts.key, "/", parts.relation, "/", other));
  }
  require(!arrays.contains("source_lengths") || arrays.contains("source"),
          "source_lengths without source");
}

/// Throws an Error unless the elements are numbers, not letters.
void require_numbers(const Arrays& arrays) {
  for (const auto& [name, array] : arrays) {
    require(!array.is_text || name == "header", name,
            " holds texts: give whole numbers, and the words as `vocabulary` of the header");
  }
}

void require_shapes(const Arrays& arrays) {
  const Shape& tokens = array_of(arrays, "tokens").shape;
  const Shape& targets = array_of(arrays, "targets").shape;
  require(tokens.size() == 2, "tokens must be [sequences, positions], and has the shape ",
          shape_text(tokens));
  const bool one_each = targets == tokens;
  const bool several_each =
      targets.size() == 3 && targets[0] == tokens[0] && targets[1] == tokens[1] && targets[2] > 0;
  if (!one_each && !several_each) {
    throw Error(text("targets has the shape ", shape_text(targets), ", but tokens has ",
                     shape_text(tokens), ": it must be the same, or that with one axis more"),
                "check the order of its axes: sequences come first, then positions");
  }
  require_shape(arrays, "lengths", {tokens[0]}, "one for each sequence");
  require_shape(arrays, "corrupted", tokens, "as tokens");
  require_shape(arrays, "against", targets, "as targets");
  if (!arrays.contains("source")) return;
  const Shape& source = array_of(arrays, "source").shape;
  require(source.size() == 2 && source[0] == tokens[0], "source has the shape ", shape_text(source),
          ", and must be [", tokens[0], ", source positions]");
  require_shape(arrays, "source_lengths", {tokens[0]}, "one for each sequence");
}

/// Unsigned targets cannot hold -1: error if they seem to hold it as their largest number.
void require_signed_targets(const Arrays& arrays) {
  const WholeNumbers& targets = array_of(arrays, "targets");
  const WholeNumbers& tokens = array_of(arrays, "tokens");
  if (targets.has_sign || targets.width == 8) return;
  const std::int64_t largest = (std::int64_t{1} << (8 * targets.width)) - 1;
  const auto holds = [largest](const WholeNumbers& array) {
    for (Index i = 0; i < array.count(); ++i) {
      if (array[i] == largest) return true;
    }
    return false;
  };
  if (!holds(targets) || holds(tokens)) return;
  throw Error(text("targets holds ", largest, ", which no token is: -1 does not fit into its ",
                   "unsigned numbers"),
              "save it as numpy.int32");
}

/// Throws an Error unless the arrays of a relation with this many queries divide its keys.
void require_divided(const Arrays& arrays, const std::string& path, Index queries) {
  const WholeNumbers& begin = array_of(arrays, path + "/begin");
  const WholeNumbers& keys = array_of(arrays, path + "/keys");
  require_shape(arrays, path + "/begin", {queries + 1}, "one for each query and one more");
  require_shape(arrays, path + "/keys", {keys.count()}, "one row of keys");
  require(begin[0] == 0, path, "/begin must start with 0, and starts with ", begin[0]);
  require(begin[queries] == keys.count(), path, "/begin ends with ", begin[queries],
          ", but there are ", keys.count(), " keys: some would belong to no query");
}

/// Returns a number, or the word of the header that it stands for.
Json word_of(std::int64_t number, const std::vector<std::string>& words) {
  if (words.empty()) return number;
  require(number >= 0 && number < std::ssize(words), "there is no word ", number, " among ",
          words.size());
  return words[static_cast<std::size_t>(number)];
}

/// Reads the sequences of arrays one by one, as lines.
class ArrayLines {
 public:
  ArrayLines(const Arrays& arrays, const Header& header) : arrays_(arrays), header_(header) {
    require_known_names(arrays);
    require_numbers(arrays);
    require_shapes(arrays);
    require_signed_targets(arrays);
    for (const auto& [name, array] : arrays) {
      const RelationArray parts = parts_of(name);
      if (parts.part != "begin") continue;
      const std::string path = text(parts.key, "/", parts.relation);
      require_divided(arrays, path, count() * queries_of(parts.relation));
    }
  }

  Index count() const { return tokens().shape[0]; }

  /// Returns sequence i in the form of a line.
  Json line(Index i) const {
    Json line = Json::object({{"tokens", row_of("tokens", "lengths", i)},
                              {"targets", answers_in("targets", i)},
                              {"truth", relations_in("truth", i)},
                              {"candidates", relations_in("candidates", i)}});
    if (arrays_.contains("source")) line["source"] = row_of("source", "source_lengths", i);
    if (has_corrupted(i)) line["corrupted"] = row_of("corrupted", "lengths", i);
    if (arrays_.contains("against")) line["against"] = answers_in("against", i);
    return line;
  }

 private:
  const WholeNumbers& tokens() const { return array_of(arrays_, "tokens"); }

  bool has_corrupted(Index i) const {
    const auto found = arrays_.find("corrupted");
    return found != arrays_.end() && found->second[i * tokens().shape[1]] != kNothingAsked;
  }

  /// Returns the answers of sequence i at each position, from the array `targets` or `against`.
  Json answers_in(const std::string& name, Index i) const {
    const WholeNumbers& answers = array_of(arrays_, name);
    const Index at_each = answers.shape.size() == 3 ? answers.shape[2] : 1;
    const Index first = i * tokens().shape[1];
    Json all = Json::array();
    for (Index t = first; t < first + length_of("tokens", "lengths", i); ++t) {
      Json asked = Json::array();
      for (Index k = t * at_each; k < (t + 1) * at_each; ++k) asked.push_back(target(answers[k]));
      all.push_back(std::move(asked));
    }
    return all;
  }

  Json target(std::int64_t number) const {
    require(number >= 0 || number == kNothingAsked || number == kIgnored, "the target ", number,
            " is no token, nor ", kNothingAsked, " for none");
    return number < 0 ? Json() : word_of(number, answers_of(header_));
  }

  /// Returns the number of queries in a sequence; those of an encoder's relation are in the source.
  Index queries_of(const std::string& relation) const {
    const auto found = std::ranges::find(header_.relations, relation, &Relation::name);
    const bool in_source = found != header_.relations.end() &&
                           found->kind == AttentionKind::encoder && arrays_.contains("source");
    return array_of(arrays_, in_source ? "source" : "tokens").shape[1];
  }

  /// Returns the length of sequence i, from the array `lengths` if there is one.
  Index length_of(const std::string& name, const std::string& lengths, Index i) const {
    const Index positions = array_of(arrays_, name).shape[1];
    const Index length = arrays_.contains(lengths) ? array_of(arrays_, lengths)[i] : positions;
    require(length >= 0 && length <= positions, "its length is ", length, " of ", positions);
    return length;
  }

  /// Returns row i of an array, with the length in the array `lengths` if there is one.
  Json row_of(const std::string& name, const std::string& lengths, Index i) const {
    const WholeNumbers& rows = array_of(arrays_, name);
    const Index positions = rows.shape[1];
    const Index length = length_of(name, lengths, i);
    Json row = Json::array();
    for (Index t = 0; t < length; ++t) {
      row.push_back(word_of(rows[i * positions + t], header_.vocabulary));
    }
    return row;
  }

  /// Returns the keys of each query of sequence i, for the relations of `key`, "truth" or
  /// "candidates".
  Json relations_in(const std::string& key, Index i) const {
    Json relations = Json::object();
    for (const auto& [name, begin] : arrays_) {
      const RelationArray parts = parts_of(name);
      if (parts.key != key || parts.part != "begin") continue;
      const WholeNumbers& keys = array_of(arrays_, text(key, "/", parts.relation, "/keys"));
      relations[parts.relation] = truth_in(begin, keys, i, queries_of(parts.relation));
    }
    return relations;
  }

  static Json truth_in(const WholeNumbers& begin, const WholeNumbers& keys, Index i,
                       Index positions) {
    Json queries = Json::object();
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

  const Arrays& arrays_;
  const Header& header_;
};

Json header_in(const Arrays& arrays) {
  const auto found = arrays.find("header");
  if (found == arrays.end()) return Json();
  require(found->second.is_text && found->second.shape.size() == 1,
          "header must be one text: header=json.dumps({...})");
  std::string letters;
  for (Index i = 0; i < found->second.count(); ++i) {
    const std::int64_t point = found->second[i];
    require(point >= 0 && point <= 0x10FFFF, "the header holds ", point, ", which is no character");
    append_utf8(letters, static_cast<char32_t>(point));
  }
  return Json::parse(letters, "the header");
}

}  // namespace

Json header_of_arrays(std::string_view bytes) { return header_in(read_npz(bytes)); }

Sequences LineReader::read_arrays(std::string_view bytes, const std::string& source,
                                  std::vector<std::string>* faults) {
  Sequences all;
  Arrays arrays;
  Header given;
  std::optional<ArrayLines> lines;
  read_part(source, faults, [&] {
    arrays = read_npz(bytes);
    if (const Json header = header_in(arrays); !header.is_null()) {
      read(Json::object({{"header", header}}), all);
      given = header_;
    }
    lines.emplace(arrays, given);
  });
  const Index count = lines ? lines->count() : 0;
  for (Index i = 0; i < count; ++i) {
    read_part(text(source, ": sequence ", i), faults, [&] { read(lines->line(i), all); });
    const bool is_sequence = all.size() > std::ssize(all.places);
    if (is_sequence) all.places.push_back(id(i));
  }
  return all;
}

}  // namespace headlab
