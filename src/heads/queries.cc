// One walk over the gold of a relation. Where the gold of two relations meets, another head may
// hold the answer already, so such queries are set apart; relations of another kind of attention
// number other keys and never meet. Read next: evidence.cc.
#include "heads/queries.h"

#include <algorithm>
#include <map>

namespace headlab {
namespace {

using Keys = std::span<const std::int32_t>;

bool share_a_key(Keys a, Keys b) { return std::ranges::find_first_of(a, b) != a.end(); }

bool contains(Keys keys, Index key) { return std::ranges::find(keys, key) != keys.end(); }

Index nearest_of(Keys candidates, Index t) {
  const auto nearest =
      std::ranges::min_element(candidates, {}, [t](std::int32_t key) { return std::abs(key - t); });
  return nearest == candidates.end() ? -1 : *nearest;
}

/// The offset that finds most disjoint queries of split A; the shortest of equals.
Index best_offset_of(const QuerySet& set) {
  std::map<Index, Index> hits;
  for (const EligibleQuery& query : set.queries)
    for (const std::int32_t key : query.keys)
      hits[key - query.t] += query.disjoint && split_of(query.b) == 0;
  Index best = 0, most = 0;
  for (const auto& [offset, count] : hits)
    if (count > most || (count == most && std::abs(offset) < std::abs(best)))
      best = offset, most = count;
  return best;
}

void fill_splits(QuerySet& set) {
  set.best_offset = best_offset_of(set);
  for (EligibleQuery& query : set.queries) {
    QuerySet::Facts& split = set.splits[split_of(query.b)];
    ++split.all;
    query.offset_right = contains(query.keys, query.t + set.best_offset);
    query.nearest_right = contains(query.keys, query.nearest);
    if (!query.disjoint) continue;
    query.judged = split_of(query.b) == 1 ? split.disjoint : -1;
    ++split.disjoint;
    split.uniform += static_cast<double>(query.keys.size()) / static_cast<double>(query.visible);
    split.offset_right += query.offset_right;
    split.nearest_right += query.nearest_right;
  }
  for (QuerySet::Facts& split : set.splits)
    split.uniform /= static_cast<double>(std::max<Index>(1, split.disjoint));
}

}  // namespace

std::span<const EligibleQuery> QuerySet::of(Index first, Index end) const {
  const auto from = std::ranges::lower_bound(queries, first, {}, &EligibleQuery::b);
  return {from, std::ranges::lower_bound(from, queries.end(), end, {}, &EligibleQuery::b)};
}

QuerySet relation_queries(const Example& example, const std::vector<Relation>& relations,
                          std::size_t r, bool causal) {
  QuerySet set{.kind = relations[r].kind, .positional = relations[r].positional};
  const Sight sight{example.batch, set.kind, causal};
  const Gold* candidates = example.candidates.empty() ? nullptr : &example.candidates[r];
  set.has_candidates = candidates != nullptr && candidates->queries() > 0;
  for (Index i = 0; i < example.gold[r].queries(); ++i) {
    const auto [b, t, keys] = example.gold[r].query(i);
    if (sight.visible(b, t) < 1) continue;  // there is no source to look at
    bool disjoint = true;
    for (std::size_t other = 0; other < relations.size(); ++other) {
      disjoint = disjoint && (other == r || relations[other].kind != set.kind ||
                              !share_a_key(keys, example.gold[other].keys(b, t)));
    }
    set.queries.push_back({b, t, keys, sight.visible(b, t), disjoint});
    if (set.has_candidates) set.queries.back().nearest = nearest_of(candidates->keys(b, t), t);
  }
  fill_splits(set);
  return set;
}

QuerySet lone_queries(const Gold& gold, const Sight& sight) {
  QuerySet set{.kind = sight.kind, .positional = true};
  for (Index i = 0; i < gold.queries(); ++i) {
    const auto [b, t, keys] = gold.query(i);
    set.queries.push_back({b, t, keys, sight.visible(b, t)});
  }
  fill_splits(set);
  return set;
}

}  // namespace headlab
