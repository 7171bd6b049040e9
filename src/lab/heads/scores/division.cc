// Distribution of a relation over heads. At each query, every participating head has a share of the
// mass that all of them give to the ground-truth keys. If classes of queries split the relation,
// the mean shares of a class on one half of the examples predict the shares of its queries on the
// other half. Read next: scores.cc.
#include "lab/heads/scores/head_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"
#include "headlab/core/train/evaluate.h"
#include "headlab/lab/heads/causes/truth_edges.h"
#include "headlab/lab/heads/scores/activations.h"

namespace headlab {
namespace {

constexpr const char* kClassKinds[] = {"token of the key", "token of the query", "position",
                                       "distance", "example"};
constexpr std::size_t kClassKindCount = std::size(kClassKinds), kExample = kClassKindCount - 1;
constexpr Index kShuffles = 199;

/// Counted query with the shares of the heads.
struct SharedQuery {
  std::size_t place;  // index among all positions [B, T]
  std::array<Index, kClassKindCount> classes;
  bool judged;  // on split B
  bool second;  // every second query of its example
  bool found;   // whether the largest weight of one of the heads is on a ground-truth key
  std::vector<double> mass, part;  // by head: its mass, and its share of their sum
  double weight;                   // that sum
};

std::vector<SharedQuery> shared_queries(const ScoredHeads& scored, std::size_t r,
                                        const std::vector<std::size_t>& heads) {
  const QuerySet& set = scored.gathered.scored()[r].set;
  std::vector<SharedQuery> queries;
  bool second = false;
  const Batch& batch = scored.example.batch;
  for (std::size_t i = 0; i < set.queries.size(); ++i) {
    const EligibleQuery& query = set.queries[i];
    if (!query.disjoint) continue;
    const Index key = query.keys[0];
    second = !second;
    SharedQuery one{.place = static_cast<std::size_t>(query.b * batch.length + query.t),
                    .classes = {key_tokens(batch, set.kind, query.b)[key],
                                query_tokens(batch, set.kind, query.b)[query.t], query.t,
                                key - query.t, query.b},
                    .judged = split_of(query.b) == 1,
                    .second = second,
                    .found = false,
                    .mass = {},
                    .part = {},
                    .weight = 0};
    for (const std::size_t h : heads) {
      const auto& [mass, top1] = scored.gathered.heads()[h].matches[r].by_query[i];
      one.mass.push_back(static_cast<double>(mass));
      one.found = one.found || top1;
      one.weight += one.mass.back();
    }
    for (const double mass : one.mass) one.part.push_back(mass / std::max(one.weight, 1e-12));
    queries.push_back(std::move(one));
  }
  return queries;
}

/// Sums of weighted shares, for a class or for all queries.
struct Parts {
  std::vector<double> sum;
  double weight = 0;

