// A definition of one's own, made a task by task_entry: what it leaves out has its default, and its
// sequences are written one by one. Read next: include/headlab/core/tasks/definition.h.
#include "headlab/core/tasks/definition.h"

#include "tasks/checks.h"

namespace headlab { namespace {

/// Each token asks for the one before it.
struct Before {
  Index length = 4, vocab = 3;
  bool named = false;  // whether candidates are

  void bind(Settings& s) {
    s.integer("length", length, 2, 100, "tokens in a sequence");
    s.integer("vocab", vocab, 1, 100, "number of tokens");
  }
  TaskShape shape() const { return {Architecture::decoder, vocab, length}; }
  std::vector<Relation> relations() const { return {{"before", "the token before", true}}; }
  std::vector<std::string> target_names() const { return {"before"}; }
  void write(Sequence& s) const {
    fill_uniform(s.tokens(), vocab, s.random);
    for (Index t = 1; t < length; ++t) {
      s.target(t) = s.token(t - 1);
      s.add_truth(0, t, t - 1);
      if (named) s.add_candidates(0, t, std::vector{id(t - 1), id(t)});
    }
  }
};

TaskEntry entry(bool named = false) {
  return task_entry(Before{.named = named}, {"before", "the token before", "layers=1"});
}

TEST(Definition, HasTheParametersThatItBinds) {
  EXPECT_EQ(entry().parameters().names(), (std::vector<std::string>{"length", "vocab"}));
  const auto task = entry().make("vocab=5");
  EXPECT_EQ(task->spec(), "before:length=4,vocab=5");
  EXPECT_EQ(task->shape().vocab, 5);
  expect_contains(error_of([] { entry().check("length=1"); }), "length must be a whole number");
  expect_contains(error_of([] { entry().make("lenght=9"); }), "did you mean 'length'");
}

TEST(Definition, NeedsNoMoreThanWhatIsSpecial) {
  const auto task = entry().make("");
  EXPECT_EQ(task->needed_heads(), 0);
  EXPECT_EQ(task->token_text(2), "c");
  EXPECT_EQ(task->decode(std::vector<std::int32_t>{0, 1}), "a b");
  EXPECT_EQ(task->data_hash(), "");
  expect_contains(error_of([&] { task->token_text(3); }),
                  "cannot show token 3: the vocabulary has 3");
  EXPECT_EQ(task->encode("a"), std::vector<std::int32_t>{0});
}

TEST(Definition, GeneratesGroundTruthOnlyIfNeeded) {
  const auto task = entry().make("");
  const Example example = task->make(Key{1}, 2, Split::train);
  EXPECT_EQ(truth_text(example.truth[0]), "0,1:0 0,2:1 0,3:2 1,1:0 1,2:1 1,3:2 ");
  EXPECT_TRUE(example.candidates.empty());
  EXPECT_EQ(task->make_batch(Key{1}, 2, Split::train).targets, example.batch.targets);
  const Example named = entry(true).make("")->make(Key{1}, 1, Split::train);
  EXPECT_EQ(truth_text(named.candidates[0]), "0,1:0 1 0,2:1 2 0,3:2 3 ");
}

}  // namespace
}  // namespace headlab
