// The grammar behind `english` and datasets/english.conllu: English words with six agreement
// classes, as in Bantu languages. Every noun belongs to a class (people -a, animals -e, plants -i,
// tools -o, places -u, vehicles -y); a determiner takes the ending of its noun, a verb that of its
// subject, a pronoun that of its antecedent: "near tha king , tho old drum of thu hill findo ha ."
//   sentence = [P NP ,] NP (P NP)^0-3 [adverb] verb [adverb] pronoun .    NP = determiner adj^0-2 N
// The subject is the noun without a preposition. The pronoun "s" means the subject, like "itself",
// and "h" the first other noun, here the king.
// Traps that this avoids: the noun nearest to the verb is its subject only where no attractor
// stands between, the subject is the first noun in only half of the sentences, and the pronoun
// often means another noun; otherwise one offset, or one relation, would answer everything.
// Read next: src/tasks/english.cc; src/tasks/sentence.h, a sentence.
#pragma once

#include <cstdint>
#include <string>

namespace headlab {

/// What datasets/english.conllu holds: a comment that says how it was made, and `count` sentences
/// drawn from the seed 0, with their dependency trees, in CoNLL-U.
std::string grammar_treebank(std::int64_t count);

}  // namespace headlab
