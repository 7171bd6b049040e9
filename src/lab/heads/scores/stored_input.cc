// Reading of stored patterns. Tokens and ground truth become lines of a task file, which the reader
// of such files checks (data/sequences.h); this file checks that they fit the array. If no header
// names the architecture, patterns without any weight on a later key are causal. Read next:
// stored_weights.cc, the checks of the weights.
#include "lab/heads/scores/stored_input.h"

#include <algorithm>
#include <optional>

#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "lab/data/file_kind.h"
#include "lab/results/npy.h"
#include "lab/results/npz.h"

namespace headlab {
namespace {

constexpr const char* kShapes =
    "save an array [layers, heads, queries, keys], or [examples, layers, heads, queries, keys]";
constexpr const char* kTokenForms =
    "write [words], [[words], ...] with a list for each example, or {\"queries\": ..., \"keys\": "
    "...}";

/// Words of each example.
using WordLists = std::vector<Json>;

void read_patterns(const StoredPatternFiles& files, StoredInput& input) {
  const std::string bytes = read_file(files.patterns);
  FloatArray array =
      in_context(text("cannot read ", files.patterns), [&] { return read_npy_floats(bytes); });
  std::vector<std::int64_t> shape = array.shape;
  const bool fits = shape.size() == 4 || shape.size() == 5;
  if (!fits || std::ranges::count(shape, 0) > 0) {
    throw Error(text("cannot read ", files.patterns, ": its shape is ", shape_text(shape)),
                kShapes);
  }
  if (shape.size() == 4) shape.insert(shape.begin(), 1);
  input.examples = shape[0];
  input.layers = shape[1];
  input.heads = shape[2];
  input.queries = shape[3];
  input.keys = shape[4];
  input.normalises = !files.unnormalised;
  input.weights = std::move(array.values);
}

/// Returns the lists of words in `json`: one for each example.
WordLists word_lists(const Json& json) {
  const Json::Array& items = json.items();
  if (items.empty()) throw Error("it holds no token", kTokenForms);
  const auto lists = std::ranges::count_if(items, &Json::is_array);
  if (lists == 0) return {json};
  if (lists != std::ssize(items)) throw Error("it mixes words and lists of words", kTokenForms);
  return items;
}

struct TokenLists {
  WordLists queries;
  WordLists keys;  // empty for self-attention
};

TokenLists token_lists(const Json& json) {
  if (json.is_array()) return {word_lists(json), {}};
  if (!json.is_object()) throw Error("it is neither a list nor an object", kTokenForms);
  const std::vector<std::string> known = {"queries", "keys"};
  for (const auto& [key, value] : json.members()) {
    if (!std::ranges::count(known, key)) throw unknown_name("key", key, known);
  }
  TokenLists lists;
  in_context("queries", [&] { lists.queries = word_lists(json.at("queries")); });
  in_context("keys", [&] { lists.keys = word_lists(json.at("keys")); });
  return lists;
}

/// Throws an Error unless there is a list for each example, none longer than an axis of the
/// patterns, and the longest as long.
void require_fit(const WordLists& lists, const StoredInput& input, Index length,
                 const std::string& axis) {
  require(std::ssize(lists) == input.examples, "it has tokens of ", lists.size(),
          lists.size() == 1 ? " example" : " examples", ", and the patterns have ", input.examples);
  Index longest = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const Index count = std::ssize(lists[i].items());
    require(count <= length, "example ", i, " has ", count, " tokens, and the patterns have ",
            length, " ", axis);
    longest = std::max(longest, count);
  }
  require(longest == length, "the longest example has ", longest,
          longest == 1 ? " token" : " tokens", ", and the patterns have ", length, " ", axis);
}

TokenLists read_tokens(const std::string& file, const StoredInput& input) {
  const std::string bytes = read_file(file);
  return in_context(text("cannot read ", file), [&] {
    const TokenLists lists = token_lists(parse_data(bytes, "the file"));
    if (lists.keys.empty() && input.queries != input.keys) {
      throw Error(text("the patterns have ", input.queries, " queries and ", input.keys,
                       " keys, and it names one list of tokens for both"),
                  "write {\"queries\": [words], \"keys\": [words]} for cross-attention");
    }
    require_fit(lists.queries, input, input.queries, "queries");
    if (!lists.keys.empty()) require_fit(lists.keys, input, input.keys, "keys");
    return lists;
  });
}

// ---- ground truth -------------------------------------------------------------------------------

/// A line of the file of ground truth, with its place.
struct TruthLine {
  std::string place;
  Json json;
};

struct TruthLines {
  std::optional<TruthLine> header;
  std::vector<TruthLine> examples;
};

TruthLines read_truth(const std::string& file, const StoredInput& input) {
  TruthLines lines;
  if (file.empty()) return lines;
  Index number = 0;
  const std::string bytes = read_file(file);
  for (const std::string_view line : split(bytes, '\n')) {
    ++number;
    if (is_blank_line(line)) continue;
    const std::string place = text("cannot read ", file, ":", number);
    TruthLine read{place, in_context(place, [&] { return parse_data(line, "the line"); })};
    const bool is_header = read.json.is_object() && read.json.find("header") != nullptr;
    if (!is_header) {
      lines.examples.push_back(std::move(read));
      continue;
    }
    require(!lines.header && lines.examples.empty(), place, ": a header must be the first line");
    lines.header = std::move(read);
  }
  if (std::ssize(lines.examples) != input.examples) {
    throw Error(text("cannot read ", file, ": it has ", lines.examples.size(),
                     lines.examples.size() == 1 ? " example" : " examples",
                     ", and the patterns have ", input.examples),
                "write one line for each example, {\"truth\": {}} if there is nothing to know");
  }
  return lines;
}

/// Returns the architecture whose mask the patterns have.
Architecture architecture_of(const TokenLists& tokens, const TruthLines& truth,
                             const StoredInput& input) {
  const Json* named = nullptr;
  if (truth.header) named = truth.header->json.at("header").find("architecture");
  const bool is_cross = !tokens.keys.empty();
  if (is_cross) return Architecture::encoder_decoder;
  if (named == nullptr) {
    return later_key_text(input).empty() ? Architecture::decoder : Architecture::encoder;
  }
  const Architecture architecture =
      in_context(truth.header->place, [&] { return architecture_named(named->string()); });
  if (architecture == Architecture::encoder_decoder) {
    throw Error(text(truth.header->place,
                     ": the header names an encoder-decoder, and the tokens are one list"),
                "write {\"queries\": [words], \"keys\": [words]} as tokens for cross-attention");
  }
  const std::string later = later_key_text(input);
  require(architecture == Architecture::encoder || later.empty(), truth.header->place,
          ": the header names a decoder, but in ", later, ", which is later");
  return architecture;
}

/// Returns the line of a task file for example i: its tokens, and the ground truth of `truth`.
Json task_line(const TokenLists& tokens, std::size_t i, const Json& truth) {
  Json line = Json::object({{"tokens", tokens.queries[i]}, {"targets", Json::array()}});
  if (!tokens.keys.empty()) line["source"] = tokens.keys[i];
  const std::vector<std::string> known = {"truth", "candidates", "tokens", "source", "targets"};
  for (const auto& [key, value] : truth.members()) {
    if (!std::ranges::count(known, key)) throw unknown_name("key", key, known);
    if (key == "truth" || key == "candidates") line[key] = value;
    if (key != "tokens" && key != "source") continue;
    const Json* own = line.find(key);
    require(own != nullptr && *own == value, "its ", key, " differ from the tokens of example ", i);
  }
  return line;
}

void read_lines(const StoredPatternFiles& files, StoredInput& input) {
  const TokenLists tokens = read_tokens(files.tokens, input);
  const TruthLines truth = read_truth(files.truth, input);
  LineReader reader;
  reader.read_for(architecture_of(tokens, truth, input));
  if (truth.header) {
    in_context(truth.header->place, [&] { reader.read(truth.header->json, input.sequences); });
  }
  const Json nothing = Json::object({});
  for (std::size_t i = 0; i < tokens.queries.size(); ++i) {
    const bool is_known = !files.truth.empty();
    const std::string place =
        is_known ? truth.examples[i].place : text("cannot read ", files.tokens, ": example ", i);
    const Json& known = is_known ? truth.examples[i].json : nothing;
    in_context(place, [&] { reader.read(task_line(tokens, i, known), input.sequences); });
  }
  Sequences* const all[] = {&input.sequences};
  reader.finish(all);
  input.header = reader.header();
  for (const Relation& relation : input.header.relations) {
    require(relation.kind == input.kind(), "cannot read ", files.truth, ": relation ",
            relation.name, " is one of ", kind_name(relation.kind),
            "-attention, and the patterns are those of ", kind_name(input.kind()), "-attention");
  }
}

}  // namespace

StoredInput read_stored_input(const StoredPatternFiles& files) {
  StoredInput input;
  read_patterns(files, input);
  read_lines(files, input);
  in_context(text("cannot read ", files.patterns), [&] { check_weights(input); });
  return input;
}

}  // namespace headlab
