// Gathering evidence: each head walks over the queries of its questions and over all rows of its
// pattern. Heads are walked in parallel and each owns its sums, so no number depends on the threads
// or on how examples were batched. Read next: scores.cc.
#include "heads/evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlab/base/threads.h"
#include "headlab/heads/geometry.h"

namespace headlab {
namespace {

constexpr Index kComparedExamples = 64;  // of split B; all pairs of heads cost more than the rest

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

double mass_on(std::span<const std::int32_t> keys, const Scalar* weights) {
  double mass = 0;
  for (const std::int32_t key : keys) mass += static_cast<double>(weights[key]);
  return mass;
}

/// Adds a row of split B; `largest` is its argmax.
void add_row(HeadEvidence& sums, const Scalar* weights, Index t, Index visible, Index largest) {
  const Index length = std::ssize(sums.pattern_rows);
  ++sums.rows;
  sums.log_visible += std::log(static_cast<double>(visible));
  sums.largest += static_cast<double>(weights[largest]);
  for (Index s = 0; s < visible; ++s) {
    const auto w = static_cast<double>(weights[s]);
    sums.entropy -= w > 0 ? w * std::log(w) : 0;
    sums.distance += w * static_cast<double>(std::abs(s - t));
  }
  if (visible > 1) {
    ++sums.offsets[at(largest - t + length)];
    ++sums.seen_changes[at(length - t)];
    --sums.seen_changes[at(length - t + visible)];
  }
}

}  // namespace

/// One head's rows of weights in one forward pass.
struct Evidence::Rows {
  Sight sight;
  Index first = 0, end = 0;  // sequences
  const Scalar* pattern = nullptr;
  Index heads = 0, queries = 0, keys = 0;  // of the pattern [B, H, T, S]
  std::int32_t* argmax = nullptr;

  const Scalar* row(Index b, Index t) const {
    return pattern + ((b - first) * heads * queries + t) * keys;
  }
  std::int32_t& largest(Index b, Index t) const { return argmax[(b - first) * queries + t]; }
  /// Calls visit(b, t, number of visible keys) for every row.
  template <class Visit>
  void each(Visit&& visit) const {
    for (Index b = first; b < end; ++b)
      for (Index t = 0; t < sight.queries(b); ++t) visit(b, t, sight.visible(b, t));
  }
};

Evidence::Evidence(const std::vector<HeadPlace>& heads, std::span<const Question> questions,
                   const EvidenceOptions& options)
    : heads_(heads), questions_(questions), options_(options), argmax_(heads.size()) {
  HeadEvidence empty;
  for (const Question& question : questions) {
    const Index permutations = options.permuted ? question.permuted.permutations() : 0;
    empty.answers.push_back({.permuted = std::vector<double>(at(permutations))});
  }
  empty.pattern.resize(at(options.length * options.length));
  empty.pattern_rows.resize(at(options.length));
  empty.offsets.resize(at(2 * options.length + 1));
  empty.seen_changes.resize(at(2 * options.length + 1));
  evidence_.assign(heads.size(), empty);
  largest_masses_.resize(questions.size());
  distances_.resize(heads.size() * heads.size());
  distance_rows_.resize(heads.size() * heads.size());
}

Evidence::Rows Evidence::rows_of(std::size_t head, const Batch& batch, Index first, Index end,
                                 const ModelCaptures& captures) const {
  const HeadPlace& place = heads_[head];
  const Tensor& pattern = captures.attention[at(place.layer)].pattern;  // [B, H, T, S]
  const Index queries = pattern.size(2), keys = pattern.size(3);
  return {.sight = {batch, place.kind, options_.causal},
          .first = first,
          .end = end,
          .pattern = pattern.data() + place.place * queries * keys,
          .heads = pattern.size(1),
          .queries = queries,
          .keys = keys};
}

void Evidence::add(const Batch& batch, Index first, Index end, const ModelCaptures& captures) {
  std::vector<Rows> rows;
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    rows.push_back(rows_of(h, batch, first, end, captures));
    argmax_[h].resize(at((end - first) * rows[h].queries));
    rows[h].argmax = argmax_[h].data();
    const Index width = captures.attention[at(heads_[h].layer)].z.size(2) / rows[h].heads;
    evidence_[h].gram.resize(at(options_.shapes ? width * width : 0));
  }
  parallel_for(static_cast<Index>(heads_.size()), [&](Index h) {
    add_rows(at(h), rows[at(h)]);
    add_answers(at(h), rows[at(h)]);
    if (options_.shapes)
      add_output(at(h), rows[at(h)], captures.attention[at(heads_[at(h)].layer)].z);
  });
  add_largest_masses(rows, first, end);
  if (options_.shapes) add_distances(rows);
}

