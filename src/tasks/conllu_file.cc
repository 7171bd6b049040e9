// The reader goes line by line and checks each tree when its sentence ends; following the heads
// marks every word once, so that no file takes longer than its size. Errors name the line where
// the mistake stands. Read next: conllu.cc.
#include "tasks/conllu_file.h"

#include <algorithm>
#include <charconv>

#include "headlab/base/error.h"
#include "headlab/base/text.h"
#include "tasks/language.h"

namespace headlab {
namespace {

constexpr std::size_t kColumns = 10;
using Columns = std::vector<std::string_view>;
enum Column { kId, kForm, kLemma, kPart, kHead = 6, kRelation };

/// The value of a whole number that is not negative; -1 for any other text.
std::int32_t number_of(std::string_view digits) {
  std::int32_t value = -1;
  const char* end = digits.data() + digits.size();
  const auto [rest, problem] = std::from_chars(digits.data(), end, value);
  return problem == std::errc() && rest == end && value >= 0 && digits[0] != '-' ? value : -1;
}

class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  void add_line(std::string_view line) {
    ++line_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty())
      end_sentence();
    else if (line[0] != '#')
      add_word(columns_of(line));
  }

  std::vector<TreebankSentence> finish() {
    end_sentence();
    return std::move(sentences_);
  }

 private:
  [[noreturn]] void fail(Index line, const std::string& what, const char* hint) const {
    throw Error(text(source_, ":", line, ": ", what), hint);
  }

  Columns columns_of(std::string_view line) const {
    Columns columns = split(line, '\t');
    if (columns.size() != kColumns) {
      fail(line_, text("a word has 10 columns, separated by tabs; this line has ", columns.size()),
           "write _ for a column with nothing to say, and tabs, not blanks, between columns");
    }
    return columns;
  }

  void add_word(const Columns& columns) {
    const std::string_view id = columns[kId];
    const std::size_t mark = id.find_first_of("-.");
    if (mark != id.npos && number_of(id.substr(0, mark)) >= 0 &&
        number_of(id.substr(mark + 1)) >= 0)
      return;  // a multiword token or an empty node
    const auto expected = static_cast<std::int32_t>(words_.size()) + 1;
    if (number_of(id) != expected) {
      fail(line_, text("the ID should be ", expected, ", got '", id, "'"),
           "number the words of a sentence 1, 2, 3 ..., with an empty line between sentences");
    }
    if (columns[kForm].empty())
      fail(line_, "the word has no FORM", "write the word, or _, in the second column");
    const std::int32_t head = number_of(columns[kHead]);
    if (head < 0 && columns[kHead] != "_") {
      fail(line_, text("HEAD must be a number or _, got '", columns[kHead], "'"),
           "give the ID of the word that this one depends on; 0 for the root");
    }
    rooted_ = rooted_ || head == 0;
    headed_ = headed_ || head >= 0;
    words_.push_back({std::string(columns[kForm]), std::string(columns[kLemma]),
                      std::string(columns[kPart]), std::string(columns[kRelation]),
                      std::max(head, 0) - 1});
    lines_.push_back(line_);
  }

  void end_sentence() {
    if (!words_.empty()) {
      check_tree();
      sentences_.push_back({std::move(words_)});
    }
    words_.clear();
    lines_.clear();
    rooted_ = headed_ = false;
  }

  void check_tree() const {
    const auto count = static_cast<std::int32_t>(words_.size());
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i].head >= count) {
        fail(lines_[i],
             text("HEAD is ", words_[i].head + 1, ", but the sentence has ", count,
                  count == 1 ? " word" : " words"),
             "give the ID of a word of the same sentence, or 0 for the root");
      }
    }
    if (headed_ && !rooted_) {
      fail(lines_[0], "the sentence that begins here has no root",
           "one word of a sentence, mostly its verb, has HEAD 0");
    }
    // Each walk follows the heads until it meets a word that an earlier walk has seen.
    std::vector<std::size_t> walk_of(words_.size());
    for (std::size_t start = 0; start < words_.size(); ++start) {
      auto at = static_cast<std::int32_t>(start);
      while (at >= 0 && walk_of[at] == 0) {
        walk_of[at] = start + 1;
        at = words_[at].head;
      }
      if (at >= 0 && walk_of[at] == start + 1) {
        fail(lines_[at], text("the heads of word ", at + 1, " run in a circle"),
             "a tree is needed: following HEAD from any word must end at the root");
      }
    }
  }

  std::string_view source_;
  std::vector<TreebankSentence> sentences_;
  std::vector<TreebankWord> words_;  // of the sentence that is being read
  std::vector<Index> lines_;         // the line of each
  bool rooted_ = false;              // one of them has HEAD 0
  bool headed_ = false;              // one of them has a HEAD at all
  Index line_ = 0;
};

}  // namespace

std::vector<TreebankSentence> parse_conllu(std::string_view bytes, std::string_view source) {
  require_utf8(bytes, source);
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);  // a byte order mark
  Reader reader(source);
  for (const std::string_view line : split(bytes, '\n')) reader.add_line(line);
  return reader.finish();
}

std::string conllu_text(const TreebankSentence& sentence) {
  std::string out;
  for (std::size_t i = 0; i < sentence.words.size(); ++i) {
    const TreebankWord& word = sentence.words[i];
    out += text(i + 1, "\t", word.form, "\t", word.lemma, "\t", word.part, "\t_\t_\t",
                word.head + 1, "\t", word.relation, "\t_\t_\n");
  }
  return out + "\n";
}

}  // namespace headlab
