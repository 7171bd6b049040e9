// Logit differences over the lines of a file. They are sums by example first, because examples are
// the independent unit of every interval.
// Read next: paired.cc; contrasts.cc.
#include "headlab/lab/heads/causes/file_prompts.h"

#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/data/lab_tasks.h"

namespace headlab {

std::vector<Contrast> contrasts_against(const Batch& examples,
                                        std::span<const std::int32_t> against) {
  std::vector<Contrast> contrasts;
  for (std::size_t i = 0; i < against.size(); ++i) {
    const bool is_asked = against[i] >= 0 && examples.targets[i] >= 0;
    if (is_asked) contrasts.push_back({static_cast<Index>(i), examples.targets[i], against[i]});
  }
  return contrasts;
}

AgainstTargets::AgainstTargets(const Task& task, Split split, const Batch& examples)
    : task_(task),
      examples_(examples.size),
      length_(examples.length),
      targets_(examples.targets_per_position),
      contrasts_(contrasts_against(examples, prompts_in_file(task, split, examples.size).against)) {
  if (!empty()) lines_ = places_in_file(task, split, 0, examples_).of_examples;
}

void AgainstTargets::add(const Tensor& logits, const Batch& part, Index first, double share,
                         std::vector<double>& values) const {
  values.resize(contrasts_.size());
  const Index each = length_ * targets_;
  const Index outputs = logits.count() / (part.size * each);
  for (std::size_t i = 0; i < contrasts_.size(); ++i) {
    const Contrast& one = contrasts_[i];
    const Index row = one.row - first * each;
    if (row < 0 || row >= part.size * each) continue;
    values[i] += share * value_at(logits, outputs, {row, one.clean, one.corrupted});
  }
}

PairedChange AgainstTargets::change(std::span<const double> after, std::span<const double> before,
                                    Index k) const {
  const auto n = static_cast<std::size_t>(examples_);
  std::vector<double> sums_after(n);
  std::vector<double> sums_before(n);
  std::vector<double> counts(n);
  Mean all;
  for (std::size_t i = 0; i < contrasts_.size(); ++i) {
    const Index row = contrasts_[i].row;
    if (k >= 0 && row % targets_ != k) continue;
    const auto example = static_cast<std::size_t>(row / targets_ / length_);
    sums_after[example] += after[i];
    sums_before[example] += before[i];
    ++counts[example];
    all.add(after[i] - before[i]);
  }
  if (examples_ < 2) return {.change = all.or_nan(), .examples = examples_};
  return paired_change(sums_after, sums_before, counts, {}, 0);
}

std::vector<AgainstMeans> AgainstTargets::means(std::span<const double> values,
                                                const std::string& place) const {
  const std::vector<std::string> names = task_.target_names();
  const std::vector<double> none(values.size());
  std::vector<AgainstMeans> means;
  for (Index k = 0; k < targets_; ++k) {
    Mean above;
    for (std::size_t i = 0; i < contrasts_.size(); ++i) {
      if (contrasts_[i].row % targets_ == k) above.add(values[i] > 0 ? 1 : 0);
    }
    if (above.count() == 0) continue;
    means.push_back({place, names[static_cast<std::size_t>(k)], change(values, none, k), above});
  }
  return means;
}

std::vector<AgainstRow> AgainstTargets::rows(std::span<const double> values,
                                             const std::string& place) const {
  const std::vector<std::string> names = task_.target_names();
  std::vector<AgainstRow> rows;
  for (std::size_t i = 0; i < contrasts_.size(); ++i) {
    const Contrast& one = contrasts_[i];
    AgainstRow& row = rows.emplace_back();
    row.example = one.row / targets_ / length_;
    row.line = lines_[static_cast<std::size_t>(row.example)];
    row.position = one.row / targets_ % length_;
    row.place = place;
    row.target = names[static_cast<std::size_t>(one.row % targets_)];
    row.answer = task_.answer_text(static_cast<std::int32_t>(one.clean));
    row.against = task_.answer_text(static_cast<std::int32_t>(one.corrupted));
    row.difference = values[i];
  }
  return rows;
}

void AgainstReport::add(const AgainstTargets& targets, std::span<const double> values,
                        const std::string& place) {
  for (AgainstMeans& one : targets.means(values, place)) means.push_back(std::move(one));
  for (AgainstRow& one : targets.rows(values, place)) rows.push_back(std::move(one));
}

AgainstReport read_against(const Model& model, const Task& task, const EvaluateOptions& options) {
  const NoGrad no_grad;
  const Index examples = at_most_different(task, options.examples, options.split);
  const Batch all = task.make_batch(streams::evaluated(options.key), examples, options.split);
  const AgainstTargets targets(task, options.split, all);
  if (targets.empty()) return {};
  std::vector<double> values;
  const Index at_once = model.shape().at_once(options.batch, all.length);
  for_parts(all, at_once, [&](const Batch& part, Index first) {
    targets.add(model.forward(part, {}, {.interventions = options.interventions}), part, first, 1,
                values);
  });
  AgainstReport report;
  report.add(targets, values, "");
  return report;
}

Table against_table(const std::vector<AgainstMeans>& means, bool by_place) {
  using Row = AgainstMeans;
  Fields<Row> fields;
  if (by_place) {
    fields.add(Column("place", "after", "sublayer after which the residual stream is read"),
               &Row::place);
  }
  fields.add(Column("target", "target", "name of the target").no_legend(), &Row::target);
  fields.add_part(
      change_fields("difference.", "difference",
                    "logit of the target less that of `against`, mean over targets in nats"),
      &Row::difference);
  fields.add(Column("above", "above", "share of targets whose logit is above that of `against`")
                 .fixed(4)
                 .mean_over("count"),
             &Row::above);
  fields.add(Column("count", "targets", "number of targets with an answer `against`")
                 .shown_as(Form::grouped)
                 .no_legend(),
             [](const Row& row) { return row.above.count(); });
  return fields.table({.name = "against", .title = "targets with an answer `against`"}, means);
}

Fields<AgainstRow> single_against_fields(bool by_place) {
  using Row = AgainstRow;
  Fields<Row> fields;
  fields.add(Column("example", "example", "its index among the held-out ones").no_legend(),
             &Row::example);
  fields.add(Column("line", "line", "its line in the file, from 1; in a .npz its index, from 0")
                 .no_legend(),
             &Row::line);
  fields.add(Column("position", "position", "position of the query, from 0").no_legend(),
             &Row::position);
  if (by_place) {
    fields.add(
        Column("place", "after", "sublayer after which the residual stream is read").no_legend(),
        &Row::place);
  }
  fields.add(Column("target", "target", "name of the target").no_legend(), &Row::target);
  fields.add(Column("answer", "answer", "the right output").no_legend(), &Row::answer);
  fields.add(Column("against", "against", "the output that it is compared with").no_legend(),
             &Row::against);
  fields.add(Column("difference", "difference", "logit of the first less that of the second, nats")
                 .no_legend(),
             &Row::difference);
  return fields;
}

Table single_against_table(const std::vector<AgainstRow>& rows, bool by_place) {
  return single_against_fields(by_place).table({.name = kSingleAgainst}, rows);
}

Table with_rows(Table table) {
  if (table.rows.empty()) {
    throw Error(text("cannot show ", kSingleAgainst, ": no held-out line has the key 'against'"),
                "`headlab show file` explains the key");
  }
  return table;
}

}  // namespace headlab
