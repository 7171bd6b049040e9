// A task makes tokens and targets, and it knows the truth: for each query position and each
// relation, the set of keys that a head would have to look at. That makes claims about heads
// testable. Read src/core/tasks/relations.cc beside this: most tasks are such plain structs, from
// which one template makes the rest (definition.h). Read next: table.h (all tasks), heads/scores.h
// (how heads are scored against gold).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/random.h"
#include "headlab/model/batch.h"
#include "headlab/model/config.h"
#include "headlab/model/transformer.h"

namespace headlab {

/// Something that a head may find: which key positions belong to a query position.
struct Relation {
  std::string name;         // "same": a column of every report
  std::string description;  // "the last earlier token of the same class"
  /// Whether the position of the query decides the keys, whatever the tokens are ("the token
  /// before"). Such a relation is compared with uniform attention alone (heads/scores.h).
  bool positional = false;
  AttentionKind kind = AttentionKind::self;  // the modules whose heads may find it
};

/// "self", "encoder" or "cross".
const char* kind_name(AttentionKind kind);
Json to_json(const Relation& relation);

/// The gold of one relation over a batch: for some queries, position t of sequence b, their keys.
/// Queries that are not here are not eligible: no score counts them.
class Gold {
 public:
  /// Adds a query with its keys. Error unless the keys ascend and there is one, and queries come in
  /// ascending order of (b, t).
  void add(Index b, Index t, std::span<const std::int32_t> keys);
  void add(Index b, Index t, Index key);

  Index queries() const { return static_cast<Index>(at_.size()); }
  struct Query {
    Index b, t;
    std::span<const std::int32_t> keys;
  };
  Query query(Index i) const;
  /// The keys of (b, t); empty if it is not eligible.
  std::span<const std::int32_t> keys(Index b, Index t) const;

 private:
  struct Place {
    Index b, t;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  std::vector<Place> at_;
  std::vector<std::size_t> begin_{0};
  std::vector<std::int32_t> keys_;
};

/// A batch with its truth: gold[r] and candidates[r] belong to relations()[r] of its task.
/// Candidates are the keys among which a naive reader would choose the nearest (all nouns of the
/// sentence, say): a head is worth its name only if it beats that reader. A task that names none
/// leaves `candidates` empty; one that does may leave single relations without queries.
struct Example {
  Batch batch;
  std::vector<Gold> gold;
  std::vector<Gold> candidates{};
};

/// What a model learns from, what one chooses by (steps, heads, the best parameters), and what
/// judges it in the end.
enum class Split { train, validation, test };

class Task {
 public:
  virtual ~Task() = default;

  /// Its name with all parameters, from which make_task makes it again:
  /// "relations:length=16,vocab=16,...".
  virtual std::string spec() const = 0;
  virtual TaskShape shape() const = 0;
  virtual std::vector<Relation> relations() const = 0;
  /// The number of heads that the task needs: with fewer its loss stays high, more gain nothing. 0:
  /// not known.
  virtual Index needed_heads() const { return 0; }
  /// Whether the task is a control, in which no head has anything to find.
  virtual bool is_control() const { return false; }
  /// A name for each of the K targets.
  virtual std::vector<std::string> target_names() const = 0;
  /// `count` sequences with targets and gold. Sequence i depends on (key, split, i) alone, so a
  /// larger batch begins with the same sequences, and training and validation never share a stream.
  virtual Example make(Key key, Index count, Split split) const = 0;
  /// The batch of make without its truth, for those who only train or measure a loss.
  virtual Batch make_batch(Key key, Index count, Split split) const;
  /// How many different sequences this split has: the sentences or blocks of a file; 0: no limit.
  /// Held-out sequences repeat only after all of them have come, and statistics take each once.
  virtual Index different(Split) const { return 0; }
  /// What a reader should know of the data behind the task, in a sentence or two; "" if there are
  /// none.
  virtual std::string about_data() const { return ""; }
  /// A batch of one sequence, these tokens. Targets and gold are filled in by tasks in which they
  /// follow from the tokens alone; in others there is no target and `gold` is empty. Error for no
  /// tokens.
  virtual Example example_of(std::span<const std::int32_t> tokens) const;
  /// How a token is shown.
  virtual std::string token_text(std::int32_t token) const = 0;
  /// How an answer, the number of an output, is shown. By default answers are tokens.
  virtual std::string answer_text(std::int32_t answer) const { return token_text(answer); }
  /// The tokens of a prompt. By default it is read as tokens in the form of token_text, separated
  /// by spaces. Error for one that is not in the vocabulary, unless <unk> is.
  virtual std::vector<std::int32_t> encode(std::string_view text) const;
  /// The text of tokens, the inverse of encode. By default token_text, separated by spaces.
  virtual std::string decode(std::span<const std::int32_t> tokens) const;
  /// A fingerprint of the data file behind the task; "" where there is none.
  virtual std::string data_hash() const { return ""; }
};

}  // namespace headlab
