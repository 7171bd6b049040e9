// Answers to single targets, and their means over groups. The passes are those of `evaluate`, in
// the same order, so that means over all targets agree with it. Read next:
// src/core/train/evaluate.cc.
#include "headlab/lab/runs/single_targets.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "headlab/core/base/error.h"
#include "headlab/core/base/mean.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/results/fields.h"

namespace headlab {
namespace {

/// Adds the targets of some examples, of which `first` is the first.
void add_targets(const Tensor& logits, const Batch& part, Index first,
                 std::vector<SingleTarget>& targets) {
  const Index K = part.targets_per_position;
  const Tensor losses = target_losses(logits, part);
  const Index outputs = logits.count() / losses.count();
  for (Index row = 0; row < losses.count(); ++row) {
    const std::int32_t target = part.targets[row];
    if (target < 0) continue;
    const Scalar* x = logits.data() + row * outputs;
    SingleTarget& one = targets.emplace_back();
    one.k = row % K;
    one.position = row / K % part.length;
    one.example = first + row / K / part.length;
    if (!part.tokens.empty()) one.token = part.tokens[row / K];
    one.target = target;
    one.predicted = static_cast<std::int32_t>(std::max_element(x, x + outputs) - x);
    one.loss = static_cast<double>(losses.data()[row]);
  }
}

/// Replaces the logits after the end of each sequence by NaN. logits: [B, T, outputs].
void blank_padding(const Batch& part, std::span<float> logits) {
  const std::size_t of_position = logits.size() / static_cast<std::size_t>(part.size * part.length);
  for (Index b = 0; b < part.size; ++b) {
    for (Index t = part.length_of(b); t < part.length; ++t) {
      const auto first = static_cast<std::size_t>(b * part.length + t) * of_position;
      std::ranges::fill(logits.subspan(first, of_position), std::nanf(""));
    }
  }
}

/// Means over the targets of one name in a group: a position, or a right answer.
struct GroupMeans {
  Index group = 0, k = 0;
  Mean loss{}, right{};

