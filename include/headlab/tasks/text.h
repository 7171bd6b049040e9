// Characters of any UTF-8 file: predict the next one. The vocabulary is the set of the file's
// Unicode code points, sorted (a byte order mark at its beginning is dropped); the last share
// `validation` of the text is held out; each sequence is a random window of `length` characters of
// its split, and every position predicts the character that follows.
// Truth: only `previous` is known here, the position before, and it is an offset. What else heads
// find in a language nobody has labelled; that is what the other tasks are for.
// Trap: a small file is learned by heart, and the held-out loss rises again long before the
// training loss stops falling. Read next: src/tasks/text.cc.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct TextOptions {
  std::string file = "datasets/fables.txt";
  Index length = 64;
  double validation = 0.1;  // share of the characters, from the end
};
Settings settings_of(TextOptions& options);

class TextTask : public Task {
 public:
  using Options = TextOptions;
  /// Errors that name the file: it cannot be read, is not UTF-8 (with the position), or is too
  /// short for a window in each split.
  explicit TextTask(const TextOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  std::vector<std::string> target_names() const override { return {"next"}; }
  Example make(Key key, Index count, Split split) const override;
  /// The character; a visible escape for blanks, control characters and others that do not show.
  std::string token_text(std::int32_t token) const override;
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const std::int32_t> tokens) const override;
  /// FNV-1a, 64 bits, of the bytes of the file: 16 hexadecimal digits.
  std::string data_hash() const override { return hash_; }

 private:
  void check_length() const;

  TextOptions options_;
  std::string hash_;
  std::u32string vocabulary_;         // sorted
  std::vector<std::int32_t> tokens_;  // the whole file
  std::size_t training_ = 0;          // tokens before the split
};

}  // namespace headlab
