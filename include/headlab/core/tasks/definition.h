// The definition of a task: a plain struct. Its members are the parameters with their defaults. Its
// functions define the task:
//   void bind(Settings& s);                                names, ranges and help of parameters
//   TaskShape shape() const;                               these three as in Task
//   std::vector<Relation> relations() const;
//   std::vector<std::string> target_names() const;
//   void write(Sequence& s) const;                         tokens, targets and ground truth
// Optional: void prepare(), called once the parameters are set, throws an Error if they do not fit
// together; void answer(Sequence& s), adds targets and ground truth that follow from the tokens
// alone, for tokens given by a user; `different` and Sequence::unit, for finite data; and
// needed_heads, is_control, token_text, answer_text, encode, decode, data_hash, about_data as in
// Task. task_entry makes a row. Read next: src/lab/data/duplicate.cc; examples/own_task.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlab/core/base/error.h"
#include "headlab/core/base/settings.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/tasks/task.h"

namespace headlab {

/// Converts a position or a count to a token or a ground-truth key.
constexpr std::int32_t id(Index i) { return static_cast<std::int32_t>(i); }

/// One sequence of a batch, to be written by a definition. Initially its tokens are 0 and no
/// position has a target. Draw only from `random`, the sequence's own stream, so that no sequence
/// depends on another.
struct Sequence {
  Example& example;
  Index b;  // its index in the batch
  Split split;
  Generator random;
  Index unit;       // index of the sentence or block, if the definition states their number
  bool with_truth;  // whether ground truth is requested; if not, add_truth and add_candidates do
                    // nothing

  Index length() const { return example.batch.length; }
  std::int32_t& token(Index t) { return example.batch.token(b, t); }
  std::span<Scalar> vector(Index t) { return example.batch.vector(b, t); }
  std::int32_t& target(Index t, Index k = 0) { return example.batch.target(b, t, k); }
  /// Returns all tokens, padding included.
  std::span<std::int32_t> tokens() {
    return std::span(example.batch.tokens).subspan(b * length()).first(length());
  }
  /// Turns all tokens after the first n into padding. A task calls it for every sequence or for
  /// none.
  void pad_behind(Index n) { example.batch.lengths.push_back(id(n)); }

  /// Adds the ground-truth keys, one or several, of relation r for the query at position t. Errors:
  /// those of GroundTruth::add; call it with ascending t.
  template <class Keys>
  void add_truth(std::size_t r, Index t, const Keys& keys) {
    if (with_truth) example.truth[r].add(b, t, keys);
  }
  /// Adds the keys from which a naive reader would choose; see Example.
  void add_candidates(std::size_t r, Index t, std::span<const std::int32_t> keys) {
    if (!with_truth) return;
    example.candidates.resize(example.truth.size());
    example.candidates[r].add(b, t, keys);
  }
};

/// Returns which of n units each of `count` held-out sequences uses: all of them in random order,
/// then all of them again in another order.
std::vector<Index> units_in_turn(Index n, Index count, Key key);

void fill_uniform(std::span<std::int32_t> tokens, Index vocab, Generator& random);

/// Returns a permutation of 0 ... n - 1. Its first `count` <= n numbers are drawn without
/// replacement; the other numbers follow.
std::vector<std::int32_t> draw_distinct(Index n, Index count, Generator& random);

/// Returns the positions in `tokens` that hold `token`, ascending.
std::vector<std::int32_t> find_token(std::int32_t token, std::span<const std::int32_t> tokens);

/// Returns the class of each token: its number modulo `classes`.
std::vector<std::int32_t> classes_of(std::span<const std::int32_t> tokens, Index classes);

/// Returns the last position before t with the same value as t; -1 if there is none.
inline Index last_equal(std::span<const std::int32_t> values, Index t) {
  const std::int32_t wanted = values[t];
  Index key = t - 1;
  while (key >= 0 && values[key] != wanted) --key;
  return key;
}

/// Returns a token as a letter: a ... z, A ... Z, then #52, #53 ...
std::string letter_text(Index token);

/// The task of a definition. If the definition has one of the optional functions (`requires`), it
/// is called; otherwise the default of Task applies. Tokens are shown as letters by default.
template <class Definition>
class TaskOf final : public Task {
 public:
  TaskOf(std::string spec, Definition definition)
      : spec_(std::move(spec)), definition_(std::move(definition)) {
    if constexpr (requires { definition_.prepare(); }) definition_.prepare();
  }

