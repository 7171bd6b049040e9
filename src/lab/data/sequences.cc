// Reading of lines. A line is checked completely before any part of it is stored. Ground truth is
// checked against the mask: a key that the model cannot see would count against every head.
// Read next: file.cc.
#include "lab/data/sequences.h"

#include <algorithm>
#include <charconv>

#include "headlab/core/base/text.h"
#include "lab/data/file_kind.h"

namespace headlab {
namespace {

constexpr std::size_t kMostTargets = 64;  // at a position

/// Returns the text of a token that is a text or a whole number.
std::string word_of(const Json& word) {
  if (word.is_string()) return word.string();
  require(word.is_number(), "expected a token, a text or a whole number, got ", word.kind());
  const std::int64_t number = word.integer();
  require(number >= 0, "a token must not be negative, got ", number);
  return std::to_string(number);
}

/// Returns the list of relation r; lists grow as relations are met.
Lists& list_of(std::vector<Lists>& lists, std::size_t r) {
  lists.resize(std::max(lists.size(), r + 1));
  return lists[r];
}

/// Calls each(query, keys) for the queries that a list holds.
template <class Each>
void for_queries(std::span<const std::int32_t> list, const Each& each) {
  for (std::size_t i = 0; i < list.size(); i += 2 + static_cast<std::size_t>(list[i + 1])) {
    each(list[i], list.subspan(i + 2, static_cast<std::size_t>(list[i + 1])));
  }
}

}  // namespace

void Lists::add(std::span<const std::int32_t> list) {
  values_.insert(values_.end(), list.begin(), list.end());
  begin_.push_back(values_.size());
}

void Sequences::add(const Sequences& from, Index i) {
  for (auto [mine, others] : {std::pair(&truth, &from.truth), {&candidates, &from.candidates}}) {
    mine->resize(std::max(mine->size(), others->size()));
    for (std::size_t r = 0; r < mine->size(); ++r) {
      while ((*mine)[r].size() < size()) (*mine)[r].add({});
      (*mine)[r].add(r < others->size() ? (*others)[r][i] : std::span<const std::int32_t>());
    }
  }
  tokens.add(from.tokens[i]);
  source.add(from.source[i]);
  targets.add(from.targets[i]);
  corrupted.add(from.corrupted[i]);
  against.add(from.against[i]);
  if (!from.places.empty()) places.push_back(from.places[i]);
}

void Sequences::write(Index i, Sequence& into) const {
  Batch& batch = into.example.batch;
  std::ranges::copy(tokens[i], into.tokens().begin());
  into.pad_behind(std::ssize(tokens[i]));
  if (batch.source_length > 0) {
    std::ranges::copy(source[i], &batch.source_token(into.b, 0));
    batch.source_lengths.push_back(id(std::ssize(source[i])));
  }
  const auto asked = targets[i];
  for (std::size_t k = 0; k < asked.size(); k += 3) {
    into.target(asked[k], asked[k + 1]) = asked[k + 2];
  }
  for (std::size_t r = 0; r < truth.size(); ++r) {
    for_queries(truth[r][i], [&](Index t, auto keys) { into.add_truth(r, t, keys); });
  }
  for (std::size_t r = 0; r < candidates.size(); ++r) {
    for_queries(candidates[r][i], [&](Index t, auto keys) { into.add_candidates(r, t, keys); });
  }
}

// ---- reading

struct LineReader::Line {
  std::vector<std::int32_t> tokens, source, targets;

