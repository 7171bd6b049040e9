// Properties of every task, run over the table, so that a new row is tested as soon as it is
// there: streams, ranges, ground truth, names, text form, recommended settings. Read next: one of
// the files for a single task.
#include "headlab/core/tasks/table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "headlab/core/train/config.h"
#include "headlab/lab/data/lab_tasks.h"
#include "support/golden_text.h"
#include "tasks/checks.h"

namespace headlab { namespace {

TEST(Tasks, AreDescribedAsInTheGoldenFile) {
  std::string all;
  for (const TaskEntry& task : task_table()) {
    all += text(task.name, "\n  summary: ", task.summary, "\n  recommended: ", task.recommended,
                "\n  learned: ", Json(task.learned).dump(), "\n  form: ", task.form, "\n");
  }
  expect_golden("tasks/table.txt", all);
}

/// "2 7 1 0": ids of all examples of a batch, in rows of as many as a sequence has.
std::string rows_of(const Ids& ids, Index width) {
  std::string rows;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool last = (i + 1) % static_cast<std::size_t>(width) == 0 || i + 1 == ids.size();
    rows += text(ids[i], last ? "\n" : " ");
  }
  return rows;
}

TEST(Tasks, DrawTheExamplesOfTheGoldenFile) {
  std::filesystem::current_path(HEADLAB_SOURCE_DIR);
  std::string all;
  for (const TaskEntry& task : complete_tasks()) {
    const std::unique_ptr<Task> made = task.make("");
    const Example drawn = made->make(Key{7}, 8, Split::train);
    const Index width = std::max<Index>(std::ssize(drawn.batch.tokens) / 8, 1);
    all += text("==== ", task.name, "\ntokens:\n", rows_of(drawn.batch.tokens, width), "targets:\n",
                rows_of(drawn.batch.targets, width), "ground truth:\n");
    for (const GroundTruth& truth : drawn.truth) {
      all += truth_text(truth) + "\n";
    }
    for (const Relation& relation : made->relations()) {
      all += text("relation ", relation.name, ": ", relation.description, "\n");
    }
  }
  expect_golden("tasks/examples.txt", all);
}

class EveryTask : public testing::TestWithParam<TaskEntry> {
 protected:
  EveryTask() {
    std::filesystem::current_path(HEADLAB_SOURCE_DIR);  // where default data files are
    task_ = GetParam().make("");
  }
  Example make(Index count, Split split = Split::train, Key key = {7}) const {
    return task_->make(key, count, split);
  }
  std::unique_ptr<Task> task_;
};

void expect_same(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.targets, b.targets);
  EXPECT_EQ(a.lengths, b.lengths);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.source_lengths, b.source_lengths);
}

std::string entry_name(const testing::TestParamInfo<TaskEntry>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Table, EveryTask, testing::ValuesIn(complete_tasks()), entry_name);

TEST_P(EveryTask, SequencesHaveTheDeclaredShape) {
  const TaskShape shape = task_->shape();
  const Example example = make(3);
  EXPECT_EQ(example.batch.size, 3);
  EXPECT_EQ(example.batch.length, shape.length);
  EXPECT_EQ(example.batch.targets_per_position, shape.targets);
  EXPECT_EQ(example.batch.source_length, shape.source_length);
  EXPECT_EQ(static_cast<Index>(task_->target_names().size()), shape.targets);
  EXPECT_EQ(example.truth.size(), task_->relations().size());
}

TEST_P(EveryTask, FindsGroundTruthOfTypedTokensIfItClaimsTo) {
  const std::set<std::string> know = {"relations", "histogram",  "duplicate", "copy", "sort",
                                      "reverse",   "memoryless", "random",    "text"};
  const Example made = make(4);
  for (Index b = 0; b < 4 && made.batch.source_length == 0; ++b) {
    const Index length = made.batch.keys_of(AttentionKind::self, b);
    const auto tokens = std::span(made.batch.tokens).subspan(b * made.batch.length, length);
    const Example given = task_->example_of(tokens);
    ASSERT_EQ(given.truth.size(), know.contains(GetParam().name) ? made.truth.size() : 0);
    for (std::size_t r = 0; r < given.truth.size(); ++r)
      for (Index t = 0; t < length; ++t)
        EXPECT_TRUE(std::ranges::equal(given.truth[r].keys(0, t), made.truth[r].keys(b, t)))
            << r << " at " << t;
  }
}

