// Scored queries, permuted ground truth, and the keys of scores without ground truth. If two
// relations share a ground-truth key, another head may already have the answer, so such queries are
// not disjoint. Relations of different kinds of attention have different keys and never share one.
// Read next: head_sums.cc.
#include "lab/heads/scores/scored_queries.h"

#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "headlab/core/base/threads.h"
#include "headlab/lab/heads/scores/activations.h"

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

/// Returns the offset that finds most disjoint queries of split A; the shortest of equals.
Index best_offset_of(const QuerySet& set) {
  std::map<Index, Index> matches;
  for (const EligibleQuery& query : set.queries) {
    for (const std::int32_t key : query.keys) {
      matches[key - query.t] += query.disjoint && split_of(query.b) == 0;
    }
  }
  Index best = 0, most = 0;
  for (const auto& [offset, count] : matches) {
    if (count > most || (count == most && std::abs(offset) < std::abs(best))) {
      best = offset;
      most = count;
    }
  }
  return best;
}

void fill_splits(QuerySet& set) {
  set.best_offset = best_offset_of(set);
  std::array<Index, 2> last = {-1, -1};  // example with a disjoint query
  for (EligibleQuery& query : set.queries) {
    QuerySet::Facts& split = set.splits[split_of(query.b)];
    ++split.all;
    query.offset_right = contains(query.keys, query.t + set.best_offset);
    query.nearest_right = contains(query.keys, query.nearest);
    if (!query.disjoint) continue;
    query.judged = split_of(query.b) == 1 ? split.disjoint : -1;
    ++split.disjoint;
    split.examples += std::exchange(last[split_of(query.b)], query.b) != query.b;
    split.offset_right += query.offset_right;
    split.nearest_right += query.nearest_right;
  }
}

/// Returns the cycles of a random permutation of [0, count): each item is followed by the item to
/// which it is mapped, the last by the first.
std::vector<std::vector<Index>> cycles_of(Index count, Generator random) {
  std::vector<Index> next(count);
  std::iota(next.begin(), next.end(), Index{0});
  random.shuffle(std::span(next));
  std::vector<char> is_done(count, 0);
  std::vector<std::vector<Index>> cycles;
  for (Index first = 0; first < count; ++first) {
    if (is_done[first]) continue;
    std::vector<Index>& cycle = cycles.emplace_back();
    for (Index item = first; !is_done[item]; item = next[item]) {
      cycle.push_back(item);
      is_done[item] = 1;
    }
  }
  return cycles;
}

/// For each example, the query whose ground truth is permuted with that of other examples; kNoQuery
/// if the example has none.
using Group = std::vector<Index>;
constexpr Index kNoQuery = -1;

/// Calls give(to, from) for each query of the group, where `from` is the query of the next example
/// on the cycle of `to`.
template <class Give>
void rotate(const Group& group, const std::vector<std::vector<Index>>& cycles, Give&& give) {
  std::vector<Index> queries;
  for (const std::vector<Index>& cycle : cycles) {
    queries.clear();
    for (const Index example : cycle) {
      if (group[example] != kNoQuery) queries.push_back(group[example]);
    }
    for (std::size_t i = 0; i < queries.size(); ++i) {
      give(queries[i], queries[(i + 1) % queries.size()]);
    }
  }
}

/// Draws `count` different keys of the visible ones, or all of them.
std::vector<std::int32_t> draw_keys(std::size_t count, SeenKeys seen, Generator& random) {
  std::set<std::int32_t> keys;
  while (keys.size() < std::min(count, static_cast<std::size_t>(seen.count()))) {
    keys.insert(static_cast<std::int32_t>(seen.first + random.below(seen.count())));
  }
  return {keys.begin(), keys.end()};
}

constexpr std::array<std::string_view, 11> kSeparators = {"|",     ".",    ",",    ";",
                                                          ":",     "\n",   "\\n",  "[SEP]",
                                                          "<sep>", "</s>", "<eos>"};

}  // namespace

bool QuerySet::has_fixed_keys() const {
  std::map<Index, std::span<const std::int32_t>> keys_of;  // by position of the query
  bool repeated = false;
  for (const EligibleQuery& query : queries) {
    const auto [known, is_new] = keys_of.emplace(query.t, query.keys);
    repeated = repeated || !is_new;
    if (!is_new && !std::ranges::equal(known->second, query.keys)) return false;
  }
  return repeated;
}

QueryRange QuerySet::range_of(Index first, Index end) const {
  const auto from = std::ranges::lower_bound(queries, first, {}, &EligibleQuery::b);
  const auto to = std::ranges::lower_bound(from, queries.end(), end, {}, &EligibleQuery::b);
  return {static_cast<std::size_t>(from - queries.begin()),
          static_cast<std::size_t>(to - queries.begin())};
}

