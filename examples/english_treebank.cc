// The treebank of the toy grammar: prints sentences with their dependency trees, in CoNLL-U.
// datasets/english.conllu is what this prints for 1200; here the default shows one. (Below, `...`
// stands for a tab, or for more than one.) Read next: include/headlab/tasks/grammar.h.
#include <cstdio>
#include <cstdlib>

#include "headlab/tasks/grammar.h"

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1;
  std::fputs(headlab::grammar_treebank(count).c_str(), stdout);
}
// prints:
// # 1 sentences of headlab's toy grammar, from its seed 0: see include/headlab/tasks/grammar.h
// # made by examples/english_treebank.cc: example_english_treebank 1 > english.conllu
// 1...near...near...ADP..._..._...3...case..._..._
// 2...tho...th...DET..._..._...3...det..._..._
// 3...needle...needle...NOUN..._..._...20...obl..._..._
// 4...,...,...PUNCT..._..._...20...punct..._..._
// 5...somu...som...DET..._..._...6...det..._..._
// 6...tower...tower...NOUN..._..._...20...nsubj..._..._
// 7...of...of...ADP..._..._...11...case..._..._
// 8...soma...som...DET..._..._...11...det..._..._
// 9...heavy...heavy...ADJ..._..._...11...amod..._..._
// 10...small...small...ADJ..._..._...11...amod..._..._
// 11...baker...baker...NOUN..._..._...6...nmod..._..._
// 12...with...with...ADP..._..._...14...case..._..._
// 13...tho...th...DET..._..._...14...det..._..._
// 14...rope...rope...NOUN..._..._...6...nmod..._..._
// 15...near...near...ADP..._..._...19...case..._..._
// 16...somi...som...DET..._..._...19...det..._..._
// 17...crooked...crooked...ADJ..._..._...19...amod..._..._
// 18...heavy...heavy...ADJ..._..._...19...amod..._..._
// 19...clover...clover...NOUN..._..._...6...nmod..._..._
// 20...defendu...defend...VERB..._..._...0...root..._..._
// 21...now...now...ADV..._..._...20...advmod..._..._
// 22...ho...h...PRON..._..._...20...obj..._..._
// 23...PUNCT..._..._...20...punct..._..._
//
