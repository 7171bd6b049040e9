// Sequences made by other programs: lines of JSON, one sequence each, from a file or the output of
// a program, as `headlab show file` explains (form_of_lines). A line has the form that headlab's
// own tasks write; tokens are texts or whole numbers. With "hidden": 0.15 in the header, that share
// of the targets is predicted, different ones each time, and replaced by <mask> in the input. Read
// next: file.cc and command.cc, the tasks; headlab/core/tasks/task.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headlab/core/base/json.h"
#include "headlab/core/tasks/definition.h"
#include "headlab/lab/data/lab_tasks.h"

namespace headlab {

inline constexpr std::int64_t kMostWords = 1 << 20, kLongest = 65536;

/// Properties of all sequences. Properties that a header omits are derived from the lines.
struct Header {
  std::string description = {};
  Architecture architecture = Architecture::decoder;
  std::vector<std::string> vocabulary = {};  // a text for each token
  std::vector<Relation> relations = {};
  std::vector<std::string> targets = {};  // names of the targets
  std::vector<std::string> answers = {};  // a text for each output; empty: outputs are tokens
  std::string recommended = {};           // "layers=1 heads=2 steps=500"
  double accuracy = 0;                    // expected of a trained model; 0: not known
  double hidden = 0;       // share of targets that are hidden and predicted; 0: all are predicted
  Index needed_heads = 0;  // 0: not known
  Index length = 0, source_length = 0;

  static Header of(const Json& json);
  friend Json to_json(const Header& header);
};

/// Many short lists of numbers, stored as one long one.
class Lists {
 public:
  void add(std::span<const std::int32_t> list);
  Index size() const { return std::ssize(begin_) - 1; }
  std::span<const std::int32_t> operator[](Index i) const {
    return std::span(values_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }
  std::vector<std::int32_t>& values() { return values_; }
  bool empty() const { return values_.empty(); }

 private:
  std::vector<std::int32_t> values_;
  std::vector<std::size_t> begin_{0};
};

/// Sequences in a few long arrays, so that a million of them stay small.
struct Sequences {
  Lists tokens, source;
  Lists targets;    // of each sequence: position, which target, answer; and so on
  Lists corrupted;  // of each sequence: as many tokens as in `tokens`, or none
  Lists against;    // of each sequence: another answer for some targets, in the form of `targets`
  std::vector<Lists> truth, candidates;  // by relation: query, number of keys, keys; and so on
  std::vector<std::int32_t> places;      // line in the file, from 1, or index in its arrays, from 0

  Index size() const { return tokens.size(); }
  /// Adds sequence i of another.
  void add(const Sequences& from, Index i);
  /// Writes sequence i into a batch.
  void write(Index i, Sequence& into) const;
};

/// Reader of lines. Words become tokens in order of appearance, unless the header names them.
class LineReader {
 public:
  LineReader() = default;
  explicit LineReader(Header header);
  /// Reads all sequences for a model of this architecture. Error in `read` for a header that names
  /// another one.
  void read_for(Architecture architecture);

  const Header& header() const { return header_; }
  /// Adds the sequence of a line, or applies a header, which must come first. Error with the
  /// expected form; then nothing is added.
  void read(const Json& line, Sequences& into);
  /// Reads all lines of a text, or the arrays of a `source` NAME.npz. An error names `source` and
  /// the line; with `faults` each is kept there and reading goes on.
  Sequences read_all(std::string_view lines, const std::string& source,
                     std::vector<std::string>* faults = nullptr);
  /// Call this after the last line: if all tokens were whole numbers, they are their own ids.
  void finish(std::span<Sequences* const> all);
  /// Returns how many queries with ground truth have no target.
  Index unasked() const { return unasked_; }

