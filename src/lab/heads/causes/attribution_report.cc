// Contributions to logits, averaged over the held-out examples of a task. This is a separate file
// because attribution.cc, which needs no task, is also built and tested in double. Read next:
// attribution.cc.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "headlab/core/base/mean.h"
#include "headlab/core/base/text.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/data/lab_tasks.h"
#include "headlab/lab/heads/causes/attribution.h"
#include "headlab/lab/heads/causes/file_prompts.h"
#include "headlab/lab/heads/causes/paired.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {

namespace {

constexpr Index kAttributedBatch = 64;

/// Sums of shares by example, for each part and target.
class ShareSums {
 public:
  ShareSums(std::size_t targets, Index examples)
      : targets_(targets), examples_(static_cast<std::size_t>(examples)) {
    counts_.resize(targets_, std::vector<double>(examples_));
  }

  void add(const Attribution& found, const Batch& part, Index first) {
    sums_.resize(found.parts.size(),
                 std::vector<std::vector<double>>(targets_, std::vector<double>(examples_)));
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
      const Index row = found.rows[i];
      const auto k = static_cast<std::size_t>(row) % targets_;
      const auto example =
          static_cast<std::size_t>(first + row / part.targets_per_position / part.length);
      ++counts_[k][example];
      for (std::size_t p = 0; p < sums_.size(); ++p) sums_[p][k][example] += found.shares[p][i];
    }
  }

  /// Returns the mean share of a part per target, with its interval. Shares are not rounded to 0.
  PairedChange mean(std::size_t part, std::size_t k) const {
    if (examples_ < 2) {
      return {.change = Mean(sums_[part][k][0], count(k)).or_nan()};
    }
    const std::vector<double> none(examples_);
    return paired_change(sums_[part][k], none, counts_[k], {}, 0);
  }

  /// Returns the number of targets k in all examples.
  Index count(std::size_t k) const {
    return std::llround(std::accumulate(counts_[k].begin(), counts_[k].end(), 0.0));
  }

 private:
  std::size_t targets_, examples_;
  std::vector<std::vector<std::vector<double>>> sums_;  // [parts][targets][examples]
  std::vector<std::vector<double>> counts_;             // [targets][examples]
};

/// The examples of a report.
class AttributedExamples {
 public:
  AttributedExamples(const Task& task, Index examples)
      : own_(held_out_examples(task, examples).batch) {
    const AgainstTargets named(task, Split::validation, own_);
    if (named.empty()) return;
    std::ranges::fill(own_.targets, -1);
    against_ = own_;
    for (const Contrast& one : named.contrasts()) {
      own_.targets[static_cast<std::size_t>(one.row)] = static_cast<std::int32_t>(one.clean);
      against_->targets[static_cast<std::size_t>(one.row)] =
          static_cast<std::int32_t>(one.corrupted);
    }
  }

  bool has_against() const { return against_.has_value(); }
  /// Returns the answer that a target is compared with; -1 if there is none.
  std::int32_t against(Index row) const {
    return has_against() ? against_->targets[static_cast<std::size_t>(row)] : -1;
  }

  /// Calls use(part, its contributions, the index of its first example): contributions to the
  /// targets, less those to the answers that they are compared with.
  template <class Use>
  void for_each(const Transformer& model, const Use& use) const {
    for_parts(own_, kAttributedBatch, [&](const Batch& part, Index first) {
      if (part.target_count() == 0) return;
      Attribution found = attribute_logits(model, part);
      if (has_against()) {
        subtract(found, attribute_logits(model, against_->rows(first, first + part.size)));
      }
      use(part, found, first);
    });
  }

 private:
  static void subtract(Attribution& found, const Attribution& other) {
    for (std::size_t p = 0; p < found.shares.size(); ++p) {
      for (std::size_t i = 0; i < found.shares[p].size(); ++i) {
        found.shares[p][i] -= other.shares[p][i];
      }
    }
  }

  Batch own_;
  std::optional<Batch> against_{};  // the same, with the answers `against` as targets
};

/// The contribution of one part to one target of an example.
struct AttributedPart {
  Index example = 0, position = 0;
  std::optional<std::int32_t> line;
  std::string target, answer;
  std::optional<std::string> against;
  std::string part;
  double share = 0;
};

Table attributed_table(const std::vector<AttributedPart>& rows) {
  using Row = AttributedPart;
  Fields<Row> fields;
  fields.add(Column("example", "example", "its index among the held-out ones").no_legend(),
             &Row::example);
  fields.add(Column("line", "line",
                    "its line in the task's file, from 1; in a .npz its index, from 0")
                 .no_legend(),
             &Row::line);
  fields.add(Column("position", "position", "position of the query, from 0").no_legend(),
             &Row::position);
  fields.add(Column("target", "target", "name of the target").no_legend(), &Row::target);
  fields.add(Column("answer", "answer", "the right output").no_legend(), &Row::answer);
  fields.add(Column("against", "against", "the output whose share is subtracted").no_legend(),
             &Row::against);
  fields.add(Column("part", "part", "the embedding, a head, a bias or a network").no_legend(),
             &Row::part);
  fields.add(Column("share", "share",
                    "added to the right answer's logit above the mean logit or that of `against`")
                 .no_legend(),
             &Row::share);
  return fields.table({.name = "single_examples"}, rows);
}

}  // namespace

