// The words that `headlab explain WORD` knows, and the answer to such a question. Used by
// explain.cc, which also explains attention on examples. Read next: words.cc, and the
// glossary in src/app/report/page/lessons/lessons.html.
#pragma once

#include <string>
#include <vector>

#include "app/cli/commands.h"

namespace headlab::cli {

using Words = std::vector<std::string>;

/// Returns whether `word` has a meaning. Capitals, hyphens and the plural make no difference.
bool is_explained(const std::string& word);

/// Returns all meanings of the words, in order; several words may make one term ("layer norm").
/// Errors: a word that is unknown, or that is one of `lessons`.
Output explain_words(const Words& words, const Words& lessons);

}  // namespace headlab::cli
