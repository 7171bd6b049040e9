// The queries of one example are no independent witnesses: in a repeated segment each gold key is
// the one before it plus one. So one permutation of the examples serves all positions: where every
// example is eligible, whole examples exchange their gold; where some are not, the cycles close
// over those that are left, which is again a uniform permutation of them. Read next: evidence.cc.
#include "heads/permutations.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "headlab/base/threads.h"

namespace headlab {
namespace {

/// A permutation of [0, count), as the cycle that each item is in and its place there.
struct Cycles {
  struct Place {
    Index cycle, step;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  std::vector<Place> place;

  Cycles(Index count, Generator random) : place(count, Place{-1, 0}) {
    std::vector<std::size_t> next(place.size());
    std::iota(next.begin(), next.end(), std::size_t{0});
    random.shuffle(std::span(next));
    for (std::size_t first = 0; first < next.size(); ++first) {
      std::size_t item = first;
      for (Index step = 0; place[item].cycle < 0; item = next[item], ++step)
        place[item] = {static_cast<Index>(first), step};
    }
  }
};

/// Judged queries that may exchange their gold: their places, with their examples.
using Group = std::vector<std::pair<std::size_t, Index>>;

/// Calls give(to, from) for each query of the group: from is that of the next example on its cycle.
template <class Give>
void rotate(Group& group, const Cycles& cycles, Give&& give) {
  const auto place = [&](std::size_t i) { return cycles.place[group[i].second]; };
  std::ranges::sort(group, {}, [&](const auto& query) { return cycles.place[query.second]; });
  for (std::size_t i = 0, first = 0; i < group.size(); ++i) {
    const bool closes = i + 1 == group.size() || place(i + 1).cycle != place(i).cycle;
    give(group[i].first, group[closes ? first : i + 1].first);
    first = closes ? i + 1 : first;
  }
}

/// `count` different keys below `visible`, or all of them.
std::vector<std::int32_t> draw_keys(std::size_t count, Index visible, Generator& random) {
  std::set<std::int32_t> keys;
  while (keys.size() < std::min(count, static_cast<std::size_t>(visible)))
    keys.insert(static_cast<std::int32_t>(random.below(visible)));
  return {keys.begin(), keys.end()};
}

}  // namespace

PermutedGold::PermutedGold(const QuerySet& set, Index permutations, Key key)
    : permutations_(permutations) {
  std::vector<EligibleQuery> judged;
  std::ranges::copy_if(set.queries, std::back_inserter(judged),
                       [](const EligibleQuery& query) { return query.judged >= 0; });
  sets_.resize(judged.size() * permutations);
  set.positional ? redraw(judged, key) : exchange(judged, key);
  different_ = count_different(judged);
}

std::size_t PermutedGold::add_set(std::span<const std::int32_t> keys) {
  keys_.insert(keys_.end(), keys.begin(), keys.end());
  begin_.push_back(keys_.size());
  return begin_.size() - 2;
}

void PermutedGold::exchange(const std::vector<EligibleQuery>& judged, Key key) {
  std::map<std::pair<Index, Index>, Group> by_place;
  Index examples = 0;
  for (std::size_t j = 0; j < judged.size(); ++j) {
    add_set(judged[j].keys);
    by_place[{judged[j].t, judged[j].visible}].push_back({j, judged[j].b});
    examples = std::max(examples, judged[j].b + 1);
  }
  std::vector<Group> groups;
  for (auto& [place, group] : by_place) groups.push_back(std::move(group));
  for (Index p = 0; p < permutations_; ++p) {
    const Cycles cycles(examples, Generator(key.fold(p)));
    parallel_for(static_cast<Index>(groups.size()), [&](Index g) {
      rotate(groups[g], cycles, [&](std::size_t to, std::size_t from) {
        sets_[to * permutations_ + p] = static_cast<std::uint32_t>(from);
      });
    });
  }
}

void PermutedGold::redraw(const std::vector<EligibleQuery>& judged, Key key) {
  Generator random(key);
  Index most = 0;
  for (const EligibleQuery& query : judged) most = std::max(most, query.visible);
  for (std::int32_t single = 0; single < most; ++single)  // set k is {k}
    add_set({&single, 1});
  auto set = sets_.begin();
  for (const EligibleQuery& query : judged) {
    for (Index p = 0; p < permutations_; ++p, ++set) {
      const bool single = query.keys.size() == 1;
      *set = static_cast<std::uint32_t>(
          single ? static_cast<std::size_t>(random.below(query.visible))
                 : add_set(draw_keys(query.keys.size(), query.visible, random)));
    }
  }
}

Index PermutedGold::count_different(const std::vector<EligibleQuery>& judged) const {
  const auto hash_of = [&](const auto& keys_of) {  // FNV-1a, a key at a time
    std::uint64_t hash = 0xcbf29ce484222325;
    for (std::size_t j = 0; j < judged.size(); ++j)
      for (const std::int32_t key : keys_of(j))
        hash = (hash ^ static_cast<std::uint64_t>(key)) * 0x100000001b3;
    return hash;
  };
  const std::uint64_t truth = hash_of([&](std::size_t j) { return judged[j].keys; });
  std::vector<std::uint64_t> hashes(permutations_);
  parallel_for(permutations_, [&](Index p) {
    hashes[p] = hash_of([&](std::size_t j) { return keys(static_cast<Index>(j), p); });
  });
  std::set<std::uint64_t> seen(hashes.begin(), hashes.end());
  seen.erase(truth);
  return static_cast<Index>(seen.size());
}

}  // namespace headlab
