// A playground: one page that trains small transformers in the browser, on sequences of tasks that
// it embeds. The page has the program's random numbers and draws the batches of its task `file`, so
// that training here and there from one seed has the same losses. Numbers are written as one or two
// letters of 64; a sequence is a row of tokens, then a row of keys for each relation, then a row
// for each target. Keys that are the same in all sequences are stored once, and a target that is
// always the token at a relation's key only names that relation. The reader is
// src/app/report/page/play/train/sequences.js.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "app/report/page_html.h"
#include "app/report/task_words.h"
#include "headlab/app/report/page.h"
#include "headlab/core/base/text.h"
#include "headlab/core/tasks/table.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/stored_json.h"
#include "headlab/lab/runs/run_config.h"
#include "lab/data/sequences.h"

namespace headlab {
namespace {

constexpr Index kTrained = 2048, kHeldOut = 64;  // sequences of a task
constexpr Index kMostTokens = 4096, kMostPositions = 64;
constexpr std::string_view kLetters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
constexpr char kNothing = '.';

/// Tasks with parameters for which a page learns within seconds, instead of their defaults.
struct SmallTask {
  std::string_view name;
  const char* spec;
};
constexpr SmallTask kSmallTasks[] = {
    {"relations", "relations:length=12"},
    {"induction", "induction:length=18,vocab=16,shortest=4,longest=6,start=3,gap=3"},
    {"sort", "sort:symbols=12,shortest=3,longest=6"}};

/// Returns the task with parameters: a name alone is its small form, if there is one.
std::string spec_of(const std::string& task) {
  const auto small = std::ranges::find(kSmallTasks, task, &SmallTask::name);
  return small == std::end(kSmallTasks) ? task : small->spec;
}

/// Appends a number below 64^letters; a negative one as dots.
void pack(std::string& packed, std::int32_t number, Index letters) {
  if (number < 0) {
    packed.append(letters, kNothing);
    return;
  }
  if (letters == 2) packed += kLetters[number / kMostPositions];
  packed += kLetters[number % kMostPositions];
}

/// The examples of one task: those to train on, and those to measure.
class PlayedTask {
 public:
  explicit PlayedTask(const std::string& spec) : task_(make_task(spec)) {
    check();
    trained_ = task_->make(streams::scored(), kTrained, Split::train);
    const Index different = task_->different(Split::validation);
    const Index held_out = different > 0 ? std::min(kHeldOut, different) : kHeldOut;
    held_out_ = task_->make(streams::scored(), held_out, Split::validation);
    letters_ = std::max(shape().vocab, shape().outputs()) <= kMostPositions ? 1 : 2;
    for (std::size_t r = 0; r < relations_.size(); ++r) {
      check_keys(r);
      fixed_.push_back(fixed_keys(r));
    }
    for (Index k = 0; k < shape().targets; ++k) from_.push_back(relation_of_target(k));
  }

  Json facts() const {
    const Header header = header_of(*task_);
    Json json = Json::object({{"name", task_->spec().substr(0, task_->spec().find(':'))},
                              {"spec", task_->spec()},
                              {"vocabulary", header.vocabulary},
                              {"length", shape().length},
                              {"causal", shape().architecture == Architecture::decoder},
                              {"digits", letters_}});
    if (!header.answers.empty()) json["answers"] = header.answers;
    json["question"] = question_of(*task_);
    Json relations = spoken_relations(*task_);
    for (std::size_t r = 0; r < relations_.size(); ++r) {
      relations.items()[r]["fixed"] = fixed_[r] ? Json(*fixed_[r]) : Json();
    }
    json["relations"] = std::move(relations);
    Json& targets = json["targets"] = Json::array();
    const std::vector<std::string> names = task_->target_names();
    for (Index k = 0; k < std::ssize(names); ++k) {
      targets.push_back(
          Json::object({{"name", names[k]}, {"from", from_[k] ? Json(*from_[k]) : Json()}}));
    }
    json["recommended"] = recommended();
    json["train"] = packed(trained_);
    json["held_out"] = packed(held_out_);
    return json;
  }

 private:
  TaskShape shape() const { return task_->shape(); }

  template <class... Parts>
  void refuse_unless(bool fits, const Parts&... parts) const {
    require(fits, "cannot put task ", task_->spec(), " into a playground: ", parts...);
  }

  void check() const {
    refuse_unless(shape().architecture != Architecture::encoder_decoder,
                  "it needs an encoder and a decoder, and the page trains a model of one stack");
    refuse_unless(shape().features == 0, "its inputs are vectors, and the page trains on tokens");
    refuse_unless(!relations_.empty(), "it has no relation, so no head can be scored");
    const Index most_numbers = std::max(shape().vocab, shape().outputs());
    refuse_unless(most_numbers <= kMostTokens, "it has ", most_numbers,
                  " different tokens or answers; at most ", kMostTokens, " are possible");
    refuse_unless(shape().length <= kMostPositions, "its sequences have ", shape().length,
                  " positions; at most ", kMostPositions, " are possible");
  }

