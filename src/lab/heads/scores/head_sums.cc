// Accumulation of sums: for each head, over the queries with ground truth and over all rows of its
// pattern. Heads are processed in parallel with separate sums, so no number depends on the threads
// or on the batch size. Read next: scores.cc.
#include "lab/heads/scores/head_sums.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "headlab/core/base/threads.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/weights/matrix.h"
#include "headlab/lab/results/statistics.h"

namespace headlab {
namespace {

/// Returns the key with the largest weight, the first of equals.
Index argmax_of(const Scalar* weights, Index visible) {
  return std::max_element(weights, weights + visible) - weights;
}

/// Adds a row of split B.
void add_judged_row(HeadSums& sums, const Scalar* weights, Index t, SeenKeys seen) {
  const Index length = std::ssize(sums.pattern_rows), largest = argmax_of(weights, seen.end);
  ++sums.rows;
  sums.log_visible += std::log(static_cast<double>(seen.count()));
  sums.largest += static_cast<double>(weights[largest]);
  for (Index s = seen.first; s < seen.end; ++s) {
    const auto w = static_cast<double>(weights[s]);
    sums.entropy -= w > 0 ? w * std::log(w) : 0;
    sums.distance += w * static_cast<double>(std::abs(s - t));
  }
  if (seen.count() > 1) {
    ++sums.offsets[largest - t + length];
    ++sums.seen_changes[seen.first - t + length];
    --sums.seen_changes[seen.end - t + length];
  }
}

}  // namespace

/// Rows of weights of one head in one forward pass over the sequences [first, end).
struct PatternSums::HeadRows {
  Mask mask;
  Index first, end;
  const Tensor& pattern;  // [B, H, T, S] of its attention layer
  Index place;            // index of the head there

  const Scalar* row(Index b, Index t) const {
    const Index head = (b - first) * pattern.size(1) + place;
    return pattern.data() + (head * pattern.size(2) + t) * pattern.size(3);
  }
  /// Calls visit(b, t, visible keys) for every row.
  template <class Visit>
  void for_rows(Visit&& visit) const {
    for (Index b = first; b < end; ++b) {
      for (Index t = 0; t < mask.batch.queries_of(mask.kind, b); ++t) visit(b, t, mask.seen(b, t));
    }
  }

  /// Adds the sums without ground truth: the average pattern of split A, sums over all rows.
  void add_to(HeadSums& sums) const {
    const Index length = std::ssize(sums.pattern_rows);
    for_rows([&](Index b, Index t, SeenKeys seen) {
      const Scalar* weights = row(b, t);
      add_judged_row(sums, weights, t, seen);
      if (split_of(b) == 1) return;
      ++sums.pattern_rows[t];
      for (Index s = seen.first; s < seen.end; ++s) {
        sums.pattern[t * length + s] += static_cast<double>(weights[s]);
      }
    });
  }

