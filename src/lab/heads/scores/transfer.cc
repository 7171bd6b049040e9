// Both runs have the same heads, because `train --from` keeps the architecture. The run before is
// opened again; its weights must be those that the training began with.
// Read next: scores.cc.
#include "headlab/lab/heads/scores/transfer.h"

#include <algorithm>
#include <cmath>

#include "headlab/core/base/error.h"
#include "headlab/lab/heads/scores/scores.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {
namespace {

using Role = TransferredHead::Role;

/// Returns the role of each head: the relation that it owns, otherwise the one with the largest
/// lift.
std::vector<Role> roles_of(const HeadsReport& report) {
  std::vector<Role> roles(report.heads.size());
  for (std::size_t h = 0; h < roles.size(); ++h) {
    roles[h].lift = kUndefined;
    for (std::size_t r = 0; r < report.relations.size(); ++r) {
      const RelationScore& score = report.heads[h].relations[r];
      const bool owned = report.relations[r].owned && report.relations[r].best == h;
      if (!std::isfinite(score.lift) || (roles[h].owned && !owned)) continue;
      const bool is_better = !std::isfinite(roles[h].lift) || score.lift > roles[h].lift;
      if (is_better || (owned && !roles[h].owned)) {
        roles[h] = {report.relations[r].relation.name, score.lift, owned};
      }
    }
  }
  return roles;
}

Run run_before(const Run& run) {
  const std::string& from = run.config.from;
  if (from.empty()) {
    throw Error(text("cannot compare roles: ", run.path.string(),
                     " did not begin with the weights of another run"),
                "train one with `headlab train --from RUN --task TASK`");
  }
  Run before = open_run(from);
  if (weights_hash(before.model) != run.config.from_weights) {
    throw Error(text("cannot compare roles: ", from, " has other weights than those that ",
                     run.path.string(), " began with"),
                "restore that run, or train from it again");
  }
  return before;
}

/// Returns the columns of a role at `when`, with titles that end in it.
Fields<Role> role_fields(const std::string& when) {
  Fields<Role> fields;
  fields.add(Column(when + ".relation", "role " + when, "the relation with the largest lift"),
             [](const Role& role) { return role.relation.empty() ? Json() : Json(role.relation); });
  fields.add(Column(when + ".lift", "lift " + when,
                    "attention mass normalised by the baseline, (mass - baseline) / (1 - baseline)")
                 .fixed(2),
             &Role::lift);
  fields.add(
      Column(when + ".owned", "owner " + when, "whether the head owns the relation").no_legend(),
      &Role::owned);
  return fields;
}

}  // namespace

TransferReport find_transfer(const Run& run, Index examples) {
  const Run before = run_before(run);
  const HeadsOptions options{.examples = examples, .without_truth = false};
  const HeadsReport now = score_heads(run.model, *run.task, options);
  const std::vector<Role> first = roles_of(score_heads(before.model, *before.task, options));
  const std::vector<Role> second = roles_of(now);
  TransferReport report{.attention = now.attention,
                        .from = run.config.from,
                        .task_before = before.config.task,
                        .task_after = run.config.task,
                        .examples = now.examples};
  const std::vector<HeadId> heads = all_heads(run.model);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    report.heads.push_back({heads[h], first[h], second[h]});
  }
  return report;
}

Result result_of(const TransferReport& report) {
  Fields<TransferredHead> fields;
  fields.add(kHeadColumn, &TransferredHead::head);
  fields.add_part(role_fields("before"), &TransferredHead::before);
  fields.add_part(role_fields("after"), &TransferredHead::after);
  fields.add(Column("kept", "kept", "whether the head owns the same relation in both runs"),
             &TransferredHead::kept);
  const auto kept = std::ranges::count_if(report.heads, &TransferredHead::kept);
  const auto owners = std::ranges::count_if(report.heads, [](const TransferredHead& head) {
    return head.before.owned;
  });
  Table table = fields.table({.name = "heads"}, report.heads);
  if (!report.from.empty()) {
    table.note = text(kept, " of ", owners, " owners keep their relation from ", report.from);
  }
  return {.about = stamped({{"attention", report.attention},
                            {"from", report.from},
                            {"task_before", report.task_before},
                            {"task_after", report.task_after},
                            {"examples", report.examples}}),
          .tables = {table}};
}

}  // namespace headlab
