// Tasks for models that come from elsewhere: `tokens`, any file of tokens, and `repeated`, which
// needs no file.
//   tokens    windows of a file that nanoGPT (uint16), llm.c (uint16 after a header of 256 int32,
//   the
//             first of them 20240520) or NumPy (.npy of whole numbers) wrote; every position
//             predicts the token that follows. Making tokens of text is the work of a tokenizer,
//             elsewhere; its vocab.json gives the words, for showing.
//   repeated  other tokens | segment | the same segment, all of them uniform; a target where the
//             next token is determined. The segment's length varies, so that no offset answers.
// Truth: `previous`, the position before, an offset; `same`, where this token stood last;
// `induction`, the position after that, whose token followed last time. Read next: language.h;
// text.cc.
#include <algorithm>
#include <cstring>

#include "headlab/base/files.h"
#include "headlab/base/text.h"
#include "headlab/tasks/definition.h"
#include "results/npz.h"
#include "tasks/language.h"

namespace headlab {
namespace {

std::vector<Relation> relations_of_tokens() {
  return {{"previous", "the token before this one", true},
          {"same", "where this token stood last"},
          {"induction", "the token after the last occurrence of this one"}};
}

/// The truth at position t of which key is the last with the same token, or -1.
void add_truth(Sequence& s, Index t, Index key) {
  if (t > 0) s.add_gold(0, t, t - 1);
  if (key < 0) return;
  s.add_gold(1, t, key);
  s.add_gold(2, t, key + 1);
}

/// Numbers of two bytes each.
std::vector<std::int32_t> short_tokens(std::string_view bytes) {
  require(bytes.size() % 2 == 0, "its ", bytes.size(),
          " bytes are no tokens of 2 bytes each: it is truncated, or of another kind");
  const WholeNumbers numbers{.bytes = bytes, .width = 2};
  std::vector<std::int32_t> tokens(bytes.size() / 2);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<std::int32_t>(numbers[static_cast<Index>(i)]);
  return tokens;
}

std::vector<std::int32_t> npy_tokens(std::string_view bytes) {
  const WholeNumbers numbers = read_npy(bytes);
  std::vector<std::int32_t> tokens(numbers.count());
  for (Index i = 0; i < numbers.count(); ++i) {
    require(numbers[i] >= 0 && numbers[i] < 1 << 24, "it holds ", numbers[i], " at ", i,
            ", which is no token");
    tokens[i] = static_cast<std::int32_t>(numbers[i]);
  }
  return tokens;
}

std::vector<std::int32_t> llm_c_tokens(std::string_view bytes) {
  constexpr std::size_t kHeader = 256 * sizeof(std::int32_t);
  std::int32_t version = 0, count = 0;
  require(bytes.size() >= kHeader, "it is truncated");
  std::memcpy(&version, bytes.data() + 4, sizeof version);
  std::memcpy(&count, bytes.data() + 8, sizeof count);
  std::vector<std::int32_t> tokens = short_tokens(bytes.substr(kHeader));
  require(version == 1 && count == std::ssize(tokens), "its header says version ", version, " and ",
          count, " tokens, but it holds ", tokens.size());
  return tokens;
}

}  // namespace

std::vector<std::int32_t> tokens_in(std::string_view bytes) {
  std::int32_t magic = 0;
  if (bytes.size() >= 4) std::memcpy(&magic, bytes.data(), sizeof magic);
  if (magic == 20240520) return llm_c_tokens(bytes);
  return bytes.starts_with("\x93NUMPY") ? npy_tokens(bytes) : short_tokens(bytes);
}

namespace {

struct Tokens {
  std::string file, words;
  Index length = 256, vocab = 0;
  HeldOut held_out = {};

  std::string hash = {};
  std::vector<std::string> vocabulary = {};  // words, where they are known
  TokenRow row = {};

  void bind(Settings& s) {
    s.string("file", file, "tokens as uint16, as llm.c's .bin, or as .npy", "FILE");
    s.string("words", words, "{\"word\": token, ...}, the tokenizer's vocab.json, for showing",
             "FILE");
    s.integer("length", length, 2, 65536, "tokens in a sequence");
    s.integer("vocab", vocab, 0, 1 << 24, "number of tokens (0: as the file needs)");
    held_out.bind(s, "file's end");
  }
  void prepare() {
    require(!file.empty(), "name a file: tokens:file=train.bin");
    const std::array<std::string, 3> bytes = held_out.read(file);
    hash = held_out.hash(bytes);
    const std::array<std::string, 3> names = {file, held_out.validation, held_out.test};
    Index largest = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      row.parts[i] = in_context(names[i], [&] { return tokens_in(bytes[i]); });
      for (const std::int32_t token : row.parts[i]) largest = std::max<Index>(largest, token);
    }
    if (!words.empty()) read_words();
    if (vocab == 0) vocab = std::max(largest + 1, std::ssize(vocabulary));
    require(largest < vocab, file, " holds the token ", largest, ", but the vocabulary has ", vocab,
            " tokens: it was made with another one");
    require(std::ssize(vocabulary) <= vocab, words, " names ", vocabulary.size(),
            " tokens, but the vocabulary has ", vocab, ": it is another one");
    row.divide(held_out, length, file, "tokens");
  }
  void read_words() {
    const Json json = Json::parse(read_file(words), words);
    const bool is_tokenizer =
        json.is_object() && json.find("model") != nullptr && json.find("model")->is_object();
    if (is_tokenizer)
      throw Error(text(words, " is a whole tokenizer, not a list of words"),
                  "name the tokenizer's vocab.json, or its member model.vocab as a file");
    require(json.is_object(), words, ": expected {\"word\": token, ...}, got ", json.kind());
    for (const auto& [word, number] : json.members()) {
      require(number.is_number(), words, ": '", word, "' is ", number.kind(),
              ", but the number of a token was expected");
      const std::int64_t token = number.integer();
      require(token >= 0 && token < 1 << 24, words, ": '", word, "' has the number ", token);
      vocabulary.resize(std::max(vocabulary.size(), static_cast<std::size_t>(token) + 1));
      vocabulary[token] = word;
    }
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
    for (Index t = 0; t < length; ++t)
      add_truth(s, t, t >= second && t < length - 1 ? t - size : -1);
  }
};

}  // namespace

TaskEntry tokens_task() {
  return task_entry(Tokens{},
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
                     "the file holds tokens one after the other, as uint16, as llm.c's .bin or\n"
                     "as .npy; a sequence begins at a random position\n"});
}

TaskEntry repeated_task() {
  return task_entry(Repeated{}, {"repeated",
                                 "a random segment of tokens, twice",
                                 "layers=2 heads=2 d_model=64 d_ff=0 steps=2000 lr=2e-3",
                                 {.why = "it is for models that were trained elsewhere"}});
}

}  // namespace headlab
