// The flagship. Tokens are uniform in the vocabulary; the class of a token is its number modulo
// `classes`. Every position predicts one token for each relation, with one softmax each: the token
// k back, the last earlier token of the same class, or (in an encoder) the next token. A query
// without such a key has no target in that slot.
// Truth: the key is that position, and the target is the token there. A query must read several
// keys at once, so heads are forced apart: with H = K heads each relation gets one.
// Trap: where "same" meets another relation's key, another head already holds the answer and the
// head of "same" looks elsewhere (mass .8 over all queries, .96 over the others): see scores.h.
// Five seeds: loss .0003 to .0004, four distinct owners of mass .76 to .99; the encoder of
// next+1+same with three heads (d_head=21) likewise.
// Read next: src/tasks/relations.cc.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct RelationsOptions {
  Index length = 16;
  Index vocab = 16;
  Index classes = 4;
  std::string relations = "1+3+5+same";  // a number k (the token k back), same, next
};
Settings settings_of(RelationsOptions& options);

struct RelationKind;  // a row of the table of kinds

class RelationsTask : public Task {
 public:
  using Options = RelationsOptions;
  /// Errors: an unknown relation, or one named twice, or one that no sequence has room for; more
  /// classes than tokens.
  explicit RelationsTask(const RelationsOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  Index needed_heads() const override { return std::ssize(asked_); }
  std::vector<std::string> target_names() const override;
  Example make(Key key, Index count, Split split) const override;
  Batch make_batch(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  struct Asked {
    const RelationKind* kind;
    Index k;  // how far back; 0 where the kind takes no number
  };
  Asked parse(const std::string& word) const;
  /// Calls use(r, t, at) for each relation r and position t that has a key, at position `at`.
  template <class Use>
  void each_key(std::span<const std::int32_t> tokens, const Use& use) const;

  RelationsOptions options_;
  std::vector<Asked> asked_;
};

}  // namespace headlab