  /// Adds the Gram matrix of its outputs, from z [B, T, H*Dv] of its attention layer.
  void add_output_to(HeadSums& sums, const Tensor& z) const {
    if (sums.d_value == 0) return;
    const Index all = z.size(2), width = sums.d_value;
    for_rows([&](Index b, Index t, SeenKeys) {
      const Scalar* out = z.data() + ((b - first) * z.size(1) + t) * all + place * width;
      for (Index i = 0; i < width && split_of(b) == 1; ++i) {
        const auto factor = static_cast<double>(out[i]);
        for (Index j = i; j < width; ++j) {
          sums.gram[i * width + j] += factor * static_cast<double>(out[j]);
        }
      }
    });
  }
};

PatternSums::PatternSums(const HeadedModel& model, const Batch& examples, Index size,
                         std::span<const ScoredQueries> scored, const SumOptions& options)
    : scored_(scored),
      options_(options),
      causal_(model.shape().architecture != Architecture::encoder) {
  const Index length = std::max(examples.length, examples.source_length);
  HeadSums head;
  for (const ScoredQueries& truth : scored) {
    const Index permutations = options.permuted ? truth.permuted->permutations() : 0;
    head.matches.push_back({.permuted = std::vector<double>(permutations)});
    if (permutations > 0) head.matches.back().by_query.resize(truth.set.queries.size());
  }
  head.pattern.resize(length * length);
  head.pattern_rows.resize(length);
  head.offsets.resize(2 * length + 1);
  head.seen_changes.resize(2 * length + 1);
  for (const AttentionLayer& attention_layer : model.attention_layers()) {
    head.kind = attention_layer.kind;
    head.window = attention_layer.window;
    head.place = 0;
    head.d_value = attention_layer.attention->d_value;
    head.normalises = kind_of(attention_layer.attention->function).normalises;
    head.gram.resize(options.shapes ? head.d_value * head.d_value : 0);
    for (const std::int32_t number : attention_layer.attention->heads) {
      head.id.head = number;
      heads_.push_back(head);
      ++head.place;
    }
    ++head.id.attention_layer;
  }
  largest_masses_.resize(scored.size());
  distances_.resize(heads_.size() * heads_.size());
  distance_rows_.resize(heads_.size() * heads_.size());
  gather(model, examples, size);
}

void PatternSums::gather(const HeadedModel& model, const Batch& examples, Index size) {
  constexpr Index kMostWeights = 1 << 26;  // weights of patterns at once
  const Index of_one = std::max<Index>(1, std::ssize(heads_) * examples.length * examples.length);
  size = std::clamp<Index>(kMostWeights / of_one, 1, size);
  for_parts(examples, size, [&](const Batch& part, Index first) {
    const Activations activations(model, part, true, false);
    const std::vector<Tensor> patterns = normalised_patterns(model, activations.cache());
    std::vector<HeadRows> rows;
    for (const HeadSums& head : heads_) {
      const Tensor& pattern = patterns[head.id.attention_layer];
      const Mask mask{examples, head.kind, causal_, head.window};
      rows.push_back({mask, first, first + part.size, pattern, head.place});
    }
    if (!rows.empty()) add(rows, activations.cache());
  });
}

void PatternSums::add(const std::vector<HeadRows>& rows, const ActivationCache& activations) {
  parallel_for(std::ssize(heads_), [&](Index h) {
    HeadSums& head = heads_[h];
    rows[h].add_to(head);
    add_matches(head, rows[h]);
    if (options_.shapes) {
      rows[h].add_output_to(head, activations.attention[head.id.attention_layer].z);
    }
  });
  add_row_sums(rows, activations);
  add_largest_masses(rows);
  if (options_.shapes) add_distances(rows);
}

/// Adds the sums of the rows as the model computed them.
void PatternSums::add_row_sums(const std::vector<HeadRows>& rows,
                               const ActivationCache& activations) {
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    HeadSums& head = heads_[h];
    if (head.normalises) continue;
    const Tensor& pattern = activations.attention[head.id.attention_layer].pattern;
    const HeadRows as_computed{rows[h].mask, rows[h].first, rows[h].end, pattern, head.place};
    as_computed.for_rows([&](Index b, Index t, SeenKeys seen) {
      const Scalar* weights = as_computed.row(b, t);
      for (Index s = seen.first; s < seen.end; ++s) {
        head.row_sums += static_cast<double>(weights[s]);
      }
    });
  }
}

void PatternSums::add_matches(HeadSums& head, const HeadRows& rows) const {
  for (std::size_t q = 0; q < scored_.size(); ++q) {
    const ScoredQueries& truth = scored_[q];
    if (truth.set.kind != head.kind) continue;
    MatchCounts& matches = head.matches[q];
    const QueryRange range = truth.set.range_of(rows.first, rows.end);
    for (std::size_t i = range.first; i < range.end; ++i) {
      const EligibleQuery& query = truth.set.queries[i];
      const Scalar* weights = rows.row(query.b, query.t);
      const double mass = mass_on(query.keys, weights);
      MatchCounts::Split& split = matches.splits[split_of(query.b)];
      split.mass_all += mass;
      if (!query.disjoint) continue;
      const bool hit = std::ranges::binary_search(query.keys, argmax_of(weights, query.seen.end));
      if (!matches.by_query.empty()) {
        matches.by_query[i] = {static_cast<float>(mass), hit};
      }
      split.mass += mass;
      split.top1 += hit;
      split.top1_offset_wrong += hit && !query.offset_right;
      split.top1_nearest_wrong += hit && !query.nearest_right;
      if (query.judged >= 0) truth.permuted->add_masses(query.judged, weights, matches.permuted);
    }
  }
}

void PatternSums::add_largest_masses(const std::vector<HeadRows>& rows) {
  parallel_for(std::ssize(scored_), [&](Index q) {
    const QuerySet& set = scored_[q].set;
    for (const EligibleQuery& query : set.of(rows[0].first, rows[0].end)) {
      double largest = 0;
      for (std::size_t h = 0; h < heads_.size() && query.judged >= 0; ++h) {
        if (set.kind == heads_[h].kind) {
          largest = std::max(largest, mass_on(query.keys, rows[h].row(query.b, query.t)));
        }
      }
      largest_masses_[q] += largest;
    }
  });
}

