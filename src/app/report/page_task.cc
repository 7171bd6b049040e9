// Examples of a page. They are those on which the program evaluates models and scores heads, so
// that every number computed by the page can be compared with the program's. Ground truth is stored
// in its original order: for each query the number of its keys, then the keys. Read next:
// page_run.cc.
#include <algorithm>
#include <map>

#include "app/report/page_parts.h"
#include "app/report/task_words.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/runs/guards.h"

namespace headlab {
namespace {

Json truth_facts(const GroundTruth& truth, const Batch& batch, AttentionKind kind,
                 PageBlocks& blocks) {
  const Index each = batch.queries(kind);
  std::vector<std::int32_t> counts(batch.size * each);
  std::vector<std::int32_t> keys;
  for (Index i = 0; i < truth.queries(); ++i) {
    const GroundTruth::Query query = truth.query(i);
    counts[query.b * each + query.t] = static_cast<std::int32_t>(query.keys.size());
    keys.insert(keys.end(), query.keys.begin(), query.keys.end());
  }
  Json json = Json::object();
  json["counts"] = blocks.counts("examples", {batch.size, each}, counts);
  json["keys"] = blocks.counts("examples", {std::ssize(keys)}, keys);
  return json;
}

/// Returns a target as blocks store it, which hold no negative numbers: target + 1, and 0 if there
/// is none (-1). page_data.js reads it by targetOf().
std::int32_t stored_target(std::int32_t target) { return target + 1; }

/// Returns the texts of the numbers below `count`, each `#number` if it is not UTF-8.
template <class TextOf>
std::vector<std::string> texts_below(Index count, const TextOf& text_of) {
  std::vector<std::string> texts;
  for (std::int32_t number = 0; number < count; ++number) {
    texts.push_back(text_of(number));
    std::size_t position = 0;
    if (!valid_utf8(texts.back(), position)) texts.back() = text("#", number);
  }
  return texts;
}

std::vector<std::string> token_texts(const Task& task) {
  return texts_below(task.shape().vocab,
                     [&](std::int32_t token) { return task.token_text(token); });
}

std::vector<std::string> answer_texts(const Task& task) {
  return texts_below(task.shape().outputs(),
                     [&](std::int32_t answer) { return task.answer_text(answer); });
}

/// Returns for each relation whether it has targets of its own; otherwise its losses are over all.
Json own_targets(const Task& task, const Example& example) {
  Json own = Json::array();
  for (std::size_t r = 0; r < task.relations().size(); ++r) {
    own.push_back(targets_of(task, example, r).own);
  }
  return own;
}

/// Returns the share of right answers if each target always got its most frequent answer.
double guessed_share(const Batch& batch) {
  std::vector<std::map<std::int32_t, Index>> counts(batch.targets_per_position);
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    if (batch.targets[i] >= 0) ++counts[i % counts.size()][batch.targets[i]];
  }
  Index right = 0;
  for (const auto& answers : counts) {
    if (answers.empty()) continue;
    const auto count = [](const auto& answer) { return answer.second; };
    right += std::ranges::max_element(answers, {}, count)->second;
  }
  return static_cast<double>(right) / static_cast<double>(std::max<Index>(1, batch.target_count()));
}

}  // namespace

Json set_facts(const Task& task, const Example& example, PageBlocks& blocks) {
  const Batch& batch = example.batch;
  const Index n = batch.size;
  Json json = Json::object({{"examples", n}});
  const auto add = [&](const char* name, const PageBlocks::Sizes& shape, const Ids& values) {
    if (!values.empty()) {
      json[name] =
          blocks.counts("examples", shape, std::vector<std::int32_t>(values.begin(), values.end()));
    }
  };
  Ids targets = batch.targets;
  for (std::int32_t& target : targets) target = stored_target(target);
  add("tokens", {n, batch.length}, batch.tokens);
  if (batch.features > 0) {
    json["vectors"] = blocks.floats("examples", {n, batch.length, batch.features}, batch.vectors);
  }
  add("lengths", {n}, batch.lengths);
  add("targets", {n, batch.length, batch.targets_per_position}, targets);
  add("source", {n, batch.source_length}, batch.source);
  add("source_lengths", {n}, batch.source_lengths);
  Json truth = Json::array();
  const std::vector<Relation> relations = task.relations();
  for (std::size_t r = 0; r < relations.size(); ++r) {
    truth.push_back(truth_facts(example.truth[r], batch, relations[r].kind, blocks));
  }
  json["truth"] = std::move(truth);
  return json;
}

Json task_facts(const Task& task) {
  constexpr const char* kArchitectures[] = {"decoder", "encoder", "encoder_decoder"};
  const TaskShape shape = task.shape();
  Json json =
      Json::object({{"spec", task.spec()},
                    {"name", task.spec().substr(0, task.spec().find(':'))},
                    {"architecture", kArchitectures[static_cast<int>(shape.architecture)]},
                    {"causal", shape.architecture != Architecture::encoder},
                    {"vocab", shape.vocab},
                    {"length", shape.length},
                    {"source_length", shape.source_length},
                    {"targets", shape.targets},
                    {"features", shape.features},
                    {"tokens", token_texts(task)},
                    {"target_names", task.target_names()},
                    {"relations", spoken_relations(task)},
                    {"question", question_of(task)},
                    {"control", task.is_control()},
                    {"needed", task.needed_heads() > 0 ? Json(task.needed_heads()) : Json()}});
  const std::vector<std::string> answers = answer_texts(task);
  if (answers != token_texts(task)) json["answers"] = answers;
  return json;
}

Json task_facts(const Task& task, const PagePlan& plan, PageBlocks& blocks) {
  Json json = task_facts(task);
  Json& sets = json["sets"] = Json::object();
  const Example held_out = held_out_examples(task, plan.examples);
  sets["held_out"] = set_facts(task, held_out, blocks);
  sets["held_out"]["own_targets"] = own_targets(task, held_out);
  sets["held_out"]["guess"] = guessed_share(held_out.batch);
  sets["scored"] =
      set_facts(task, task.make(streams::scored(), plan.examples, Split::validation), blocks);
  return json;
}

}  // namespace headlab
