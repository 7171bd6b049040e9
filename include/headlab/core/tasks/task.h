// A task generates tokens and targets together with the ground truth: for each query position and
// each relation, the set of keys that a head must attend to. Claims about heads can therefore be
// tested. Most tasks are plain structs such as src/core/tasks/relations.cc, which a template turns
// into a Task (definition.h). Read next: table.h (all tasks), lab/heads/scores/scores.h (scores of
// heads against ground truth).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/base/random.h"
#include "headlab/core/model/batch.h"
#include "headlab/core/model/config.h"
#include "headlab/core/model/transformer.h"

namespace headlab {

/// A relation that a head may implement: the key positions that belong to a query position.
struct Relation {
  std::string name;         // "same": a column of every report
  std::string description;  // "the last earlier token of the same class"
  /// True if the position of the query alone decides the keys, as in "the token before". Such a
  /// relation is compared only with uniform attention (lab/heads/scores/scores.h).
  bool positional = false;
  AttentionKind kind = AttentionKind::self;  // attention layers whose heads may implement it
};

const char* kind_name(AttentionKind kind);
Json to_json(const Relation& relation);

/// The ground truth of one relation over a batch: the keys of some queries, each at position t of
/// sequence b. Other queries are not eligible: no score counts them.
class GroundTruth {
 public:
  /// Adds a query with its keys. Error unless there is a key, keys ascend, and queries come in
  /// ascending order of (b, t).
  void add(Index b, Index t, std::span<const std::int32_t> keys);
  void add(Index b, Index t, Index key);

  Index queries() const { return static_cast<Index>(at_.size()); }
  struct Query {
    Index b, t;
    std::span<const std::int32_t> keys;
  };
  Query query(Index i) const;
  /// Returns the keys of (b, t); empty if it is not eligible.
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

/// A batch with its ground truth: truth[r] and candidates[r] belong to relations()[r] of its task.
/// Candidates are the keys from which a naive reader would choose the nearest, such as all nouns of
/// the sentence; a head must beat that reader. If a task has no candidates, `candidates` is empty;
/// otherwise single relations may have no queries.
struct Example {
  Batch batch;
  std::vector<GroundTruth> truth;
  std::vector<GroundTruth> candidates{};
};

/// Data split: for learning, for choosing (steps, heads, the best parameters), and for the final
/// evaluation.
enum class Split { train, validation, test };

class Task {
 public:
  virtual ~Task() = default;

  /// Returns the name with all parameters, from which make_task creates the task again:
  /// "relations:length=16,vocab=16,...".
  virtual std::string spec() const = 0;
  virtual TaskShape shape() const = 0;
  virtual std::vector<Relation> relations() const = 0;
  /// Returns the number of heads that the task needs: with fewer the loss stays high, more do not
  /// help. 0: not known.
  virtual Index needed_heads() const { return 0; }
  /// Returns whether the task is a control, in which there is nothing for a head to find.
  virtual bool is_control() const { return false; }
  /// Returns a name for each of the K targets.
  virtual std::vector<std::string> target_names() const = 0;
  /// Generates `count` sequences with targets and ground truth. Sequence i depends on (key, split,
  /// i) only, so a larger batch begins with the same sequences. Training and validation never share
  /// a stream.
  virtual Example make(Key key, Index count, Split split) const = 0;
  /// Generates the batch of `make` without ground truth, for training or measuring a loss.
  virtual Batch make_batch(Key key, Index count, Split split) const;
  /// Returns the number of distinct sequences of the split, such as sentences or blocks of a file;
  /// 0: no limit. Held-out sequences repeat only after all of them have been used, and statistics
  /// count each once.
  virtual Index different(Split) const { return 0; }
  /// Returns a sentence or two about the data of the task; "" if there are none.
  virtual std::string about_data() const { return ""; }
  /// Returns a batch of one sequence with these tokens. Targets and ground truth are filled in if
  /// they follow from the tokens alone; otherwise there is no target and `truth` is empty. Error if
  /// there are no tokens.
  virtual Example example_of(std::span<const std::int32_t> tokens) const;
  virtual std::string token_text(std::int32_t token) const = 0;
  /// Returns an answer, the number of an output, as text. By default answers are tokens.
  virtual std::string answer_text(std::int32_t answer) const { return token_text(answer); }
  /// Converts a prompt to tokens. By default it holds tokens in the form of token_text, separated
  /// by spaces. Error for a token outside the vocabulary, unless <unk> is in it.
  virtual std::vector<std::int32_t> encode(std::string_view text) const;
  /// Converts tokens to text, the inverse of encode. By default token_text, separated by spaces.
  virtual std::string decode(std::span<const std::int32_t> tokens) const;
  /// Returns a fingerprint of the task's data file; "" if there is none.
  virtual std::string data_hash() const { return ""; }
};

}  // namespace headlab
