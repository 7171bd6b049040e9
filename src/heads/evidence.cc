// Gathering evidence: each head walks over the queries of its questions and over all rows of its
// pattern. Heads are walked in parallel and each owns its sums, so no number depends on the threads
// or on how examples were batched. Read next: scores.cc.
#include "heads/evidence.h"

#include <algorithm>
#include <cmath>

#include "headlab/base/threads.h"

namespace headlab::inline HEADLAB_SCALAR {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

double mass_on(std::span<const std::int32_t> keys, const Scalar* weights) {
  double mass = 0;
  for (const std::int32_t key : keys) {
    mass += static_cast<double>(weights[key]);
  }
  return mass;
}

}  // namespace

/// One head's rows of weights in one forward pass.
struct Evidence::Rows {
  Sight sight;
  Index first, end;  // sequences
  const Scalar* pattern;
  Index sequence, keys;  // elements from one sequence to the next, and from one row to the next

  const Scalar* row(Index b, Index t) const { return pattern + (b - first) * sequence + t * keys; }
  /// The key with the largest weight, the first of equals.
  Index largest(Index b, Index t) const {
    const Scalar* weights = row(b, t);
    return std::max_element(weights, weights + keys) - weights;
  }
};

Evidence::Evidence(const std::vector<HeadPlace>& heads, const std::vector<Question>& questions,
                   Index length, bool causal)
    : heads_(heads), questions_(questions), length_(length), causal_(causal) {
  HeadEvidence empty;
  for (const Question& question : questions) {
    empty.answers.push_back({{}, std::vector<double>(at(question.permuted.permutations()))});
  }
  empty.pattern.resize(at(length * length));
  empty.pattern_rows.resize(at(length));
  evidence_.assign(heads.size(), empty);
}

void Evidence::add(const Batch& batch, Index first, Index end, const ModelCaptures& captures) {
  parallel_for(static_cast<Index>(heads_.size()), [&](Index h) {
    const HeadPlace& head = heads_[at(h)];
    const Tensor& pattern = captures.attention[at(head.layer)].pattern;  // [B, H, T, S]
    const Shape& shape = pattern.shape();
    const Index plane = shape[2] * shape[3];
    const Rows rows{{batch, head.kind, causal_},
                    first,
                    end,
                    pattern.data() + head.place * plane,
                    shape[1] * plane,
                    shape[3]};
    add_answers(at(h), rows);
    add_rows(at(h), rows);
  });
}

void Evidence::add_answers(std::size_t head, const Rows& rows) {
  for (std::size_t q = 0; q < questions_.size(); ++q) {
    const Question& question = questions_[q];
    if (question.set.kind != heads_[head].kind) {
      continue;
    }
    Answer& answer = evidence_[head].answers[q];
    for (const EligibleQuery& query : question.set.of(rows.first, rows.end)) {
      const Scalar* weights = rows.row(query.b, query.t);
      const double mass = mass_on(query.keys, weights);
      Answer::Split& split = answer.splits[split_of(query.b)];
      split.mass_all += mass;
      if (!query.disjoint) {
        continue;
      }
      split.mass += mass;
      split.top1 += std::binary_search(query.keys.begin(), query.keys.end(),
                                       static_cast<std::int32_t>(rows.largest(query.b, query.t)));
      for (std::size_t p = 0; query.judged >= 0 && p < answer.permuted.size(); ++p) {
        const auto keys = question.permuted.keys(query.judged, static_cast<Index>(p));
        answer.permuted[p] += mass_on(keys, weights);
      }
    }
  }
}

void Evidence::add_rows(std::size_t head, const Rows& rows) {
  HeadEvidence& sums = evidence_[head];
  for (Index b = rows.first; b < rows.end; ++b) {
    for (Index t = 0; t < rows.sight.queries(b); ++t) {
      const Scalar* weights = rows.row(b, t);
      const Index visible = rows.sight.visible(b, t);
      if (split_of(b) == 0) {
        ++sums.pattern_rows[at(t)];
        for (Index s = 0; s < visible; ++s) {
          sums.pattern[at(t * length_ + s)] += static_cast<double>(weights[s]);
        }
        continue;
      }
      ++sums.rows;
      sums.log_visible += std::log(static_cast<double>(visible));
      for (Index s = 0; s < visible; ++s) {
        const auto w = static_cast<double>(weights[s]);
        sums.entropy -= w > 0 ? w * std::log(w) : 0;
      }
    }
  }
}

}  // namespace headlab::inline HEADLAB_SCALAR
