// Gathering evidence: one walk over the gold of each relation and one over all rows of the
// patterns. Sums are kept in double, apart for the even and the odd examples, and turned into
// scores only at the end (scores.cc), so that memory does not grow with the number of examples.
#include "heads/evidence.h"

#include <algorithm>
#include <cmath>

namespace headlab::inline HEADLAB_SCALAR {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Whether another relation asked at (b, t) shares a gold key.
bool collides(const Example& example, std::size_t r, const Gold::Query& query) {
  for (std::size_t other = 0; other < example.gold.size(); ++other) {
    const auto keys =
        other == r ? std::span<const std::int32_t>() : example.gold[other].keys(query.b, query.t);
    const bool shared = std::any_of(query.keys.begin(), query.keys.end(), [&](std::int32_t key) {
      return std::find(keys.begin(), keys.end(), key) != keys.end();
    });
    if (shared) {
      return true;
    }
  }
  return false;
}

/// Calls visit(index of the head, its row of weights for (b, t)) for every head of every module.
template <class Visit>
void for_head_rows(const ModelCaptures& captures, Index b, Index t, Visit&& visit) {
  std::size_t index = 0;
  for (const AttentionCaptures& module : captures.attention) {
    if (!module.pattern.defined()) {
      continue;
    }
    const Shape& shape = module.pattern.shape();  // [B, H, T, S]
    for (Index h = 0; h < shape[1]; ++h) {
      const Index row = (b * shape[1] + h) * shape[2] + t;
      visit(index++, std::span<const Scalar>(module.pattern.data() + row * shape[3], at(shape[3])));
    }
  }
}

double entropy_of(std::span<const Scalar> weights) {
  double entropy = 0;
  for (const Scalar w : weights) {
    entropy -= w > 0 ? static_cast<double>(w) * std::log(static_cast<double>(w)) : 0;
  }
  return entropy;
}

}  // namespace

Evidence::Evidence(Index heads, std::size_t relations, Index length, bool causal)
    : length_(length), causal_(causal) {
  for (SplitEvidence& split : splits_) {
    split.relations.assign(relations, RelationEvidence(length));
    split.heads.assign(at(heads), HeadEvidence(relations, length));
  }
}

Index Evidence::visible(const Batch& batch, Index b, Index t) const {
  const Index keys = batch.length_of(b);
  return causal_ ? std::min(keys, t + 1) : keys;
}

void Evidence::add(const Example& example, Index first, Index end, const ModelCaptures& captures) {
  const Pass pass{first, end, captures};
  for (std::size_t r = 0; r < example.gold.size(); ++r) {
    add_relation(example, r, pass);
  }
  add_patterns(example.batch, pass);
}

void Evidence::add_relation(const Example& example, std::size_t r, const Pass& pass) {
  for (Index i = 0; i < example.gold[r].queries(); ++i) {
    const Gold::Query query = example.gold[r].query(i);
    if (query.b < pass.first || query.b >= pass.end) {
      continue;
    }
    SplitEvidence& split = split_of(query.b);
    RelationEvidence& relation = split.relations[r];
    const bool disjoint = !collides(example, r, query);
    ++relation.queries_all;
    if (disjoint) {
      ++relation.queries;
      relation.uniform += static_cast<double>(query.keys.size()) /
                          static_cast<double>(visible(example.batch, query.b, query.t));
      for (const std::int32_t key : query.keys) {
        ++relation.offset_hits[at(key - query.t + length_)];
        ++relation.gold_at[at(query.t * length_ + key)];
      }
    }
    const auto add_head = [&](std::size_t h, std::span<const Scalar> weights) {
      const auto largest = std::max_element(weights.begin(), weights.end()) - weights.begin();
      double mass = 0, hit = 0;
      for (const std::int32_t key : query.keys) {
        mass += static_cast<double>(weights[at(key)]);
        hit += key == largest;
      }
      split.heads[h].mass_all[r] += mass;
      split.heads[h].mass[r] += disjoint ? mass : 0;
      split.heads[h].top1[r] += disjoint ? hit : 0;
    };
    for_head_rows(pass.captures, query.b - pass.first, query.t, add_head);
  }
}

void Evidence::add_patterns(const Batch& batch, const Pass& pass) {
  for (Index b = pass.first; b < pass.end; ++b) {
    SplitEvidence& split = split_of(b);
    for (Index t = 0; t < batch.length_of(b); ++t) {
      ++split.rows;
      split.log_visible += std::log(static_cast<double>(visible(batch, b, t)));
      const auto add_head = [&](std::size_t h, std::span<const Scalar> weights) {
        HeadEvidence& head = split.heads[h];
        head.entropy += entropy_of(weights);
        ++head.pattern_rows[at(t)];
        for (std::size_t s = 0; s < weights.size(); ++s) {
          head.pattern[at(t * length_) + s] += static_cast<double>(weights[s]);
        }
      };
      for_head_rows(pass.captures, b - pass.first, t, add_head);
    }
  }
}

}  // namespace headlab::inline HEADLAB_SCALAR
