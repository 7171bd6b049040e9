// Attention mass on single examples, for other programs to read, without selection of heads or
// conclusions. The examples and queries are those of the scores.
// Read next: scores.cc, which chooses and evaluates heads.
#include <cmath>

#include "headlab/core/train/evaluate.h"
#include "headlab/core/train/streams.h"
#include "headlab/lab/heads/scores/activations.h"
#include "headlab/lab/heads/scores/scores.h"
#include "lab/heads/scores/scored_queries.h"

namespace headlab {
namespace {

/// Returns the mean weight of a head on the ground-truth keys of an example's queries; NaN if none
/// counts.
double mean_mass(std::span<const EligibleQuery> queries, const Tensor& pattern, Index first) {
  double sum = 0, count = 0;
  for (const EligibleQuery& query : queries) {
    if (!query.disjoint) continue;
    const Scalar* row =
        pattern.data() + ((query.b - first) * pattern.size(1) + query.t) * pattern.size(2);
    for (const std::int32_t key : query.keys) sum += static_cast<double>(row[key]);
    ++count;
  }
  return count > 0 ? sum / count : NAN;
}

}  // namespace

ExampleMasses masses_by_example(const HeadedModel& model, const Task& task, Index examples) {
  const Index count = at_most_different(task, examples);
  const Example example = task.make(streams::scored(), count, Split::validation);
  const std::vector<Relation> relations = task.relations();
  const bool causal = model.shape().architecture != Architecture::encoder;
  std::vector<QuerySet> sets;
  for (std::size_t r = 0; r < relations.size(); ++r) {
    sets.push_back(relation_queries(example, relations, r, causal));
  }
  const std::vector<HeadId> heads = all_heads(model);
  const auto attention_layers = model.attention_layers();
  ExampleMasses masses{std::ssize(relations), std::ssize(heads), count, {}};
  masses.values.resize(masses.relations * masses.heads * count, NAN);
  for_parts(example.batch, 64, [&](const Batch& part, Index first) {
    const Activations activations(model, part);
    for (std::size_t h = 0; h < heads.size(); ++h) {
      Tensor pattern = activations.pattern(heads[h]);
      if (!kind_of(attention_layers[heads[h].attention_layer].attention->function).normalises) {
        pattern = normalised_rows(pattern);
      }
      for (std::size_t r = 0; r < sets.size(); ++r) {
        if (sets[r].kind != attention_layers[heads[h].attention_layer].kind) continue;
        for (Index b = first; b < first + part.size; ++b) {
          const QueryRange range = sets[r].range_of(b, b + 1);
          const auto queries =
              std::span(sets[r].queries).subspan(range.first, range.end - range.first);
          masses.values[(r * heads.size() + h) * count + b] =
              static_cast<float>(mean_mass(queries, pattern, first));
        }
      }
    }
  });
  return masses;
}

}  // namespace headlab