  void add(const SharedQuery& query) {
    sum.resize(query.part.size());
    for (std::size_t h = 0; h < sum.size(); ++h) sum[h] += query.weight * query.part[h];
    weight += query.weight;
  }
  double mean(std::size_t h) const { return sum[h] / weight; }
};

/// Returns the squared distance of a query's shares from the means, weighted.
double error_of(const SharedQuery& query, const Parts& all, const Parts* known) {
  double squares = 0;
  for (std::size_t h = 0; h < query.part.size(); ++h) {
    // A class of little weight is unreliable: it is shrunk by one more query with the mean of all.
    const double mean =
        known == nullptr ? all.mean(h) : (known->sum[h] + all.mean(h)) / (known->weight + 1);
    squares += (query.part[h] - mean) * (query.part[h] - mean);
  }
  return query.weight * squares;
}

/// Returns the standard deviation of the shares on split B.
double spread_of(const std::vector<SharedQuery>& queries) {
  Parts all;
  double squares = 0;
  for (const SharedQuery& query : queries) {
    if (query.judged) all.add(query);
  }
  for (const SharedQuery& query : queries) {
    if (query.judged) squares += error_of(query, all, nullptr);
  }
  return std::sqrt(squares / (all.weight * static_cast<double>(all.sum.size())));
}

/// Returns the share of the variance on one split that classes of one kind explain, and its p.
Division::Kind explained_by(std::size_t kind, const std::vector<SharedQuery>& queries,
                            bool on_judged, Index shuffles) {
  const auto is_example = kind == kExample;
  const auto judged = [&](const SharedQuery& query) {
    return query.judged == on_judged && (!is_example || query.second);
  };
  const auto learned = [&](const SharedQuery& query) {
    return is_example ? query.judged == on_judged && !query.second : query.judged != on_judged;
  };
  Parts all;
  std::map<Index, Parts> by_class;
  std::vector<const SharedQuery*> scored;
  std::vector<Index> classes;
  for (const SharedQuery& query : queries) {
    if (learned(query)) all.add(query), by_class[query.classes[kind]].add(query);
    if (judged(query)) scored.push_back(&query), classes.push_back(query.classes[kind]);
  }
  Division::Kind result{kClassKinds[kind]};
  if (all.weight <= 0 || scored.empty()) return result;
  double whole = 0;
  for (const SharedQuery* query : scored) whole += error_of(*query, all, nullptr);
  const auto explained = [&] {
    double left = 0;
    for (std::size_t i = 0; i < scored.size(); ++i) {
      const auto known = by_class.find(classes[i]);
      left += error_of(*scored[i], all, known == by_class.end() ? nullptr : &known->second);
    }
    return whole > 0 ? 1 - left / whole : 0;
  };
  result.explained = explained();
  Index reached = 0;
  Generator random(Key{}.fold("classes").fold(kind));
  for (Index shuffle = 0; shuffle < shuffles; ++shuffle) {
    random.shuffle(std::span(classes));
    reached += explained() >= result.explained;
  }
  result.p = ratio(1 + reached, 1 + shuffles);
  return result;
}

/// Returns the participating heads; fewer than two if the relation is not shared.
std::vector<std::size_t> sharing_heads(const HeadsReport& report, std::size_t r) {
  const double best = report.best_score(r).lift;
  if (!(best < Division::kAlone)) return {};
  const double least = std::max(Division::kLeastLift, Division::kLeastPart * best);
  std::vector<std::size_t> heads;
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    const HeadScores& head = report.heads[h];
    if (head.relations[r].lift >= least && head.chosen_on[r].lift >= least &&
        head.relations[r].p_permuted < kOwnerP) {
      heads.push_back(h);
    }
  }
  return heads;
}

/// Returns the losses of all positions [B, T] with these heads, on the targets of `examples`.
std::vector<double> losses_with(const HeadedModel& model, const HeadSet& kept,
                                const Batch& examples) {
  constexpr Index kBatch = 64;
  const NoGrad no_grad;
  std::vector<double> losses;
  for_parts(examples, kBatch, [&](const Batch& part, Index) {
    const Tensor logits = model.forward(part, {}, {.interventions = gates_for(model, kept)});
    const Tensor at = target_losses(logits, part);  // [B, T, K]
    for (Index i = 0; i < at.count(); ++i) {
      if (i % at.size(2) == 0) losses.push_back(0);
      losses.back() += static_cast<double>(at.data()[i]);
    }
  });
  return losses;
}

/// Returns the increase of these losses when each of the heads is ablated, on the relation's own
/// targets; empty if not requested, or if it has no such targets.
std::vector<std::vector<double>> rises_of(const ScoredHeads& scored, const Division& division) {
  const auto [examples, own] = targets_of(scored.task, scored.example, division.relation);
  std::vector<std::vector<double>> rises;
  if (!scored.rises || !own) return rises;
  const HeadSet all = all_heads(scored.model);
  const std::vector<double> whole = losses_with(scored.model, all, examples);
  for (const std::size_t h : division.heads) {
    const HeadSet kept = without(all, scored.report.heads[h]);
    rises.push_back(losses_with(scored.model, kept, examples));
    for (std::size_t i = 0; i < whole.size(); ++i) rises.back()[i] -= whole[i];
  }
  return rises;
}

std::vector<Division::Class> classes_of(const std::vector<SharedQuery>& queries, std::size_t kind,
                                        const std::vector<std::vector<double>>& rises,
                                        const Task& task) {
  std::map<Index, Division::Class> classes;
  for (const SharedQuery& query : queries) {
    if (!query.judged || kind == kExample) continue;
    const Index label = query.classes[kind];
    Division::Class& one = classes[label];
    one.name = kind < 2 ? task.token_text(static_cast<std::int32_t>(label)) : text(label);
    one.mass.resize(query.mass.size());
    one.rise.resize(rises.size());
    ++one.queries;
    for (std::size_t h = 0; h < one.mass.size(); ++h) one.mass[h] += query.mass[h];
    for (std::size_t h = 0; h < one.rise.size(); ++h) one.rise[h] += rises[h][query.place];
  }
  std::vector<Division::Class> all;
  for (auto& [label, one] : classes) {
    for (std::vector<double>* sums : {&one.mass, &one.rise}) {
      for (double& sum : *sums) sum = ratio(sum, one.queries);
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::optional<Division> division_of(const ScoredHeads& scored, std::size_t r) {
  Division division{.relation = r, .heads = sharing_heads(scored.report, r)};
  if (division.heads.size() < 2) return {};
  const std::vector<SharedQuery> queries = shared_queries(scored, r, division.heads);
  Mean together;
  for (const SharedQuery& query : queries) {
    if (query.judged) together.add(query.found ? 1 : 0);
  }
  division.together = together.or_nan();
  division.queries = together.count();
  division.spread = spread_of(queries);
  std::vector<double> chosen_on;
  for (std::size_t kind = 0; kind < kClassKindCount; ++kind) {
    division.kinds.push_back(explained_by(kind, queries, true, kShuffles));
    const double other = explained_by(kind, queries, false, 0).explained;
    chosen_on.push_back(std::isnan(other) ? -HUGE_VAL : other);
  }
  division.best = std::ranges::max_element(chosen_on) - chosen_on.begin();
  division.classes = classes_of(queries, division.best, rises_of(scored, division), scored.task);
  return division;
}

double agreement(const Division& a, const Division& b) {
  std::map<std::pair<std::size_t, std::size_t>, double> both;
  std::map<std::size_t, double> in_a, in_b;
  double classes = 0;
  const auto most = [](const auto& one) { return std::ranges::max_element(one) - one.begin(); };
  for (const Division::Class& one : a.classes) {
    const auto other = std::ranges::find(b.classes, one.name, &Division::Class::name);
    if (other == b.classes.end()) continue;
    const std::size_t i = most(one.mass), j = most(other->mass);
    ++both[{i, j}];
    ++in_a[i];
    ++in_b[j];
    ++classes;
  }
  const auto pairs = [](const auto& counts) {
    double sum = 0;
    for (const auto& [part, n] : counts) sum += n * (n - 1) / 2;
    return sum;
  };
  const double chance = pairs(in_a) * pairs(in_b) / std::max(classes * (classes - 1) / 2, 1.0);
  const double largest = (pairs(in_a) + pairs(in_b)) / 2;
  return largest > chance ? (pairs(both) - chance) / (largest - chance) : kUndefined;
}

const Division* HeadsReport::division_of(std::size_t r) const {
  const auto found = std::ranges::find(divisions, r, &Division::relation);
  return found != divisions.end() ? &*found : nullptr;
}

const char* HeadsReport::role(std::size_t h, std::size_t r) const {
  const RelationWinner& winner = relations[r];
  const Division* division = division_of(r);
  const bool is_in_division = division != nullptr && std::ranges::count(division->heads, h) > 0;
  if (is_in_division) return "shares";
  if (division == nullptr && winner.owned && winner.best == h) return "owner";
  return heads[h].relations[r].owns() ? "also" : "";
}

std::string HeadsReport::sentence(const Division& division) const {
  const auto rounded = [](double x) {
    if (std::isnan(x)) return std::string("-");
    return text(std::round(100 * x) / 100).substr(x > 0 && x < 0.995 ? 1 : 0);
  };
  std::vector<std::string> names =
      texts_of(division.heads, [&](std::size_t h) { return head_text(heads[h]); });
  const std::string last = names.back();
  names.pop_back();
  return text(join(names, ", "), " and ", last, " implement `",
              relations[division.relation].relation.name, "`: ", division.how(),
              division.by().empty()
                  ? ""
                  : text(" (", rounded(division.kinds[division.best].explained), " of it)"),
              ", together ", rounded(division.together));
}

}  // namespace headlab
