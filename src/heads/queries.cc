// One walk over the gold of a relation. Where the gold of two relations meets, another head may
// hold the answer already, so such queries are set apart; relations of another kind of attention
// number other keys and never meet. Read next: evidence.cc.
#include "heads/queries.h"

#include <algorithm>
#include <map>

namespace headlab::inline HEADLAB_SCALAR {
namespace {

bool share_a_key(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

bool contains(std::span<const std::int32_t> keys, Index key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// The offset that finds most disjoint queries of split A; the nearest of equals.
Index best_offset_of(const QuerySet& set) {
  std::map<Index, Index> hits;
  for (const EligibleQuery& query : set.queries) {
    for (const std::int32_t key : query.keys) {
      hits[key - query.t] += query.disjoint && split_of(query.b) == 0;
    }
  }
  Index best = 0, most = 0;
  for (const auto& [offset, count] : hits) {
    if (count > most || (count == most && std::abs(offset) < std::abs(best))) {
      best = offset, most = count;
    }
  }
  return best;
}

void fill_splits(QuerySet& set) {
  set.best_offset = best_offset_of(set);
  for (EligibleQuery& query : set.queries) {
    QuerySet::Split& split = set.splits[split_of(query.b)];
    ++split.all;
    if (!query.disjoint) {
      continue;
    }
    query.judged = split_of(query.b) == 1 ? split.disjoint : -1;
    ++split.disjoint;
    split.uniform += static_cast<double>(query.keys.size()) / static_cast<double>(query.visible);
    split.offset += contains(query.keys, query.t + set.best_offset);
  }
  for (QuerySet::Split& split : set.splits) {
    const double count = static_cast<double>(std::max<Index>(1, split.disjoint));
    split.uniform /= count, split.offset /= count;
  }
}

}  // namespace

Index Sight::visible(Index b, Index t) const {
  const Index keys = batch.length_of(b);
  return causal ? std::min(keys, t + 1) : keys;
}

std::span<const EligibleQuery> QuerySet::of(Index first, Index end) const {
  const auto before = [](const EligibleQuery& query, Index b) { return query.b < b; };
  const auto from = std::lower_bound(queries.begin(), queries.end(), first, before);
  return {from, std::lower_bound(from, queries.end(), end, before)};
}

QuerySet queries_of(const Example& example, const std::vector<Relation>& relations, std::size_t r,
                    bool causal) {
  QuerySet set{relations[r].kind, relations[r].positional, {}, {}, 0};
  const Sight sight{example.batch, set.kind, causal};
  for (Index i = 0; i < example.gold[r].queries(); ++i) {
    const Gold::Query query = example.gold[r].query(i);
    bool disjoint = true;
    for (std::size_t other = 0; other < relations.size(); ++other) {
      disjoint = disjoint && (other == r || relations[other].kind != set.kind ||
                              !share_a_key(query.keys, example.gold[other].keys(query.b, query.t)));
    }
    set.queries.push_back(
        {query.b, query.t, query.keys, sight.visible(query.b, query.t), disjoint, -1});
  }
  fill_splits(set);
  return set;
}

}  // namespace headlab::inline HEADLAB_SCALAR