std::span<const EligibleQuery> QuerySet::of(Index first, Index end) const {
  const QueryRange range = range_of(first, end);
  return std::span(queries).subspan(range.first, range.end - range.first);
}

Index widest_window(const HeadedModel& model, AttentionKind kind) {
  Index widest = 0;
  for (const AttentionLayer& attention_layer : model.attention_layers()) {
    if (attention_layer.kind != kind || attention_layer.attention->heads.empty()) continue;
    if (attention_layer.window == 0) return 0;
    widest = std::max(widest, attention_layer.window);
  }
  return widest;
}

QuerySet relation_queries(const Example& example, const std::vector<Relation>& relations,
                          std::size_t r, bool causal, Index window) {
  QuerySet set{.kind = relations[r].kind, .positional = relations[r].positional};
  const Mask mask{example.batch, set.kind, causal, window};
  const GroundTruth* candidates = example.candidates.empty() ? nullptr : &example.candidates[r];
  set.has_candidates = candidates != nullptr && candidates->queries() > 0;
  for (Index i = 0; i < example.truth[r].queries(); ++i) {
    const auto [b, t, keys] = example.truth[r].query(i);
    if (mask.visible(b, t) < 1) continue;  // there is no source to look at
    bool disjoint = true;
    for (std::size_t other = 0; other < relations.size(); ++other) {
      disjoint = disjoint && (other == r || relations[other].kind != set.kind ||
                              !share_a_key(keys, example.truth[other].keys(b, t)));
    }
    set.queries.push_back({b, t, keys, mask.seen(b, t), disjoint});
    if (set.has_candidates) set.queries.back().nearest = nearest_of(candidates->keys(b, t), t);
  }
  fill_splits(set);
  return set;
}

QuerySet lone_queries(const GroundTruth& truth, const Mask& mask) {
  QuerySet set{.kind = mask.kind, .positional = true};
  for (Index i = 0; i < truth.queries(); ++i) {
    const auto [b, t, keys] = truth.query(i);
    set.queries.push_back({b, t, keys, mask.seen(b, t)});
  }
  fill_splits(set);
  return set;
}

PermutedTruth::PermutedTruth(const QuerySet& set, Index permutations, Key key)
    : permutations_(permutations) {
  std::vector<EligibleQuery> judged;
  std::ranges::copy_if(set.queries, std::back_inserter(judged),
                       [](const EligibleQuery& query) { return query.judged >= 0; });
  set_of_.resize(judged.size() * permutations);
  single_ = std::ranges::all_of(judged, [](const auto& query) { return query.keys.size() == 1; });
  set.positional ? redraw(judged, key) : exchange(judged, key);
  different_ = count_different(judged);
}

std::shared_ptr<const PermutedTruth> PermutedTruth::of(const QuerySet& set, Index permutations,
                                                       Key key) {
  std::vector<Index> drawn_from = {permutations, set.positional};
  for (const EligibleQuery& query : set.queries) {
    if (query.judged < 0) continue;
    drawn_from.insert(drawn_from.end(),
                      {query.b, query.t, query.seen.first, query.seen.end, std::ssize(query.keys)});
    drawn_from.insert(drawn_from.end(), query.keys.begin(), query.keys.end());
  }
  struct Drawn {
    std::vector<Index> from;
    std::shared_ptr<const PermutedTruth> truth;
  };
  thread_local std::map<std::uint64_t, Drawn> kept;
  auto& [from, truth] = kept[key.fold(permutations).value];
  if (truth == nullptr || from != drawn_from) {
    truth = std::make_shared<PermutedTruth>(set, permutations, key);
    from = std::move(drawn_from);
  }
  return truth;
}

/// Calls f(p) for all permutations, in blocks whose sets are side by side.
template <class F>
void PermutedTruth::for_blocks(F&& f) const {
  constexpr Index kBlock = 64;
  parallel_for((permutations_ + kBlock - 1) / kBlock, [&](Index block) {
    f(block * kBlock, std::min(permutations_, (block + 1) * kBlock));
  });
}

void PermutedTruth::exchange(const std::vector<EligibleQuery>& judged, Key key) {
  std::map<std::pair<Index, Index>, Group> groups;
  const Index examples = judged.empty() ? 0 : judged.back().b + 1;
  for (Index j = 0; j < std::ssize(judged); ++j) {
    add_set(judged[j].keys);
    Group& group = groups[{judged[j].t, judged[j].seen.end}];
    group.resize(examples, kNoQuery);
    group[judged[j].b] = j;
  }
  for_blocks([&](Index begin, Index end) {
    for (Index p = begin; p < end; ++p) {
      const auto cycles = cycles_of(examples, Generator(key.fold(p)));
      for (const auto& [place, group] : groups) {
        rotate(group, cycles, [&](Index to, Index from) {
          set_of_[to * permutations_ + p] = single_ ? keys_[from] : static_cast<std::int32_t>(from);
        });
      }
    }
  });
}