  const Definition& definition() const { return definition_; }
  std::string spec() const override { return spec_; }
  TaskShape shape() const override { return definition_.shape(); }
  std::vector<Relation> relations() const override { return definition_.relations(); }
  std::vector<std::string> target_names() const override { return definition_.target_names(); }
  Index needed_heads() const override {
    if constexpr (requires { definition_.needed_heads(); }) return definition_.needed_heads();
    return Task::needed_heads();
  }
  bool is_control() const override {
    if constexpr (requires { definition_.is_control(); }) return definition_.is_control();
    return Task::is_control();
  }
  Example make(Key key, Index count, Split split) const override {
    return write(key, count, split, true);
  }
  Batch make_batch(Key key, Index count, Split split) const override {
    return write(key, count, split, false).batch;
  }
  Example example_of(std::span<const std::int32_t> tokens) const override {
    Example example = Task::example_of(tokens);
    if constexpr (requires(Sequence & s) { definition_.answer(s); }) {
      example.truth.resize(relations().size());
      Sequence sequence{example, 0, Split::validation, Generator(Key{}), 0, true};
      definition_.answer(sequence);
    }
    return example;
  }
  std::string token_text(std::int32_t token) const override {
    check_token(token);
    if constexpr (requires { definition_.token_text(token); }) return definition_.token_text(token);
    return letter_text(token);
  }
  std::string answer_text(std::int32_t answer) const override {
    if constexpr (requires { definition_.answer_text(answer); }) {
      const Index outputs = shape().outputs();
      require(answer >= 0 && answer < outputs, "cannot name answer ", answer, ": the task has ",
              outputs);
      return definition_.answer_text(answer);
    }
    return token_text(answer);
  }
  std::vector<std::int32_t> encode(std::string_view text) const override {
    require(shape().features == 0, "cannot read tokens: ", spec_, " gives vectors");
    if constexpr (requires { definition_.encode(text); }) return definition_.encode(text);
    return Task::encode(text);
  }
  std::string decode(std::span<const std::int32_t> tokens) const override {
    if constexpr (requires { definition_.decode(tokens); }) {
      for (const std::int32_t token : tokens) check_token(token);
      return definition_.decode(tokens);
    }
    return Task::decode(tokens);
  }
  Index different(Split split) const override {
    if constexpr (requires { definition_.different(split); }) return definition_.different(split);
    return Task::different(split);
  }
  std::string about_data() const override {
    if constexpr (requires { definition_.about_data(); }) return definition_.about_data();
    return Task::about_data();
  }
  std::string data_hash() const override {
    if constexpr (requires { definition_.data_hash(); }) return definition_.data_hash();
    return Task::data_hash();
  }

 private:
  void check_token(std::int32_t token) const {
    const Index vocab = shape().vocab;
    require(token >= 0 && token < vocab, "cannot show token ", token, ": the vocabulary has ",
            vocab);
  }
  /// Writes a batch: all at once if the definition can, else sequence by sequence.
  Example write(Key key, Index count, Split split, bool with_truth) const {
    const TaskShape of = shape();
    Example example{Batch::make(count, of.length, of.targets, of.source_length, of.features), {}};
    if (with_truth) example.truth.resize(relations().size());
    if constexpr (requires { definition_.write(example, key, split, with_truth); }) {
      definition_.write(example, key, split, with_truth);
    } else {
      write_each(example, key, split, with_truth);
    }
    return example;
  }
  void write_each(Example& example, Key key, Split split, bool with_truth) const {
    const Index count = example.batch.size;
    const Index units = different(split);
    std::vector<Index> turns;
    require(units > 0 || split != Split::test || different(Split::train) == 0,
            "cannot use the split test: ", spec_,
            " holds too little for a test split: give test=PATH");
    if (units > 0 && split != Split::train) turns = units_in_turn(units, count, key);
    const Key stream = key.fold(split == Split::train ? "train" : "validation");
    for (Index b = 0; b < count; ++b) {  // one stream per sequence, so that sequences are
                                         // independent
      Sequence sequence{example, b, split, Generator(stream.fold(b)), 0, with_truth};
      if (units > 0) sequence.unit = turns.empty() ? sequence.random.below(units) : turns[b];
      definition_.write(sequence);
    }
  }

  std::string spec_;
  Definition definition_;
};

/// Returns the parameters of a definition, bound to its members.
template <class Definition>
Settings parameters_of(Definition& definition) {
  Settings settings;
  definition.bind(settings);
  return settings;
}

/// Returns the definition with the parameters of a text such as "length=16,vocab=16". Error for an
/// unknown name or a value out of its range.
template <class Definition>
Definition with_parameters(Definition definition, std::string_view given) {
  parameters_of(definition).set_all_text(given, ',');
  return definition;
}

/// Returns a row of the table of tasks: `entry`, which has name, summary and recommended settings,
/// completed by the functions that follow from the definition.
template <class Definition>
TaskEntry task_entry(const Definition& defaults, TaskEntry entry) {
  entry.make = [defaults, name = entry.name](std::string_view given) -> std::unique_ptr<Task> {
    Definition definition = with_parameters(defaults, given);
    const std::string spec = spec_text(name, parameters_of(definition));
    return std::make_unique<TaskOf<Definition>>(spec, std::move(definition));
  };
  entry.check = [defaults](std::string_view given) { with_parameters(defaults, given); };
  entry.parameters = [shared = std::make_shared<Definition>(defaults)] {
    return parameters_of(*shared);
  };
  return entry;
}

}  // namespace headlab
