// Sentences of a toy grammar (grammar.h): determiners, verbs and pronouns agree with nouns, and the
// model must say their endings. The query is always the stem ("th", "find", "h"), the target its
// ending ("-a").
//   lm=masked: no ending is shown; an encoder reads     near th king , th drum of th hill find h .
//   lm=causal: each ending follows its stem, and is the next token that the decoder must predict
//     (but behind a determiner, whose noun is not there yet):   near th -a king , th -o drum ...
// Truth: `det`, `nsubj`, `antecedent`; where several tokens carry the class, any of them will do:
// in a decoder the subject is its noun or the ending of its determiner. `obj` (the pronoun's verb)
// and, at all other words, `previous`, `next`, `separator` and `rare` are known but not needed.
// Trap: heads share a relation, each for one kind of sentence: see EnglishTask.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct EnglishOptions {
  LanguageModel lm = LanguageModel::masked;
  Index length = 32;
  Index attractors = 3;
  Index adjectives = 2;
};
Settings settings_of(EnglishOptions& options);

/// Traps: the nearest noun is the subject in 25% of sentences (grammar.h); `obj` has a single
/// candidate, and one offset finds half of it: look at its lift, not at its mass. And heads divide
/// the sentences among them (one finds the subject where it comes first, the other behind a comma),
/// so that the best head has less of a relation than the best one at each query.
/// Five seeds, masked: accuracy .999 to 1.000; mass of the best head .88 to .95 (det), .64 to .78
/// (nsubj), .65 to .71 (antecedent), at each query .95 to .98, .84 to .99, .92 to .99. With
/// adjectives=0, where places tell the two kinds apart, .83 to 1.00 (nsubj) and .66 to 1.00
/// (antecedent).
class EnglishTask : public Task {
 public:
  using Options = EnglishOptions;
  /// Error: a length in which no sentence of the grammar fits.
  explicit EnglishTask(const EnglishOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  std::vector<std::string> target_names() const override { return {"ending"}; }
  Example make(Key key, Index count, Split split) const override;
  Batch make_batch(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  EnglishOptions options_;
};

}  // namespace headlab