void PermutedTruth::redraw(const std::vector<EligibleQuery>& judged, Key key) {
  Index most = 0;
  for (const EligibleQuery& query : judged) most = std::max(most, query.seen.end);
  for (std::int32_t k = 0; k < most; ++k) add_set(std::span(&k, 1));  // set k is {k}
  const auto draw = [&](Index j) {
    const EligibleQuery& query = judged[j];
    Generator random(key.fold(j));
    for (Index p = 0; p < permutations_; ++p) {
      const Index set =
          single_ ? query.seen.first + random.below(query.seen.count()) : std::ssize(begins_) - 1;
      set_of_[j * permutations_ + p] = static_cast<std::int32_t>(set);
      if (!single_) add_set(draw_keys(query.keys.size(), query.seen, random));
    }
  };
  if (single_) parallel_for(std::ssize(judged), draw);
  for (Index j = 0; j < std::ssize(judged) && !single_; ++j) draw(j);
}

void PermutedTruth::add_set(std::span<const std::int32_t> keys) {
  keys_.insert(keys_.end(), keys.begin(), keys.end());
  begins_.push_back(static_cast<std::uint32_t>(keys_.size()));
}

void PermutedTruth::add_masses(Index judged, const Scalar* weights, std::span<double> sums) const {
  const std::int32_t* single = set_of_.data() + judged * permutations_;
  for (std::size_t p = 0; p < sums.size(); ++p) {
    sums[p] += single_ ? static_cast<double>(weights[single[p]])
                       : mass_on(keys(judged, static_cast<Index>(p)), weights);
  }
}

Index PermutedTruth::count_different(const std::vector<EligibleQuery>& judged) const {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;
  const auto add = [](std::uint64_t& hash, std::span<const std::int32_t> keys) {  // FNV-1a
    for (const std::int32_t key : keys) hash = (hash ^ static_cast<std::uint64_t>(key)) * kPrime;
  };
  std::uint64_t truth = kBasis;
  for (const EligibleQuery& query : judged) add(truth, query.keys);
  std::vector<std::uint64_t> hashes(permutations_, kBasis);
  for_blocks([&](Index begin, Index end) {
    for (Index j = 0; j < std::ssize(judged); ++j) {
      for (Index p = begin; p < end; ++p) add(hashes[p], keys(j, p));
    }
  });
  std::set<std::uint64_t> seen(hashes.begin(), hashes.end());
  seen.erase(truth);
  return static_cast<Index>(seen.size());
}

std::vector<TokenFacts> facts_of(const Batch& batch, const Task& task) {
  std::vector<TokenFacts> facts(task.shape().vocab);
  for (Index b = 0; b < batch.size; ++b) {
    for (Index t = 0; t < batch.length_of(b); ++t) ++facts[batch.token(b, t)].count;
    for (Index s = 0; s < batch.source_length_of(b); ++s) ++facts[batch.source_token(b, s)].count;
  }
  for (std::size_t token = 0; token < facts.size(); ++token) {
    const std::string shown = task.token_text(static_cast<std::int32_t>(token));
    facts[token].separator = std::ranges::find(kSeparators, shown) != kSeparators.end();
  }
  return facts;
}

void for_pattern_queries(const Mask& mask, std::span<const TokenFacts> facts,
                         const std::function<void(Index, const PatternQuery&)>& visit) {
  const auto count_of = [&](std::int32_t token) { return facts[token].count; };
  for (Index b = 0; b < mask.batch.size; ++b) {
    const auto queries = query_tokens(mask.batch, mask.kind, b);
    const auto keys = key_tokens(mask.batch, mask.kind, b);
    for (Index t = 0; t < std::ssize(queries); ++t) {
      const auto visible = keys.first(mask.visible(b, t));
      if (visible.size() < 2) continue;  // there is no choice
      visit(b, {.t = t,
                .token = queries[t],
                .keys = visible,
                .same_sequence = mask.kind != AttentionKind::cross,
                .facts = facts,
                .rarest = count_of(std::ranges::min(visible, {}, count_of))});
    }
  }
}

GroundTruth pattern_truth(const ScoreEntry& score, const Mask& mask,
                          std::span<const TokenFacts> facts) {
  GroundTruth truth;
  for_pattern_queries(mask, facts, [&](Index b, const PatternQuery& query) {
    std::vector<std::int32_t> wanted;
    for (Index s = 0; s < std::ssize(query.keys); ++s) {
      if (score.from.weight(query, s) > 0) wanted.push_back(static_cast<std::int32_t>(s));
    }
    if (!wanted.empty() && wanted.size() < query.keys.size()) truth.add(b, query.t, wanted);
  });
  return truth;
}

}  // namespace headlab
