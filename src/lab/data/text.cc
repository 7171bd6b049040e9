// Characters of any UTF-8 file: predict the next one. The vocabulary is the set of the file's
// Unicode code points, sorted (a byte order mark at its beginning is dropped); the last share
// `validation` of the text is held out, half for validation and half for test; a training sequence
// is a random window of `length` characters, a held-out one a block of that length, no two of which
// overlap; every position predicts the character that follows. Ground truth: only `previous`, the
// position before. Other relations of a natural language are not labelled; use the other tasks for
// those. Pitfall: a model overfits a small file: the held-out loss rises again long before the
// training loss stops falling. Read next: language.h; headlab/core/tasks/definition.h.
#include <algorithm>
#include <map>

#include "headlab/core/base/text.h"
#include "headlab/core/tasks/definition.h"
#include "lab/data/language.h"

namespace headlab {
namespace {

struct Characters {
  std::string file = "datasets/fables.txt";
  Index length = 64;
  HeldOut held_out = {};

  std::string hash = {};           // of the files
  std::u32string vocabulary = {};  // sorted
  TokenRow row = {};

  void bind(Settings& s) {
    s.string("file", file, "any text in UTF-8");
    s.integer("length", length, 1, 65536, "characters in a sequence");
    held_out.bind(s, "text's end");
  }
  /// Errors name the file: it cannot be read, is not UTF-8 (with the position), or is too short for
  /// a window in each split.
  void prepare() {
    const std::array<std::string, 3> bytes = held_out.read(file);
    hash = held_out.hash(bytes);
    const std::array<std::string, 3> names = {file, held_out.validation, held_out.test};
    std::array<std::u32string, 3> points;
    for (std::size_t i = 0; i < 3; ++i) {
      points[i] = code_points(bytes[i], names[i]);
      if (!points[i].empty() && points[i].front() == 0xFEFF) points[i].erase(points[i].begin());
      vocabulary += points[i];
    }
    std::ranges::sort(vocabulary);
    vocabulary.erase(std::unique(vocabulary.begin(), vocabulary.end()), vocabulary.end());
    for (std::size_t i = 0; i < 3; ++i) {
      for (const char32_t point : points[i]) row.parts[i].push_back(token_of(point));
    }
    row.divide(held_out, length, file, "characters");
  }
  /// Returns the token of a code point; -1 if it does not occur in the file.
  std::int32_t token_of(char32_t point) const {
    const auto found = std::ranges::lower_bound(vocabulary, point);
    const bool known = found != vocabulary.end() && *found == point;
    return known ? id(found - vocabulary.begin()) : -1;
  }

  /// Returns the characters that were meant: those that `shown` prints for a space, a newline, a
  /// tab and a carriage return become these again, unless the signs themselves occur in the file.
  std::u32string typed_points(std::u32string_view typed) const {
    constexpr char32_t kOpenBox = U'\u2423';
    const bool reads_box = token_of(kOpenBox) < 0;
    const bool reads_escapes = token_of(U'\\') < 0;
    const std::map<char32_t, char32_t> escapes = {{U'n', U'\n'}, {U't', U'\t'}, {U'r', U'\r'}};
    std::u32string points;
    for (std::size_t i = 0; i < typed.size(); ++i) {
      const bool may_escape = reads_escapes && typed[i] == U'\\' && i + 1 < typed.size();
      const auto escape = may_escape ? escapes.find(typed[i + 1]) : escapes.end();
      if (escape != escapes.end()) {
        points += escape->second;
        ++i;
        continue;
      }
      points += reads_box && typed[i] == kOpenBox ? U' ' : typed[i];
    }
    return points;
  }

  Index different(Split split) const { return row.windows(split, length); }
  std::string about_data() const {
    return text(vocabulary.size(), " different characters; ", row.about(length));
  }
  TaskShape shape() const { return {Architecture::decoder, std::ssize(vocabulary), length}; }
  std::vector<Relation> relations() const {
    return {{"previous", "the character before this one", true}};
  }
  std::vector<std::string> target_names() const { return {"next"}; }
  std::string data_hash() const { return hash; }
  std::string token_text(std::int32_t token) const { return shown(vocabulary[token]); }
  std::vector<std::int32_t> encode(std::string_view prompt) const {
    std::vector<std::int32_t> read;
    for (const char32_t point : typed_points(code_points(prompt, "the prompt"))) {
      read.push_back(token_of(point));
      if (read.back() < 0) {
        throw Error(text("cannot read the prompt: the character '", shown(point), "' (U+",
                         hexadecimal(point, 4), ") does not occur in ", file),
                    "use characters of that text only");
      }
    }
    return read;
  }
  std::string decode(std::span<const std::int32_t> read) const {
    std::string out;
    for (const std::int32_t token : read) append_utf8(out, vocabulary[token]);
    return out;
  }

  void write(Sequence& s) const {
    row.write(s);
    answer(s);
  }
  void answer(Sequence& s) const {
    for (Index t = 1; t < s.length(); ++t) s.add_truth(0, t, t - 1);
  }
};

}  // namespace

TaskEntry text_task() {
  TaskEntry entry =
      task_entry(Characters{},
                 {"text",
                  "the next character of any UTF-8 text",
                  "layers=4 heads=4 d_model=128 d_ff=512 init=gpt2 steps=2000 batch=12 lr=1e-3 "
                  "min_lr=1e-4 warmup=100 schedule=cosine beta2=0.99 decay=0.1 clip=1",
                  {.why = "what can be learned depends on the text"}});
  entry.endings = {".txt"};
  return entry;
}

}  // namespace headlab