  /// Error if a query of the relation has more than one key.
  void check_keys(std::size_t r) const {
    for (const Example* example : {&trained_, &held_out_}) {
      const GroundTruth& truth = example->truth[r];
      for (Index i = 0; i < truth.queries(); ++i) {
        refuse_unless(truth.query(i).keys.size() == 1, "a query of relation ", relations_[r].name,
                      " has ", truth.query(i).keys.size(), " keys; only one is possible");
      }
    }
  }

  static std::int32_t key_of(const Example& example, std::size_t r, Index b, Index t) {
    const auto keys = example.truth[r].keys(b, t);
    return keys.empty() ? -1 : keys[0];
  }

  /// Returns the key of each position if it is the same in all sequences.
  std::optional<std::string> fixed_keys(std::size_t r) const {
    std::vector<std::int32_t> keys(shape().length, -1);
    std::vector<bool> known(shape().length);
    for (const Example* example : {&trained_, &held_out_}) {
      for (Index b = 0; b < example->batch.size; ++b) {
        for (Index t = 0; t < example->batch.length_of(b); ++t) {
          const std::int32_t key = key_of(*example, r, b, t);
          if (known[t] && key != keys[t]) return std::nullopt;
          keys[t] = key;
          known[t] = true;
        }
      }
    }
    std::string packed;
    for (const std::int32_t key : keys) pack(packed, key, 1);
    return packed;
  }

  /// Returns whether target k is always the token at the key of relation r, and nothing without
  /// key.
  bool is_token_at_key(const Example& example, Index k, std::size_t r) const {
    const Batch& batch = example.batch;
    for (Index b = 0; b < batch.size; ++b) {
      for (Index t = 0; t < batch.length_of(b); ++t) {
        const std::int32_t key = key_of(example, r, b, t);
        const std::int32_t target = std::max(batch.target(b, t, k), -1);
        if (target != (key < 0 ? -1 : batch.token(b, key))) return false;
      }
    }
    return true;
  }

  std::optional<std::size_t> relation_of_target(Index k) const {
    for (std::size_t r = 0; r < relations_.size(); ++r) {
      if (is_token_at_key(trained_, k, r) && is_token_at_key(held_out_, k, r)) return r;
    }
    return std::nullopt;
  }

  /// Appends `length` numbers, of which those past the end of the sequence are nothing.
  template <class NumberAt>
  void pack_row(std::string& packed, const Batch& batch, Index b, Index letters,
                const NumberAt& number_at) const {
    for (Index t = 0; t < batch.length; ++t) {
      pack(packed, t < batch.length_of(b) ? number_at(t) : -1, letters);
    }
  }

  std::string packed(const Example& example) const {
    const Batch& batch = example.batch;
    std::string packed;
    for (Index b = 0; b < batch.size; ++b) {
      pack_row(packed, batch, b, letters_, [&](Index t) { return batch.token(b, t); });
      for (std::size_t r = 0; r < relations_.size(); ++r) {
        if (fixed_[r]) continue;
        pack_row(packed, batch, b, 1, [&](Index t) { return key_of(example, r, b, t); });
      }
      for (Index k = 0; k < batch.targets_per_position; ++k) {
        if (from_[k]) continue;
        pack_row(packed, batch, b, letters_, [&](Index t) { return batch.target(b, t, k); });
      }
    }
    return packed;
  }

  /// Returns the numbers of layers and heads that the task recommends.
  Json recommended() const {
    const RunConfig config = recommended_config(task_->spec());
    return Json::object({{"layers", config.model.layers},
                         {"heads", config.model.heads.empty() ? 1 : config.model.heads[0]},
                         {"needed_heads", task_->needed_heads()}});
  }

  std::unique_ptr<Task> task_;
  std::vector<Relation> relations_ = task_->relations();
  Index letters_ = 1;
  Example trained_, held_out_;
  std::vector<std::optional<std::string>> fixed_;  // by relation: its keys, packed
  std::vector<std::optional<std::size_t>> from_;   // by target: the relation that gives it
};

}  // namespace

Page make_playground(const std::vector<std::string>& tasks, const PageOptions& options) {
  require(!tasks.empty(), "cannot write a playground: it needs at least one task");
  Json facts = stamped({{"command", options.command}, {"owner_lift", kOwnerLift}});
  Json& all = facts["tasks"] = Json::array();
  for (const std::string& spec : tasks) all.push_back(PlayedTask(spec_of(spec)).facts());
  const std::string data = json_for_html(facts.dump());
  Page page;
  page.html = html_page({{"title", "headlab: train it here"}, {"data", data}}, "play.html");
  page.parts = {{"code", page.html.size() - data.size()}, {"facts", data.size()}};
  return page;
}

}  // namespace headlab
