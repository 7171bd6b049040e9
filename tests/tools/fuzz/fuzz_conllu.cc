// CoNLL-U: every head of what is accepted is a word of its sentence, and the sentence can be
// written and read again as the same one.
#include <string>

#include "tasks/conllu_file.h"
#include "tools/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlab;
  return answered(data, size, [](std::string_view bytes) {
    for (const TreebankSentence& sentence : parse_conllu(bytes, "fuzz")) {
      const auto words = static_cast<std::int32_t>(sentence.words.size());
      for (const TreebankWord& word : sentence.words) must(word.head >= -1 && word.head < words);
      must(words > 0);
      const std::string written = conllu_text(sentence);
      const auto again = parse_conllu(written, "again");
      must(again.size() == 1 && conllu_text(again[0]) == written);
    }
  });
}