void Evidence::add_answers(std::size_t head, const Rows& rows) {
  for (std::size_t q = 0; q < questions_.size(); ++q) {
    const Question& question = questions_[q];
    if (question.set.kind != heads_[head].kind) continue;
    Answer& answer = evidence_[head].answers[q];
    for (const EligibleQuery& query : question.set.of(rows.first, rows.end)) {
      const Scalar* weights = rows.row(query.b, query.t);
      const double mass = mass_on(query.keys, weights);
      Answer::Split& split = answer.splits[split_of(query.b)];
      split.mass_all += mass;
      if (!query.disjoint) continue;
      const bool hit =
          std::binary_search(query.keys.begin(), query.keys.end(), rows.largest(query.b, query.t));
      split.mass += mass;
      split.top1 += hit;
      split.top1_offset_wrong += hit && !query.offset_right;
      split.top1_nearest_wrong += hit && !query.nearest_right;
      for (std::size_t p = 0; query.judged >= 0 && p < answer.permuted.size(); ++p) {
        const auto keys = question.permuted.keys(query.judged, static_cast<Index>(p));
        answer.permuted[p] += mass_on(keys, weights);
      }
    }
  }
}

void Evidence::add_rows(std::size_t head, const Rows& rows) {
  HeadEvidence& sums = evidence_[head];
  rows.each([&](Index b, Index t, Index visible) {
    const Scalar* weights = rows.row(b, t);
    const Index largest = std::max_element(weights, weights + visible) - weights;
    rows.largest(b, t) = static_cast<std::int32_t>(largest);
    if (split_of(b) == 1) {
      add_row(sums, weights, t, visible, largest);
      return;
    }
    ++sums.pattern_rows[at(t)];
    for (Index s = 0; s < visible; ++s)
      sums.pattern[at(t * options_.length + s)] += static_cast<double>(weights[s]);
  });
}

void Evidence::add_output(std::size_t head, const Rows& rows, const Tensor& z) {
  std::vector<double>& gram = evidence_[head].gram;
  const Index all = z.size(2), width = all / rows.heads;
  rows.each([&](Index b, Index t, Index) {
    const Scalar* out =
        z.data() + ((b - rows.first) * rows.queries + t) * all + heads_[head].place * width;
    for (Index i = 0; i < width && split_of(b) == 1; ++i) {
      const auto factor = static_cast<double>(out[i]);
      for (Index j = i; j < width; ++j)
        gram[at(i * width + j)] += factor * static_cast<double>(out[j]);
    }
  });
}

void Evidence::add_largest_masses(const std::vector<Rows>& rows, Index first, Index end) {
  parallel_for(static_cast<Index>(questions_.size()), [&](Index q) {
    const QuerySet& set = questions_[at(q)].set;
    for (const EligibleQuery& query : set.of(first, end)) {
      double largest = 0;
      for (std::size_t h = 0; h < heads_.size() && query.judged >= 0; ++h)
        if (set.kind == heads_[h].kind)
          largest = std::max(largest, mass_on(query.keys, rows[h].row(query.b, query.t)));
      largest_masses_[at(q)] += largest;
    }
  });
}

/// Every pair of heads of one kind is a task of its own.
void Evidence::add_distances(const std::vector<Rows>& rows) {
  const Index count = static_cast<Index>(heads_.size());
  parallel_for(count * count, [&](Index pair) {
    const Rows &a = rows[at(pair / count)], &b = rows[at(pair % count)];
    if (pair / count <= pair % count || a.sight.kind != b.sight.kind) return;
    a.each([&](Index sequence, Index t, Index visible) {
      if (split_of(sequence) == 1 && sequence < 2 * kComparedExamples) {
        distances_[at(pair)] +=
            jensen_shannon_distance(visible, a.row(sequence, t), b.row(sequence, t));
        ++distance_rows_[at(pair)];
      }
    });
  });
}

double Evidence::distance(std::size_t a, std::size_t b) const {
  if (a == b) return 0;
  const std::size_t pair = std::max(a, b) * heads_.size() + std::min(a, b);
  return distance_rows_[pair] > 0 ? distances_[pair] / static_cast<double>(distance_rows_[pair])
                                  : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace headlab
