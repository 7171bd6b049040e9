// CoNLL-U, the format of Universal Dependencies (universaldependencies.org/format.html): a word per
// line in ten columns separated by tabs (ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC), `_`
// for an empty field, an empty line after each sentence, `#` before comments. Multiword tokens (ID
// 3-4) and empty nodes (ID 5.1) are skipped: the words that they cover or join have lines of their
// own. Only the fields that the laboratory uses are kept.
// Read next: conllu.cc, the task.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/kernels/scalar.h"

namespace headlab {

struct TreebankWord {
  std::string form;
  std::string lemma = "_";
  std::string part = "_";      // UPOS
  std::string relation = "_";  // DEPREL, with its subtype: "nsubj:pass"
  std::int32_t head = -1;      // the word it depends on, from 0; -1: the root, or not given
};

struct TreebankSentence {
  std::vector<TreebankWord> words;
};

/// The sentences of a file, whose name `source` begins every message.
/// Errors, with the line: bytes that are not UTF-8; a word without ten columns; an ID out of order;
/// a HEAD that is no word of the sentence; heads that run in a circle; a sentence whose heads name
/// no root.
std::vector<TreebankSentence> parse_conllu(std::string_view bytes, std::string_view source);

/// The sentence in this format, with the empty line after it.
std::string conllu_text(const TreebankSentence& sentence);

}  // namespace headlab