TEST_P(EveryTask, LargerBatchBeginsWithTheSameSequences) {
  const Example small = make(3), large = make(11);
  const Batch rows = large.batch.rows(0, 3);
  expect_same(small.batch, rows);
  for (std::size_t r = 0; r < small.truth.size(); ++r) {
    const std::string all = truth_text(large.truth[r]);
    EXPECT_EQ(all.rfind(truth_text(small.truth[r]), 0), 0U) << "ground truth of relation " << r;
  }
}

TEST_P(EveryTask, BatchesAreTheSameWithoutTheirTruth) {
  for (const Split split : {Split::train, Split::validation})
    expect_same(make(5, split).batch, task_->make_batch(Key{7}, 5, split));
}

TEST_P(EveryTask, OtherKeysAndOtherSplitsGiveOtherSequences) {
  const Batch batch = make(2).batch;
  EXPECT_NE(batch.tokens, make(2, Split::validation).batch.tokens);
  EXPECT_NE(batch.tokens, make(2, Split::train, Key{8}).batch.tokens);
  EXPECT_NE(batch.rows(0, 1).tokens, batch.rows(1, 2).tokens);
}

TEST_P(EveryTask, TokensAndTargetsAreInTheVocabulary) {
  const Index vocab = task_->shape().vocab;
  const Batch batch = make(40).batch;
  EXPECT_GT(batch.target_count(), 0);
  for (const std::int32_t token : batch.tokens) ASSERT_TRUE(token >= 0 && token < vocab);
  for (const std::int32_t token : batch.source) ASSERT_TRUE(token >= 0 && token < vocab);
  for (const std::int32_t target : batch.targets) ASSERT_TRUE(target >= -1 && target < vocab);
}

TEST_P(EveryTask, PaddingHasNoTargets) {
  const Batch batch = make(40).batch;
  for (Index b = 0; b < batch.size; ++b) {
    for (Index t = batch.length_of(b); t < batch.length; ++t)
      for (Index k = 0; k < batch.targets_per_position; ++k) ASSERT_EQ(batch.target(b, t, k), -1);
  }
}

TEST_P(EveryTask, GroundTruthKeysAreVisible) {
  const Example example = make(40);
  const bool causal = task_->shape().architecture != Architecture::encoder;
  for (std::size_t r = 0; r < example.truth.size(); ++r) {
    const GroundTruth& truth = example.truth[r];
    const bool cross = task_->relations()[r].kind == AttentionKind::cross;
    EXPECT_GT(truth.queries(), 0);
    for (Index i = 0; i < truth.queries(); ++i) {
      const auto query = truth.query(i);
      const Index end = cross    ? example.batch.source_length_of(query.b)
                        : causal ? query.t + 1
                                 : example.batch.length_of(query.b);
      ASSERT_LT(query.t, example.batch.length_of(query.b));
      ASSERT_GE(query.keys.front(), 0);
      ASSERT_LT(query.keys.back(), end);
    }
  }
}

TEST_P(EveryTask, CandidatesIncludeTheGroundTruth) {
  const Example example = make(40);
  ASSERT_TRUE(example.candidates.empty() || example.candidates.size() == example.truth.size());
  for (std::size_t r = 0; r < example.candidates.size(); ++r) {
    for (Index i = 0; i < example.candidates[r].queries(); ++i) {
      const auto [b, t, keys] = example.candidates[r].query(i);
      const auto truth = example.truth[r].keys(b, t);
      ASSERT_FALSE(truth.empty());
      ASSERT_TRUE(std::includes(keys.begin(), keys.end(), truth.begin(), truth.end()));
    }
  }
}

TEST_P(EveryTask, NamesAreUniqueAndExplained) {
  std::set<std::string> names;
  for (const Relation& relation : task_->relations()) {
    EXPECT_TRUE(names.insert(relation.name).second) << relation.name;
    EXPECT_FALSE(relation.description.empty());
  }
  std::set<std::string> tokens;
  for (Index token = 0; token < task_->shape().vocab; ++token)
    EXPECT_TRUE(tokens.insert(task_->token_text(static_cast<std::int32_t>(token))).second);
  EXPECT_NE(error_of([&] { task_->token_text(-1); }), "");
  EXPECT_NE(error_of([&] { task_->token_text(static_cast<std::int32_t>(tokens.size())); }), "");
}

TEST_P(EveryTask, IsMadeAgainFromItsSpecification) {
  const auto again = make_task(task_->spec());
  EXPECT_EQ(again->spec(), task_->spec());
  EXPECT_EQ(again->make(Key{7}, 3, Split::train).batch.tokens, make(3).batch.tokens);
  EXPECT_EQ(task_->spec().rfind(text(GetParam().name, ":"), 0), 0U);
}