  void add(const SingleTarget& target) {
    loss.add(target.loss);
    right.add(target.predicted == target.target ? 1 : 0);
  }
};

/// Adds the columns of a group's means, after the group.
void add_means(Fields<GroupMeans>& fields, const std::vector<std::string>& target_names) {
  fields.add(Column("name", "target", "name of the target").no_legend(),
             [&](const GroupMeans& means) { return target_names[means.k]; });
  fields.add(Column("loss", "loss", "mean of the group, in nats per target").mean_over("count"),
             &GroupMeans::loss);
  fields.add(Column("accuracy", "accuracy", "share of the group's targets that are right")
                 .fixed(4)
                 .mean_over("count"),
             &GroupMeans::right);
  fields.add(Column("count", "targets", "number in the group").shown_as(Form::grouped).no_legend(),
             [](const GroupMeans& means) { return means.loss.count(); });
}

}  // namespace

AnsweredTargets answer_targets(const Model& model, const Task& task, const EvaluateOptions& options,
                               bool logits) {
  require(options.examples >= 1 && options.batch >= 1, "cannot evaluate ", options.examples,
          " examples, ", options.batch, " at a time");
  const NoGrad no_grad;
  const ModelHooks hooks{.interventions = options.interventions};
  const Batch all =
      task.make_batch(streams::evaluated(options.key),
                      at_most_different(task, options.examples, options.split), options.split);
  AnsweredTargets answered{.targets = {}, .examples = all.size, .length = all.length};
  const Index at_once = model.shape().at_once(options.batch, all.length);
  for_parts(all, at_once, [&](const Batch& part, Index first) {
    const Tensor found = model.forward(part, {}, hooks);
    add_targets(found, part, first, answered.targets);
    if (!logits) return;
    answered.logits.insert(answered.logits.end(), found.values().begin(), found.values().end());
    blank_padding(part, std::span(answered.logits).last(found.values().size()));
  });
  require(!answered.targets.empty(),
          "cannot evaluate: the held-out examples have no target at all");
  return answered;
}

Table single_target_table(const Task& task, const std::vector<SingleTarget>& targets) {
  using Row = SingleTarget;
  const std::vector<std::string> names = task.target_names();
  Fields<Row> fields;
  fields.add(Column("example", "example", "its index among the held-out ones").no_legend(),
             &Row::example);
  fields.add(Column("position", "position", "position of the query, from 0").no_legend(),
             &Row::position);
  fields.add(Column("token", "token", "token at this position").no_legend(), [&](const Row& row) {
    return row.token < 0 ? Json() : Json(task.token_text(row.token));
  });
  fields.add(Column("name", "target", "name of the target").no_legend(),
             [&](const Row& row) { return names[row.k]; });
  fields.add(Column("answer", "answer", "the right output").no_legend(),
             [&](const Row& row) { return task.answer_text(row.target); });
  fields.add(Column("predicted", "predicted", "the output with the largest logit").no_legend(),
             [&](const Row& row) { return task.answer_text(row.predicted); });
  fields.add(Column("right", "right", "whether they are the same").no_legend(),
             [](const Row& row) { return row.target == row.predicted; });
  fields.add(Column("loss", "loss", "loss of this target, in nats").no_legend(), &Row::loss);
  return fields.table({.name = kSingleTargets}, targets);
}

/// Returns the means of the targets in each group, in the order of the groups.
static std::vector<GroupMeans> means_of(const std::vector<SingleTarget>& targets,
                                        TargetGroups groups) {
  std::map<std::pair<Index, Index>, GroupMeans> means;  // by group and target
  for (const SingleTarget& one : targets) {
    const Index group = groups == TargetGroups::position ? one.position : Index{one.target};
    means.try_emplace({group, one.k}, GroupMeans{group, one.k}).first->second.add(one);
  }
  std::vector<GroupMeans> rows;
  for (const auto& [group, of_group] : means) rows.push_back(of_group);
  return rows;
}

Table grouped_table(const Task& task, const std::vector<SingleTarget>& targets,
                    TargetGroups groups) {
  const std::vector<std::string> names = task.target_names();
  Fields<GroupMeans> fields;
  if (groups == TargetGroups::position) {
    fields.add(Column("position", "position", "position of the query, from 0").no_legend(),
               &GroupMeans::group);
    add_means(fields, names);
    return fields.table({.name = "positions"}, means_of(targets, groups));
  }
  fields.add(Column("answer", "answer", "the right output").no_legend(),
             [&](const GroupMeans& means) {
               return task.answer_text(static_cast<std::int32_t>(means.group));
             });
  add_means(fields, names);
  return fields.table({.name = "answers"}, means_of(targets, groups));
}

std::optional<InContextScore> in_context_score(const AnsweredTargets& answered, Index one_position,
                                               Index other_position) {
  InContextScore score{.early = std::min(one_position, other_position),
                       .late = std::max(one_position, other_position)};
  const bool fits = score.early >= 0 && score.early < score.late && score.late < answered.length;
  require(fits, "cannot compute the in-context score: it needs two positions from 0 to ",
          answered.length - 1, ", got ", one_position, " and ", other_position);
  std::map<Index, std::pair<Mean, Mean>> losses;  // by example: at early, at late
  for (const SingleTarget& one : answered.targets) {
    if (one.position == score.early) losses[one.example].first.add(one.loss);
    if (one.position == score.late) losses[one.example].second.add(one.loss);
  }
  std::vector<double> differences;
  for (const auto& [example, both] : losses) {
    const auto& [first, last] = both;
    if (first.value() && last.value()) differences.push_back(*last.value() - *first.value());
  }
  if (differences.empty()) return std::nullopt;
  score.examples = std::ssize(differences);
  score.difference = t_interval(differences);
  return score;
}

Json to_json(const InContextScore& score) {
  return Json::object({{"early", score.early},
                       {"late", score.late},
                       {"examples", score.examples},
                       {"score", score.difference}});
}

}  // namespace headlab