  Index queries(AttentionKind kind) const {
    return std::ssize(kind == AttentionKind::encoder ? source : tokens);
  }
  Index keys(AttentionKind kind) const {
    return std::ssize(kind == AttentionKind::self ? tokens : source);
  }
};

LineReader::LineReader(Header header) : header_(std::move(header)) {
  fixed_words_ = !header_.vocabulary.empty();
  fixed_relations_ = !header_.relations.empty();
  for (const std::string& word : header_.vocabulary) {
    require(known_.emplace(word, id(std::ssize(known_))).second, "the vocabulary holds '", word,
            "' twice");
  }
}

std::int32_t LineReader::token_of(const Json& word) {
  const std::string spelled = word_of(word);
  if (const auto found = known_.find(spelled); found != known_.end()) return found->second;
  require(!fixed_words_, "'", spelled, "' is not in the vocabulary that the header names");
  require(known_.size() < kMostWords, "more than ", kMostWords, " different tokens");
  numbers_ = numbers_ && word.is_number() && word.integer() < kMostWords;
  header_.vocabulary.push_back(spelled);
  return known_.emplace(spelled, id(std::ssize(known_))).first->second;
}

std::int32_t LineReader::answer_of(const Json& word) {
  if (header_.answers.empty()) return token_of(word);
  const std::string spelled = word_of(word);
  const auto found = std::ranges::find(header_.answers, spelled);
  if (found == header_.answers.end()) throw unknown_name("answer", spelled, header_.answers);
  return id(found - header_.answers.begin());
}

std::vector<std::int32_t> LineReader::tokens_of(const Json& words, const char* what) {
  return in_context(what, [&] {
    std::vector<std::int32_t> tokens;
    for (const Json& word : words.items()) tokens.push_back(token_of(word));
    require(!tokens.empty(), "expected at least one token");
    require(std::ssize(tokens) <= kLongest, "more than ", kLongest, " tokens");
    return tokens;
  });
}

std::vector<std::int32_t> LineReader::targets_of(const Json& targets, const char* what,
                                                 std::size_t most, Index length) {
  std::vector<std::int32_t> asked;
  const auto add = [&](std::size_t t, std::size_t k, const Json& word) {
    if (!word.is_null()) asked.insert(asked.end(), {id(t), id(k), answer_of(word)});
    if (k < header_.targets.size()) return;
    require(k < most, "more than ", most, " targets at a position");
    header_.targets.push_back(k == 0 ? "target" : text("target ", k + 1));
  };
  return in_context(what, [&] {
    require(std::ssize(targets.items()) <= length, targets.items().size(), " of them for ", length,
            " tokens");
    for (std::size_t t = 0; t < targets.items().size(); ++t) {
      const Json& at = targets.items()[t];
      if (!at.is_array()) add(t, 0, at);
      for (std::size_t k = 0; at.is_array() && k < at.items().size(); ++k) add(t, k, at.items()[k]);
    }
    return asked;
  });
}

std::size_t LineReader::relation_of(const std::string& name) {
  const auto found = std::ranges::find(header_.relations, name, &Relation::name);
  if (found != header_.relations.end()) return found - header_.relations.begin();
  if (fixed_relations_) {
    throw unknown_name("relation", name, texts_of(header_.relations, &Relation::name));
  }
  const bool cross = header_.architecture == Architecture::encoder_decoder;
  header_.relations.push_back(
      {name, name, false, cross ? AttentionKind::cross : AttentionKind::self});
  return header_.relations.size() - 1;
}

/// Returns query, number of keys, keys; and so on.
std::vector<std::int32_t> LineReader::truth_of(const Json& queries, const Relation& relation,
                                               const Line& line) {
  const bool causal =
      header_.architecture != Architecture::encoder && relation.kind == AttentionKind::self;
  std::map<Index, std::vector<std::int32_t>> sorted;
  for (const auto& [query, keys] : queries.members()) {
    Index t = -1;
    const auto [end, error] = std::from_chars(query.data(), query.data() + query.size(), t);
    require(error == std::errc() && end == query.data() + query.size() && t >= 0 &&
                t < line.queries(relation.kind),
            "'", query, "' is no position of a query: they go from 0 to ",
            line.queries(relation.kind) - 1);
    const Index most = causal ? t : line.keys(relation.kind) - 1;
    std::vector<std::int32_t>& list = sorted[t];
    require(list.empty(), "the query ", t, " is there twice");
    for (const Json& key : keys.items()) {
      const std::int64_t at = key.integer();
      require(at >= 0 && at <= most, "query ", t, " cannot see key ", at,
              ": its keys go from 0 to ", most,
              causal ? ", since a decoder sees nothing after the query" : "");
      list.push_back(id(at));
    }
    std::ranges::sort(list);
    require(!list.empty() && std::ranges::adjacent_find(list) == list.end(), "query ", t,
            list.empty() ? " has no key" : " has one key twice");
  }
  std::vector<std::int32_t> flat;
  for (const auto& [t, keys] : sorted) {
    flat.insert(flat.end(), {id(t), id(std::ssize(keys))});
    flat.insert(flat.end(), keys.begin(), keys.end());
  }
  return flat;
}

std::map<std::size_t, std::vector<std::int32_t>> LineReader::truth_of_all(const Json& truth,
                                                                          const Line& line) {
  std::map<std::size_t, std::vector<std::int32_t>> by_relation;
  for (const Json::Member& one : truth.members()) {
    const std::size_t r = relation_of(one.first);
    by_relation[r] =
        in_context(one.first, [&] { return truth_of(one.second, header_.relations[r], line); });
  }
  return by_relation;
}

/// Takes over what a header says.
void LineReader::read_header(const Json& header) {
  require(!began_ || header == given_,
          "a header must be the first line, and the same in all files");
  if (!began_) {
    const std::optional<Architecture> architecture = architecture_;
    *this = LineReader(Header::of(header));
    if (architecture && header.find("architecture") == nullptr) read_for(*architecture);
    if (architecture && header_.architecture != *architecture) {
      throw Error(text("the header names another architecture than the task, which is given as ",
                       "architecture=", architecture_name(*architecture)));
    }
  }
  given_ = header;
  began_ = true;
}

void LineReader::read_for(Architecture architecture) {
  architecture_ = architecture;
  header_.architecture = architecture;
}

/// Tokens, source and targets of a line.
LineReader::Line LineReader::read_tokens(const Json& json) {
  const std::vector<std::string> keys = {"tokens", "targets",   "truth",  "candidates",
                                         "source", "corrupted", "against"};
  for (const auto& member : json.members()) {
    if (!std::ranges::count(keys, member.first)) throw unknown_name("key", member.first, keys);
  }
  const bool is_open = !began_ && !architecture_;
  if (is_open && json.find("source")) header_.architecture = Architecture::encoder_decoder;
  began_ = true;
  const bool sourced = header_.architecture == Architecture::encoder_decoder;
  require(sourced == (json.find("source") != nullptr),
          sourced ? "the key 'source' is missing: an encoder-decoder needs it"
                  : "a source, where lines before have none");
  Line line{tokens_of(json.at("tokens"), "tokens"), {}, {}};
  if (sourced) line.source = tokens_of(json.at("source"), "source");
  line.targets = targets_of(json.at("targets"), "targets", kMostTargets, std::ssize(line.tokens));
  return line;
}

Index LineReader::unasked_queries(const std::vector<Lists>& truth, const Line& line) {
  Index unasked = 0;
  for (const Lists& list : truth) {
    if (list.size() == 0) continue;
    for_queries(list[0], [&](Index t, auto) {
      bool asked = false;
      for (std::size_t i = 0; i < line.targets.size(); i += 3) asked |= line.targets[i] == t;
      unasked += !asked;
    });
  }
  return unasked;
}

void LineReader::read(const Json& json, Sequences& into) {
  if (const Json* header = json.find("header")) {
    for (const auto& member : json.members()) {
      require(member.first == "header", "a header must be alone on its line, but here is '",
              member.first, "' too: give the sequence a line of its own");
    }
    return read_header(*header);
  }
  const Line line = read_tokens(json);
  Sequences one;
  const auto read_lists = [&](const char* key, std::vector<Lists>& lists) {
    if (const Json* truth = json.find(key)) {
      in_context(key, [&] {
        for (const auto& [r, list] : truth_of_all(*truth, line)) list_of(lists, r).add(list);
      });
    }
  };
  read_lists("truth", one.truth);
  read_lists("candidates", one.candidates);
  unasked_ += unasked_queries(one.truth, line);
  header_.length = std::max(header_.length, std::ssize(line.tokens));
  header_.source_length = std::max(header_.source_length, std::ssize(line.source));
  for (auto* lists : {&one.truth, &one.candidates}) {  // relations that the line does not name
    for (Lists& list : *lists) {
      if (list.size() == 0) list.add({});
    }
  }
  one.tokens.add(line.tokens);
  one.source.add(line.source);
  one.targets.add(line.targets);
  read_prompt(json, one);
  into.add(one, 0);
}

void read_part(const std::string& place, std::vector<std::string>* faults,
               const std::function<void()>& read) {
  if (faults == nullptr) return in_context(text("cannot read ", place), read);
  try {
    in_context(place, read);
  } catch (const Error& error) {
    const std::string hint = error.hint().empty() ? "" : text(" (", error.hint(), ")");
    faults->push_back(error.what() + hint);
  }
}

bool is_blank_line(std::string_view line) {
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  return line.find_first_not_of(" \t\r") == line.npos;
}

Json header_of_lines(std::string_view lines, const std::string& source) {
  if (source.ends_with(".npz")) {
    return in_context(text("cannot read ", source), [&] { return header_of_arrays(lines); });
  }
  Index number = 0;
  for (const std::string_view line : split(lines, '\n')) {
    ++number;
    if (is_blank_line(line)) continue;
    const Json first = in_context(text("cannot read ", source, ":", number),
                                  [&] { return parse_data(line, "the line"); });
    const Json* header = first.find("header");
    return header == nullptr ? Json() : *header;
  }
  return Json();
}

Sequences LineReader::read_all(std::string_view lines, const std::string& source,
                               std::vector<std::string>* faults) {
  if (source.ends_with(".npz")) return read_arrays(lines, source, faults);
  Sequences all;
  Index number = 0;
  for (const std::string_view line : split(lines, '\n')) {
    ++number;
    if (is_blank_line(line)) continue;
    read_part(text(source, ":", number), faults, [&] { read(parse_data(line, "the line"), all); });
    const bool is_sequence = all.size() > std::ssize(all.places);
    if (is_sequence) all.places.push_back(id(number));
  }
  return all;
}

void LineReader::finish(std::span<Sequences* const> all) {
  if (header_.targets.empty()) header_.targets = {"target"};
  if (fixed_words_ || !numbers_ || header_.vocabulary.empty()) return;
  std::vector<std::int32_t> number_of;
  for (const std::string& word : header_.vocabulary) number_of.push_back(std::stoi(word));
  const auto renumber = [&](std::int32_t& token) { token = number_of[token]; };
  for (Sequences* sequences : all) {
    std::ranges::for_each(sequences->tokens.values(), renumber);
    std::ranges::for_each(sequences->source.values(), renumber);
    std::ranges::for_each(sequences->corrupted.values(), renumber);
    if (!header_.answers.empty()) continue;
    for (Lists* lists : {&sequences->targets, &sequences->against}) {
      auto& asked = lists->values();
      for (std::size_t i = 2; i < asked.size(); i += 3) renumber(asked[i]);
    }
  }
  header_.vocabulary.clear();
  for (std::int32_t n = 0; n <= std::ranges::max(number_of); ++n) {
    header_.vocabulary.push_back(std::to_string(n));
  }
}

}  // namespace headlab