AttributionReport attribute_logits(const Transformer& model, const Task& task, Index examples) {
  AttributionReport report{.attention = attention_layer_names(model),
                           .targets = task.target_names(),
                           .examples = at_most_different(task, examples)};
  const std::size_t K = report.targets.size();
  ShareSums sums(K, report.examples);
  const AttributedExamples attributed(task, examples);
  if (attributed.has_against()) report.quantity = kAgainstQuantity;
  attributed.for_each(model, [&](const Batch& part, const Attribution& found, Index first) {
    report.parts = found.parts;
    sums.add(found, part, first);
  });
  report.logits.resize(K);
  for (std::size_t k = 0; k < K; ++k) report.counts.push_back(sums.count(k));
  for (std::size_t p = 0; p < report.parts.size(); ++p) {
    for (auto* all : {&report.shares, &report.low, &report.high}) all->emplace_back(K);
    for (std::size_t k = 0; k < K; ++k) {
      const PairedChange mean = sums.mean(p, k);
      report.shares[p][k] = mean.change;
      report.low[p][k] = mean.low;
      report.high[p][k] = mean.high;
      report.logits[k] += mean.change;
    }
  }
  return report;
}

Table attributed_examples(const Transformer& model, const Task& task, Index examples) {
  std::vector<AttributedPart> rows;
  const std::vector<std::string> names = task.target_names();
  const AttributedExamples attributed(task, examples);
  const std::vector<std::int32_t> lines =
      places_in_file(task, Split::validation, 0, at_most_different(task, examples)).of_examples;
  attributed.for_each(model, [&](const Batch& part, const Attribution& found, Index first) {
    const Index K = part.targets_per_position;
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
      const Index row = found.rows[i];
      AttributedPart one;
      one.example = first + row / K / part.length;
      one.position = row / K % part.length;
      if (!lines.empty()) one.line = lines[static_cast<std::size_t>(one.example)];
      one.target = names[static_cast<std::size_t>(row % K)];
      one.answer = task.answer_text(part.targets[static_cast<std::size_t>(row)]);
      const std::int32_t against = attributed.against(first * part.length * K + row);
      if (against >= 0) one.against = task.answer_text(against);
      for (std::size_t p = 0; p < found.parts.size(); ++p) {
        one.part = found.parts[p];
        one.share = found.shares[p][i];
        rows.push_back(one);
      }
    }
  });
  return attributed_table(rows);
}

Table attributed_examples_shape() { return attributed_table({}); }

static std::string title_of(const AttributionReport& report) {
  const bool is_usual = report.quantity.empty();
  const std::string title =
      "what each part adds to the " +
      (is_usual ? "right answer's logit above the mean logit" : report.quantity);
  if (report.is_prompt) return title;
  return title + ": mean, in logits, by target, with 95% intervals over examples";
}

Result result_of(const AttributionReport& report) {
  Fields<std::size_t> fields;  // a row is the index of a part
  fields.add({"name", "part", "the embedding, a head, a bias or a feed-forward network"},
             [&](std::size_t p) { return report.parts[p]; });
  std::vector<std::string> sums;
  for (std::size_t k = 0; k < report.targets.size(); ++k) {
    const std::string place = text(".", k);
    fields.add(element_column("shares", k, report.targets[k])
                   .of(CellKind::interval, {"shares" + place, "low" + place, "high" + place})
                   .fixed(3)
                   .mean_over("counts" + place),
               [&report, k](std::size_t p) {
                 return Interval{report.shares[p][k], report.low[p][k], report.high[p][k]};
               });
    const double all = report.logits[k];
    sums.push_back(text(report.targets[k], " ", std::isfinite(all) ? text(all) : "-"));
  }
  for (std::size_t k = 0; k < report.targets.size(); ++k) {
    fields.add(element_column("counts", k, "targets", "number of targets").hidden(),
               [&report, k](std::size_t) { return report.counts[k]; });
  }
  Table table{.name = "parts", .title = title_of(report)};
  if (!sums.empty()) table.note = "all parts together: " + join(sums, ", ");
  return {.about = stamped({{"attention", report.attention},
                            {"examples", report.examples},
                            {"targets", report.targets},
                            {"logits", report.logits}}),
          .tables = {fields.table(table, indices(report.parts.size()))}};
}

}  // namespace headlab