TEST_P(EveryTask, SpecificationNamesAllParameters) {
  const Settings parameters = GetParam().parameters();
  for (const Setting& setting : parameters.all()) {
    const Json value = setting.get();
    const std::string shown = value.is_string() ? value.string() : value.dump();
    if (!shown.empty()) expect_contains(task_->spec(), text(setting.name, "=", shown));
    EXPECT_FALSE(setting.help.empty());
  }
}

TEST_P(EveryTask, UnknownParametersListTheKnown) {
  for (const std::string& name : GetParam().parameters().names()) {
    const std::string message = refusal(text(GetParam().name, ":", name, "s=3"));
    expect_contains(message, text("did you mean '", name, "'"));
    for (const std::string& known : GetParam().parameters().names())
      expect_contains(message, known);
  }
}

TEST_P(EveryTask, AbsurdNumbersAreRefused) {
  const Settings parameters = GetParam().parameters();
  for (const Setting& setting : parameters.all()) {
    if (setting.get().is_number()) {
      const bool whole = setting.placeholder == "N";
      for (const char* value : {"-1", "1e30", "many", "", whole ? "0.00001" : "x"}) {
        const std::string spec = text(GetParam().name, ":", setting.name, "=", value);
        expect_contains(refusal(spec), text("task ", GetParam().name, ": ", setting.name));
      }
    }
  }
}

TEST_P(EveryTask, SaysHowManySeedsLearnOrWhyNot) {
  const Learned& learned = GetParam().learned;
  const std::string_view why = learned.why;
  EXPECT_TRUE(learned.accuracy > 0 || !why.empty());
  EXPECT_LE(learned.reached, learned.seeds);
  EXPECT_TRUE(100 * learned.reached >= 99 * learned.seeds || !why.empty());
  if (learned.seeds == 0) return;
  const std::string said = learned_text(learned);
  expect_contains(said, text(learned.reached, " of ", learned.seeds, " seeds ("));
  if (learned.reached == 100 && learned.seeds == 100)
    expect_contains(said, "(0.963 to 1.000) reach");  // by Wilson 1927
}

TEST_P(EveryTask, RecommendedSettingsAreOneValidModelAndItsTraining) {
  TransformerConfig model;
  TrainConfig train;
  Settings settings = settings_of(model);
  settings.add(settings_of(train));
  EXPECT_NO_THROW(settings.set_all_text(GetParam().recommended));
  model.architecture = task_->shape().architecture;
  model.source_length = task_->shape().source_length;
  EXPECT_NO_THROW(model.validate());
  EXPECT_NO_THROW(train.validate());
  Index heads = 0;
  for (const AttentionSlot& slot : model.attention_slots()) heads += model.heads_of(slot.layer);
  EXPECT_LE(task_->needed_heads(), heads);
}

TEST(TaskTable, UnknownTasksListTheKnown) {
  const std::string message = refusal("relation:length=8");
  expect_contains(message, "unknown task 'relation'");
  expect_contains(message, "did you mean 'relations'");
  for (const TaskEntry& entry : task_table()) expect_contains(message, entry.name);
  expect_contains(refusal(""), "unknown task ''");
}

/// "" where a setting is possible.
TEST(TaskTable, ImpossibleSettingsAreRefusedWithAMessage) {
  for (const auto& [spec, said] : std::vector<std::pair<const char*, const char*>>{
           {"reverse:8", "expected NAME=VALUE, got '8'"},
           {"reverse:", ""},
           {"reverse:shortest=11", "shortest 11 must not exceed longest 10"},
           {"relations:length=8,relations=9",
            "no position of a sequence of length 8 has an earlier token 9 back"},
           {"relations:length=8,relations=8", "use relations from 1 to 7"},
           {"relations:relations=0", "use relations from 1 to 15"},
           {"relations:vocab=4,classes=5", "classes 5 must not exceed vocab 4"},
           {"relations:relations=same+1+same", "names 'same' twice"},
           {"relations:relations=1+01", "names '01' twice"},
           {"relations:relations=sane", "did you mean 'same'"},
           {"relations:relations=99999999999999999999", "unknown relation"},
           {"relations:relations=1++3", "unknown relation ''"},
           {"relations:relations=", "relations needs a value"},
           {"relations:length=-3", "length must be a whole number"},
           {"recall:pairs=17", "need vocab 34 or more, got 32"},
           {"recall:queries=9", "set queries to 8 or less, got 9"},
           {"recall:pairs=16,queries=16", ""},
           {"recall:pairs=1,queries=1,vocab=3", ""},
           {"induction:length=20", "need length 35 or more, got 20"},
           {"induction:vocab=12", "need vocab 13 or more, got 12"},
           {"induction:shortest=9,longest=8", "shortest 9 must not exceed longest 8"},
           {"induction:length=35,vocab=13", ""},
           {"grid:width=1", "width must be a whole number from 2"},
           {"patches:width=3,height=3", "width 3 times height 3 must be even"},
           {"grid:rule=mode", "rule must be one of contrast, mean"},
           {"grid:rule=meam", "did you mean 'mean'?"},
           {"english:distracted=2", "distracted must be a number from 0 to 1"},
           {"english:length=7", "set length=8 or more"},
           {"random:classes=17", "classes 17 must not exceed vocab 16"},
           {"memoryless:classes=17", "task memoryless: classes 17"},
           {"brackets:length=15", "need an even length, got 15"},
           {"brackets:depth=9", "depth 9 needs length 18 or more, got 16"},
           {"brackets:length=2", "depth 4 needs length 8 or more, got 2"},
           {"brackets:depth=1", "set depth to 2 or more"},
           {"assign:shortest=7", "shortest 7 must not exceed longest 6"},
           {"assign:variables=5", "need variables 6 or more, got 5"},
           {"assign:depth=1", "depth must be a whole number from 2"}})
    if (*said == '\0')
      EXPECT_EQ(refusal(spec), "");
    else
      expect_contains(refusal(spec), said);
}

