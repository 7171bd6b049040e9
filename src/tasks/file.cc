// A task from a file of lines (sequences.h) that anything can write: a script, awk, `headlab show
// TASK --write`. `held_out` and `test` are files of the same form, by which one chooses and which
// judge in the end; without them one file is split in three by a hash of each sequence, so that
// equal sequences stand on one side. Truth is what the lines say.
// Trap: a task of few sequences is learned by heart; look at the accuracy on held-out ones.
// Read next: sequences.h; headlab/tasks/definition.h.
#include <array>
#include <unordered_set>

#include "base/checksum.h"
#include "headlab/base/build.h"
#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/text.h"
#include "tasks/sequences.h"

namespace headlab {
namespace {

/// A hash of what the model reads of a sequence. Source of the numbers: fnv1a (digest.h), 64 bits.
std::uint64_t hash_of(const Sequences& all, Index i) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const auto list : {all.tokens[i], all.source[i]})
    for (const std::int32_t token : list)
      hash = (hash ^ static_cast<std::uint32_t>(token + 1)) * 0x100000001B3;
  return hash ^ (hash >> 32);
}

struct FromFile {
  std::string train = "datasets/definitions.jsonl", held_out, test;

  Header header = {};
  std::array<Sequences, 3> parts = {};  // by split
  std::string hash = {}, said = {};

  void bind(Settings& s) {
    s.string("train", train, "sequences, a line of JSON for each", "FILE");
    s.string("held_out", held_out, "such a file to choose by, not a tenth of `train`", "FILE");
    s.string("test", test, "such a file that judges in the end, not a tenth of `train`", "FILE");
  }
  /// Errors that name the file and the line.
  void prepare() {
    LineReader reader;
    const std::array<std::string, 3> names = {train, held_out, test};
    for (std::size_t i = 0; i < 3; ++i) {
      if (names[i].empty()) continue;
      const std::string bytes = read_file(shipped_file(names[i]));
      hash += fingerprint(bytes);
      parts[i] = reader.read_all(bytes, names[i]);
      require(parts[i].size() > 0, names[i], " holds no sequence");
    }
    hash = fingerprint(hash);
    reader.finish(std::array{&parts[0], &parts[1], &parts[2]});
    header = reader.header();
    tell_copies();
    if (held_out.empty() || test.empty()) divide();
  }
  /// What of the file is new, and what stands on two sides because two files hold it.
  void tell_copies() {
    std::unordered_set<std::uint64_t> met;
    Index copies = 0;
    for (Index i = 0; i < parts[0].size(); ++i) copies += !met.insert(hash_of(parts[0], i)).second;
    said = text(parts[0].size(), " sequences");
    if (copies > 0) said += text(", ", copies, " of them repeated");
    for (const auto& [part, name] : {std::pair(&parts[1], "held_out"), {&parts[2], "test"}}) {
      Index known = 0;
      for (Index i = 0; i < part->size(); ++i) known += met.contains(hash_of(*part, i));
      if (known > 0)
        said += text("; ", known, " of ", name, "'s ", part->size(), " are also in train");
    }
  }
  /// Where no file is given, a tenth of `train` is held out and another judges.
  void divide() {
    std::array<Sequences, 3> divided;
    for (Index i = 0; i < parts[0].size(); ++i) {
      const std::uint64_t share = hash_of(parts[0], i) % 10;
      const std::size_t split = share == 0 && held_out.empty() ? 1
                                : share == 1 && test.empty()   ? 2
                                                               : 0;
      divided[split].add(parts[0], i);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (parts[i].size() == 0 || i == 0) parts[i] = std::move(divided[i]);
      require(parts[i].size() > 0, train,
              " holds too few different sequences to be split in three: "
              "give more, or held_out=FILE and test=FILE");
    }
  }

  Index different(Split split) const { return parts[static_cast<std::size_t>(split)].size(); }
  std::string about_data() const {
    return text(header.description.empty() ? "" : header.description + "; ", said, "; ",
                parts[0].size(), " to learn from, ", parts[1].size(), " to choose by, ",
                parts[2].size(), " that judge");
  }
  TaskShape shape() const { return shape_of(header); }
  std::vector<Relation> relations() const { return header.relations; }
  std::vector<std::string> target_names() const { return header.targets; }
  Index needed_heads() const { return header.needed_heads; }
  std::string token_text(std::int32_t token) const { return header.vocabulary[token]; }
  std::string data_hash() const { return hash; }
  void write(Sequence& s) const { parts[static_cast<std::size_t>(s.split)].write(s.unit, s); }
};

/// What the header of the file recommends.
std::string advice_of(std::string_view parameters) {
  const FromFile task = with_parameters(FromFile{}, parameters);
  const std::string bytes = read_file(shipped_file(task.train));
  const Json first = Json::parse(std::string_view(bytes).substr(0, bytes.find('\n')), task.train);
  const Json* header = first.find("header");
  return header != nullptr ? Header::of(*header).recommended : "";
}

}  // namespace

TaskEntry file_task() {
  return task_entry(FromFile{}, {"file",
                                 "your own sequences and truth, from lines of JSON",
                                 "layers=2 heads=4 d_model=64 steps=2000 lr=1e-3",
                                 {.why = "what can be learned depends on the file"},
                                 {},
                                 {},
                                 {},
                                 advice_of});
}

}  // namespace headlab