/// Computes distances; every pair of heads of one kind is a parallel task.
void PatternSums::add_distances(const std::vector<HeadRows>& rows) {
  const Index count = std::ssize(heads_);
  parallel_for(count * count, [&](Index pair) {
    const HeadRows &a = rows[pair / count], &b = rows[pair % count];
    if (pair / count <= pair % count || a.mask.kind != b.mask.kind) return;
    a.for_rows([&](Index sequence, Index t, SeenKeys) {
      if (split_of(sequence) == 1) {
        distances_[pair] += jensen_shannon_distance(a.mask.visible(sequence, t), a.row(sequence, t),
                                                    b.row(sequence, t));
        ++distance_rows_[pair];
      }
    });
  });
}

double PatternSums::distance(std::size_t a, std::size_t b) const {
  if (a == b) return 0;
  const std::size_t pair = std::max(a, b) * heads_.size() + std::min(a, b);
  return ratio(distances_[pair], distance_rows_[pair]);
}

namespace {

/// Returns the one-sided p of a lift of at most kPartLift. The mean mass is a ratio of two sums
/// over the examples of split B; the baseline counts as known.
double p_of_lift(const MatchCounts& matches, const QuerySet& set, const RelationScore& score) {
  std::map<Index, Mean> by_example;
  for (std::size_t i = 0; i < set.queries.size(); ++i) {
    const EligibleQuery& query = set.queries[i];
    if (query.judged >= 0) by_example[query.b].add(static_cast<double>(matches.by_query[i].mass));
  }
  double squares = 0;
  double cubes = 0;
  for (const auto& [example, mass] : by_example) {
    const double residual = (mass.or_nan() - score.mass) * static_cast<double>(mass.count());
    squares += residual * residual;
    cubes += residual * residual * residual;
  }
  const auto examples = static_cast<double>(by_example.size());
  const auto queries = static_cast<double>(score.queries);
  const double above = score.mass - score.baseline - kPartLift * (1 - score.baseline);
  const double skew = squares > 0 ? cubes / std::pow(squares, 1.5) : 0;
  const double error = std::sqrt(squares * examples / (examples - 1)) / queries;
  const double two_sided = SkewedMean{above, error * (1 + std::abs(skew)), skew}.p();
  return above > 0 ? two_sided / 2 : 1 - two_sided / 2;
}

}  // namespace

void fill_p(HeadsReport& report, const PatternSums& gathered, std::size_t scored, std::size_t r) {
  const Index permutations = gathered.scored()[scored].permuted->permutations();
  std::vector<double> largest(permutations);
  for (const HeadSums& head : gathered.heads()) {
    std::ranges::transform(largest, head.matches[scored].permuted, largest.begin(),
                           [](double a, double b) { return std::max(a, b); });
  }
  for (std::size_t h = 0; h < report.heads.size(); ++h) {
    const double mass = gathered.heads()[h].matches[scored].splits[1].mass * (1 - 1e-12);
    const auto reached =
        std::ranges::count_if(largest, [mass](double chance) { return chance >= mass; });
    RelationScore& score = report.heads[h].relations[r];
    if (!score.enough()) continue;
    const MatchCounts& matches = gathered.heads()[h].matches[scored];
    score.p_permuted = ratio(1 + reached, 1 + permutations);
    score.p_lift = p_of_lift(matches, gathered.scored()[scored].set, score);
    score.p = std::max(score.p_permuted, score.p_lift);
  }
}

std::vector<std::pair<double, std::size_t>> smallest_p(const HeadsReport& report,
                                                       std::size_t count) {
  std::vector<std::pair<double, std::size_t>> smallest;
  for (std::size_t r = 0; r < count; ++r) {
    double least = 2;
    for (const HeadScores& head : report.heads) least = std::min(least, head.relations[r].p);
    if (least <= 1) smallest.emplace_back(least, r);
  }
  std::ranges::sort(smallest);
  return smallest;
}

void correct_p(HeadsReport& report, std::size_t count) {
  double least = 0;
  const auto ordered = smallest_p(report, count);
  for (std::size_t k = 0; k < ordered.size(); ++k) {
    const auto left = static_cast<double>(ordered.size() - k);
    for (HeadScores& head : report.heads) {
      RelationScore& score = head.relations[ordered[k].second];
      if (score.enough()) score.p_holm = std::min(1.0, std::max(least, left * score.p));
    }
    least = std::max(least, left * ordered[k].first);
  }
}

}  // namespace headlab
