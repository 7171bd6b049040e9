// The header of sequences, and what follows from it for a task: its shape, its description and the
// targets that are hidden. Settings (settings.h) read and write its keys, so a key that is unknown
// or out of range is refused with the nearest name.
// Read next: sequences.cc.
#include <algorithm>

#include "headlab/core/base/text.h"
#include "lab/data/sequences.h"

namespace headlab {
namespace {

const std::vector<std::string> kArchitectures = {"decoder", "encoder", "encoder_decoder"};
const std::vector<std::string> kAttentionLayers = {"self", "encoder", "cross"};

/// Returns a setting that is an array: each of its items is read by `read` and written by `write`.
template <class Item, class Read, class Write>
Setting array_setting(std::string name, std::vector<Item>& value, Read read, Write write) {
  const auto set = [&value, read, name](const Json& json) {
    in_context(name, [&] {
      for (const Json& item : json.items()) value.push_back(read(item));
    });
  };
  return {name, "[...]", "", set, [&value, write] {
            Json array = Json::array();
            for (const Item& item : value) array.push_back(write(item));
            return array;
          }};
}

Settings fields_of(Relation& relation) {
  Settings s;
  s.string("name", relation.name, "");
  s.string("description", relation.description, "");
  s.boolean("positional", relation.positional, "");
  s.choice("kind", relation.kind, kAttentionLayers, "");
  return s;
}

Settings fields_of(Header& header) {
  const auto string_of = [](const Json& json) { return json.string(); };
  const auto same = [](const std::string& word) { return Json(word); };
  Settings s;
  s.string("description", header.description, "");
  s.choice("architecture", header.architecture, kArchitectures, "");
  s.add(array_setting("vocabulary", header.vocabulary, string_of, same));
  s.add(array_setting(
      "relations", header.relations,
      [](const Json& json) {
        Relation relation;
        fields_of(relation).set_all(json, "a relation");
        return relation;
      },
      [](Relation relation) { return fields_of(relation).to_json(); }));
  s.add(array_setting("targets", header.targets, string_of, same));
  Setting answers = array_setting("answers", header.answers, string_of, same);
  answers.usual = Json::array();  // headers that are older do not have the key
  s.add(std::move(answers));
  s.string("recommended", header.recommended, "");
  s.real("accuracy", header.accuracy, 0, 1, "");
  s.real("hidden", header.hidden, 0, 1, "");
  s.integer("needed_heads", header.needed_heads, 0, 1'000'000, "");
  s.integer("length", header.length, 0, kLongest, "");
  s.integer("source_length", header.source_length, 0, kLongest, "");
  return s;
}

/// Throws an Error for names of the header that are there twice, or empty.
void require_different(const char* key, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    require(!names[i].empty(), "the header: ", key, ": number ", i + 1, " has no name");
    const auto before = names.begin() + static_cast<std::ptrdiff_t>(i);
    require(std::find(names.begin(), before, names[i]) == before, "the header: ", key, ": '",
            names[i], "' is there twice");
  }
}

}  // namespace

Header Header::of(const Json& json) {
  Header header;
  fields_of(header).set_all(json, "the header");
  require(header.vocabulary.size() <= kMostWords, "a vocabulary holds at most ", kMostWords,
          " tokens, got ", header.vocabulary.size());
  require_different("relations", texts_of(header.relations, &Relation::name));
  require_different("targets", header.targets);
  require_different("answers", header.answers);
  const Json* answers = json.find("answers");
  if (answers != nullptr && header.answers.empty()) {
    throw Error("the header: answers is an empty list",
                "leave it out if the answers are tokens of the vocabulary");
  }
  require(header.answers.size() <= kMostWords, "the header: answers: at most ", kMostWords,
          " of them, got ", header.answers.size());
  return header;
}

Json to_json(const Header& header) {
  Header mine = header;
  return fields_of(mine).to_json();
}

std::int32_t FromElsewhere::mask() const {
  return id(std::ranges::find(header.vocabulary, "<mask>") - header.vocabulary.begin());
}

void FromElsewhere::check_header() const {
  require(header.hidden == 0 || mask() < std::ssize(header.vocabulary),
          "targets are to be hidden, but the vocabulary has no <mask>");
}

std::string FromElsewhere::about_data(const std::string& rest) const {
  const std::string first = header.description + (header.description.empty() ? "" : "; ") + rest;
  return header.accuracy == 0
             ? first
             : text(first, "; an accuracy of ", number_text(header.accuracy), " is to be expected");
}

void FromElsewhere::write(const Sequences& from, Index i, Sequence& into) const {
  from.write(i, into);
  if (header.hidden == 0) return;
  std::vector<Index> asked, chosen;
  for (Index t = 0; t < into.length(); ++t) {
    if (into.target(t) >= 0) asked.push_back(t);
  }
  for (const Index t : asked) {
    if (into.random.uniform() < header.hidden) chosen.push_back(t);
  }
  if (chosen.empty() && !asked.empty()) {
    chosen.push_back(asked[into.random.below(std::ssize(asked))]);
  }
  for (const Index t : asked) {
    if (std::ranges::find(chosen, t) == chosen.end()) {
      into.target(t) = -1;
    } else {
      into.token(t) = mask();
    }
  }
}

const std::string& architecture_name(Architecture architecture) {
  return kArchitectures[static_cast<std::size_t>(architecture)];
}

Architecture architecture_named(const std::string& name) {
  const auto found = std::ranges::find(kArchitectures, name);
  if (found == kArchitectures.end()) throw unknown_name("architecture", name, kArchitectures);
  return static_cast<Architecture>(found - kArchitectures.begin());
}

std::vector<std::string> header_keys() {
  Header header;
  return fields_of(header).names();
}

const std::vector<std::string>& answers_of(const Header& header) {
  return header.answers.empty() ? header.vocabulary : header.answers;
}

TaskShape shape_of(const Header& header) {
  const Index tokens = std::ssize(header.vocabulary), outputs = std::ssize(answers_of(header));
  return {.architecture = header.architecture,
          .vocab = tokens,
          .length = header.length,
          .targets = std::ssize(header.targets),
          .source_length = header.source_length,
          .answers = outputs == tokens ? 0 : outputs};
}

}  // namespace headlab