TEST(TaskTable, HasTheNumberOfHeadsThatADefinitionStates) {
  const std::map<std::string, Index> needed = {
      {"relations", 4},      {"relations:relations=1+same", 2},
      {"induction", 2},      {"copy", 2},
      {"recall", 2},         {"reverse", 2},
      {"brackets", 2},       {"sort", 1},
      {"duplicate", 1},      {"grid", 2},
      {"grid:rule=mean", 1}, {"histogram", 0},
      {"patches", 3},        {"memoryless", 0},
      {"english", 0},        {"assign", 0}};
  for (const auto& [spec, heads] : needed)
    EXPECT_EQ(make_task(spec)->needed_heads(), heads) << spec;
}

TEST(TaskTable, TasksWithoutTextsReadTokensApart) {
  const auto task = make_task("reverse");
  EXPECT_EQ(task->encode(" a b |"), (std::vector<std::int32_t>{0, 1, 16}));
  expect_contains(error_of([&] { task->encode("abc"); }), "unknown token 'abc'");
  EXPECT_EQ(task->decode(std::vector<std::int32_t>{0, 1, 16}), "a b |");
  EXPECT_EQ(task->data_hash(), "");
}

TEST(GroundTruth, HoldsSetsOfKeysByQuery) {
  GroundTruth truth;
  truth.add(0, 2, std::vector<std::int32_t>{0, 1});
  truth.add(1, 0, 5);
  EXPECT_EQ(truth_text(truth), "0,2:0 1 1,0:5 ");
  EXPECT_EQ(truth.keys(0, 2).size(), 2U);
  EXPECT_EQ(truth.keys(1, 0)[0], 5);
  EXPECT_TRUE(truth.keys(0, 0).empty());
  EXPECT_TRUE(truth.keys(3, 0).empty());
}

TEST(GroundTruth, RefusesDisorder) {
  GroundTruth truth;
  truth.add(1, 1, 0);
  EXPECT_NE(error_of([&] { truth.add(1, 1, 0); }), "");
  EXPECT_NE(error_of([&] { truth.add(0, 5, 0); }), "");
  EXPECT_NE(error_of([&] { truth.add(2, 0, std::vector<std::int32_t>{}); }), "");
  EXPECT_NE(error_of([&] { truth.add(2, 0, std::vector<std::int32_t>{3, 1}); }), "");
}

TEST(TaskTable, FilesInPlaceOfATaskAreAnsweredWithTheTaskThatReadsThem) {
  const std::pair<const char*, const char*> specs[] = {
      {"max.jsonl", "--task file:train=max.jsonl"},
      {"data/max.npz", "--task file:train=data/max.npz"},
      {"train.bin", "--task tokens:file=train.bin"},
      {"./play.txt", "--task text:file=./play.txt"},
      {"file:max.jsonl", "name the setting: file:train=max.jsonl"},
      {"tokens:train.bin,length=8", "name the setting: tokens:file=train.bin,length=8"},
      {"text:play.txt", "name the setting: text:file=play.txt"},
      {"relations:16", "settings of relations: length, vocab"}};
  for (const auto& [spec, expected] : specs) expect_contains(refusal(spec), expected);
}

}  // namespace
}  // namespace headlab
