// Tasks for models that come from elsewhere: `tokens`, any file of tokens, and `repeated`, which
// needs no file.
//   tokens    windows of a file that nanoGPT, llm.c or NumPy wrote (token_file.h); every position
//             predicts the token that follows. A tokenizer makes tokens from text elsewhere; its
//             vocab.json gives the words, for showing.
//   repeated  other tokens | segment | the same segment, all of them uniform; a target where the
//             next token is determined. The segment's length varies, so that no offset answers.
// Truth: `previous`, the position before, an offset; `same`, the last occurrence of this token;
// `induction`, the position after that, whose token followed last time. Read next: token_file.h;
// text.cc.
#include <algorithm>

#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/core/tasks/definition.h"
#include "headlab/lab/data/data_files.h"
#include "lab/data/language.h"
#include "lab/data/token_file.h"

namespace headlab {
namespace {

std::vector<Relation> relations_of_tokens() {
  return {{"previous", "the token before this one", true},
          {"same", "the last occurrence of this token"},
          {"induction", "the token after the last occurrence of this one"}};
}

/// The truth at position t of which key is the last with the same token, or -1.
void add_truth(Sequence& s, Index t, Index key) {
  if (t > 0) s.add_truth(0, t, t - 1);
  if (key < 0) return;
  s.add_truth(1, t, key);
  s.add_truth(2, t, key + 1);
}

struct Tokens {
  std::string file, words;
  TokenType type = TokenType::automatic;
  Index length = 256, vocab = 0;
  HeldOut held_out = {};

  std::string hash = {};
  std::vector<std::string> vocabulary = {};  // words, where they are known
  TokenRow row = {};

  void bind(Settings& s) {
    s.string("file", file, "tokens as uint16 or uint32, as llm.c's .bin, or as .npy", "FILE");
    s.choice("type", type, {"auto", "uint16", "uint32"},
             "numbers of a file without a header (auto: uint16, unless it looks like another)");
    s.string("words", words, "{\"word\": token, ...}, the tokenizer's vocab.json, for showing",
             "FILE");
    s.integer("length", length, 2, 65536, "tokens in a sequence");
    s.integer("vocab", vocab, 0, 1 << 24, "number of tokens (0: as the file needs)");
    held_out.bind(s, "file's end");
  }
  void prepare() {
    require(!file.empty(), "it needs a file, such as tokens:file=train.bin");
    const std::array<std::string, 3> bytes = held_out.read(file);
    hash = held_out.hash(bytes);
    const std::array<std::string, 3> names = {file, held_out.validation, held_out.test};
    Index largest = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      row.parts[i] =
          in_context(text("cannot read ", names[i]), [&] { return tokens_in(bytes[i], type); });
      for (const std::int32_t token : row.parts[i]) largest = std::max<Index>(largest, token);
    }
    if (!words.empty()) {
      vocabulary = words_in(read_file(shipped_file(words)), words, std::max(largest + 1, vocab));
    }
    if (vocab == 0) vocab = std::max(largest + 1, std::ssize(vocabulary));
    require(largest < vocab, file, " holds the token ", largest, ", but the vocabulary has ", vocab,
            " tokens: it was made with another one");
    require(std::ssize(vocabulary) <= vocab, words, " names ", vocabulary.size(),
            " tokens, but the vocabulary has ", vocab, ": it is another one");
    row.divide(held_out, length, file, "tokens");
  }

  Index different(Split split) const { return row.windows(split, length); }
  std::string about_data() const { return row.about(length); }
  std::string data_hash() const { return hash; }
  TaskShape shape() const { return {Architecture::decoder, vocab, length}; }
  std::vector<Relation> relations() const { return relations_of_tokens(); }
  std::vector<std::string> target_names() const { return {"next"}; }
  std::string token_text(std::int32_t token) const {
    const bool known = token < std::ssize(vocabulary) && !vocabulary[token].empty();
    return known ? shown(vocabulary[token]) : text(token);
  }

  void write(Sequence& s) const {
    row.write(s);
    answer(s);
  }
  void answer(Sequence& s) const {
    for (Index t = 0; t < s.length(); ++t) add_truth(s, t, last_equal(s.tokens(), t));
  }
};

struct Repeated {
  Index length = 64, vocab = 64;

  void bind(Settings& s) {
    s.integer("length", length, 8, 65536, "tokens in a sequence");
    s.integer("vocab", vocab, 2, 1 << 24, "number of tokens");
  }
  TaskShape shape() const { return {Architecture::decoder, vocab, length}; }
  std::vector<Relation> relations() const { return relations_of_tokens(); }
  Index needed_heads() const { return 2; }  // one in each of two layers
  std::vector<std::string> target_names() const { return {"next"}; }
  std::string token_text(std::int32_t token) const { return text(token); }

  void write(Sequence& s) const {
    const Index size = s.random.between(length / 4, length / 2), second = length - size;
    fill_uniform(s.tokens(), vocab, s.random);
    for (Index t = second; t < length; ++t) {
      s.token(t) = s.token(t - size);
      if (t > second) s.target(t - 1) = s.token(t);
    }
    for (Index t = 0; t < length; ++t) {
      add_truth(s, t, t >= second && t < length - 1 ? t - size : -1);
    }
  }
};

}  // namespace

TaskEntry tokens_task() {
  TaskEntry entry =
      task_entry(Tokens{},
                 {"tokens",
                  "the next token of any file of tokens",
                  "layers=4 heads=4 d_model=128 d_ff=512 init=gpt2 steps=2000 batch=12 "
                  "lr=1e-3 min_lr=1e-4 warmup=100 schedule=cosine beta2=0.99 decay=0.1 "
                  "clip=1",
                  {.why = "what can be learned depends on the file"},
                  {},
                  {},
                  {},
                  {},
                  "the file holds tokens one after the other: numbers of 2 or 4 bytes without\n"
                  "a header (`type`), llm.c's .bin (GPT-2 or Llama 3), or .npy; a sequence\n"
                  "begins at a random position\n"});
  entry.endings = {".bin", ".npy"};
  return entry;
}

TaskEntry repeated_task() {
  return task_entry(Repeated{}, {"repeated",
                                 "a random segment of tokens, twice",
                                 "layers=2 heads=2 d_model=64 d_ff=0 steps=2000 lr=2e-3",
                                 {.why = "for models that were trained elsewhere"}});
}

}  // namespace headlab