 private:
  struct Line;
  Sequences read_arrays(std::string_view bytes, const std::string& source,
                        std::vector<std::string>* faults);
  std::int32_t token_of(const Json& word);
  std::int32_t answer_of(const Json& word);
  std::vector<std::int32_t> tokens_of(const Json& words, const char* what);
  /// Returns position, target index, answer; and so on. Error, which names the key `what`, for
  /// more than `most` answers at a position.
  std::vector<std::int32_t> targets_of(const Json& targets, const char* what, std::size_t most,
                                       Index length);
  std::vector<std::int32_t> corrupted_of(const Json& words, std::span<const std::int32_t> tokens);
  std::vector<std::int32_t> against_of(const Json& answers, std::span<const std::int32_t> targets,
                                       Index length);
  /// Adds the `corrupted` tokens and the answers `against` of a line to its sequence.
  void read_prompt(const Json& line, Sequences& one);
  std::size_t relation_of(const std::string& name);
  std::vector<std::int32_t> truth_of(const Json& queries, const Relation& relation,
                                     const Line& line);
  std::map<std::size_t, std::vector<std::int32_t>> truth_of_all(const Json& truth,
                                                                const Line& line);
  void read_header(const Json& header);
  Line read_tokens(const Json& json);
  /// Returns how many queries of the ground truth have no target on their line.
  static Index unasked_queries(const std::vector<Lists>& truth, const Line& line);

  Header header_;
  Json given_;                                // the header as given
  std::optional<Architecture> architecture_;  // that read_for named
  bool fixed_words_ = false, fixed_relations_ = false, began_ = false;
  bool numbers_ = true;  // all tokens so far were whole numbers
  std::unordered_map<std::string, std::int32_t> known_;
  Index unasked_ = 0;
};

/// Error message for lines without any target.
inline constexpr const char* kAsksNothing = " asks for nothing: no sequence in it has a target";
/// Reads something at a place; with `faults` an error is kept there.
void read_part(const std::string& place, std::vector<std::string>* faults,
               const std::function<void()>& read);

/// Returns the header that arrays (NAME.npz) have as a text; null if there is none.
Json header_of_arrays(std::string_view bytes);
/// Returns the header of lines or, of a `source` NAME.npz, of arrays; null if there is none. Error
/// that names `source` and the line.
Json header_of_lines(std::string_view lines, const std::string& source);
/// Returns whether a line contains only spaces; ignores a byte order mark before them.
bool is_blank_line(std::string_view line);

/// Returns all keys that a header may have, in the order of help.
std::vector<std::string> header_keys();

/// Returns a description of a line and a header, for help.
std::string form_of_lines();
/// Returns a description of `corrupted` and `against`, which only lines of a file may have.
std::string form_of_prompts();

/// Return the header of a task, and a line for sequence b of one of its examples: the input of
/// LineReader.
Header header_of(const Task& task);
std::string line_of(const Header& header, const Example& example, Index b,
                    const FilePrompts& prompts = {});

TaskShape shape_of(const Header& header);

/// Returns "decoder", "encoder" or "encoder_decoder", and the reverse, with an error for another
/// name.
const std::string& architecture_name(Architecture architecture);
Architecture architecture_named(const std::string& name);

/// Returns the texts of outputs: the header's answers, or its vocabulary.
const std::vector<std::string>& answers_of(const Header& header);

/// Returns the header of a task `file` or `command`; nullptr for other tasks.
const Header* header_in_file(const Task& task);
const Header* header_of_command(const Task& task);

/// Returns the maximum number of milliseconds without output of a program of the task `command`.
int& command_patience();

/// Base of the definitions (definition.h) of tasks whose sequences are made elsewhere.
struct FromElsewhere {
  Header header = {};

  TaskShape shape() const { return shape_of(header); }
  std::vector<Relation> relations() const { return header.relations; }
  std::vector<std::string> target_names() const { return header.targets; }
  Index needed_heads() const { return header.needed_heads; }
  std::string token_text(std::int32_t token) const { return header.vocabulary[token]; }
  std::string answer_text(std::int32_t answer) const { return answers_of(header)[answer]; }
  /// Returns the header's description for a reader, before `rest`.
  std::string about_data(const std::string& rest) const;
  /// Throws an Error if words are to be hidden and there is no mask.
  void check_header() const;
  /// Writes sequence i and hides of it what the header says.
  void write(const Sequences& from, Index i, Sequence& into) const;

 private:
  std::int32_t mask() const;
};

}  // namespace headlab
