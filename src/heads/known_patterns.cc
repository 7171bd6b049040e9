// The patterns as rules: which of the visible keys a query looks at, and with what weight before
// the row is normalised. Distances are summed over queries that see two keys or more, because all
// patterns are the same where there is one key. Read next: activations.cc.
#include "headlab/heads/known_patterns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlab/heads/activations.h"
#include "headlab/train/evaluate.h"
#include "headlab/train/streams.h"
#include "heads/questions.h"

namespace headlab {
namespace {

constexpr Index kReach = 2;  // of the local window

double is_previous(const PatternInput&, Index t, Index s) { return s == t - 1; }
double is_first(const PatternInput&, Index, Index s) { return s == 0; }
double is_near(const PatternInput&, Index t, Index s) {
  const Index away = std::abs(t - s);
  return away <= kReach ? 1 / static_cast<double>(1 + away) : 0;
}
double is_any(const PatternInput&, Index, Index) { return 1; }
double continues(const PatternInput& input, Index t, Index s) {
  return input.same_sequence && s > 0 && s <= t && input.keys[s - 1] == input.queries[t];
}
double repeats(const PatternInput& input, Index t, Index s) {
  return input.same_sequence && s < t && input.keys[s] == input.queries[t];
}

constexpr KnownPattern kPatterns[] = {
    {"previous", "the token before", is_previous},
    {"first", "the first token", is_first},
    {"window", "tokens at most 2 away, nearer ones more", is_near},
    {"uniform", "all visible keys alike", is_any},
    {"induction", "what followed earlier places of the query's token", continues},
    {"same", "earlier places of the query's token", repeats},
};
constexpr auto kUniform = static_cast<std::size_t>(
    std::ranges::find(kPatterns, &is_any, &KnownPattern::weight) - kPatterns);
constexpr double kAlike = 0.5, kNearUniform = 0.2;  // see PatternDistances::like

Index visible_keys(const PatternInput& input, Index t) {
  const Index keys = std::ssize(input.keys);
  return input.causal ? std::min(keys, t + 1) : keys;
}

Matrix made_by(const KnownPattern& pattern, const PatternInput& input) {
  Matrix weights(std::ssize(input.queries), std::ssize(input.keys));
  for (Index t = 0; t < weights.rows(); ++t) {
    const Index visible = visible_keys(input, t);
    double sum = 0;
    for (Index s = 0; s < visible; ++s) sum += weights(t, s) = pattern.weight(input, t, s);
    for (Index s = 0; s < visible && sum > 0; ++s) weights(t, s) /= sum;
  }
  return weights;
}

std::vector<Matrix> all_patterns(const PatternInput& input) {
  std::vector<Matrix> all;
  for (const KnownPattern& pattern : kPatterns) all.push_back(made_by(pattern, input));
  return all;
}

bool has_key(const Matrix& pattern, Index t) {
  const auto row = pattern.values().begin() + t * pattern.columns();
  return std::any_of(row, row + pattern.columns(), [](double weight) { return weight > 0; });
}

/// Sums over queries, by pattern.
struct Sums {
  std::vector<double> distance = std::vector<double>(std::size(kPatterns));
  std::vector<Index> queries = std::vector<Index>(std::size(kPatterns));

  void add(const PatternInput& input, const std::vector<Matrix>& patterns, const double* weights) {
    const Index S = std::ssize(input.keys);
    for (std::size_t p = 0; p < patterns.size(); ++p) {
      for (Index t = 0; t < patterns[p].rows(); ++t) {
        if (visible_keys(input, t) < 2 || !has_key(patterns[p], t)) continue;
        distance[p] +=
            jensen_shannon_distance(S, weights + t * S, patterns[p].values().data() + t * S);
        ++queries[p];
      }
    }
  }
  std::vector<double> means() const {
    std::vector<double> all;
    for (std::size_t p = 0; p < distance.size(); ++p)
      all.push_back(queries[p] > 0 ? distance[p] / static_cast<double>(queries[p])
                                   : std::numeric_limits<double>::quiet_NaN());
    return all;
  }
};

std::optional<std::size_t> like_of(const std::vector<double>& distances,
                                   const std::vector<double>& of_uniform) {
  std::optional<std::size_t> like;
  double smallest = kAlike;
  for (std::size_t p = 0; p < distances.size(); ++p) {
    if (p == kUniform || !(of_uniform[p] > 0)) continue;
    const double share = distances[p] / of_uniform[p];
    if (share < smallest) smallest = share, like = p;
  }
  if (!like && distances[kUniform] < kNearUniform) like = kUniform;
  return like;
}

PatternInput input_of(const Batch& batch, AttentionKind kind, Index b, bool causal) {
  return {.queries = query_tokens(batch, kind, b),
          .keys = key_tokens(batch, kind, b),
          .causal = causal && kind == AttentionKind::self,
          .same_sequence = kind != AttentionKind::cross};
}

/// The rows of the head at a place for sequence b of a part, without padding.
std::vector<double> rows_of(const Tensor& pattern, Index place, Index b,
                            const PatternInput& input) {
  const Index H = pattern.size(1), T = pattern.size(2), S = pattern.size(3);
  std::vector<double> rows;
  for (Index t = 0; t < std::ssize(input.queries); ++t) {
    const Scalar* row = pattern.data() + ((b * H + place) * T + t) * S;
    rows.insert(rows.end(), row, row + input.keys.size());
  }
  return rows;
}

}  // namespace

std::span<const KnownPattern> known_patterns() { return kPatterns; }

Matrix known_pattern(std::string_view name, const PatternInput& input) {
  for (const KnownPattern& pattern : kPatterns)
    if (name == pattern.name) return made_by(pattern, input);
  throw unknown_name("pattern", name, texts_of(kPatterns, &KnownPattern::name));
}

LikenessReport compare_with_known(const Transformer& model, const Task& task, Index examples) {
  require(examples > 0, "patterns are compared on one example or more, not ", examples);
  const Batch batch =
      task.make(streams::scored(), at_most_different(task, examples), Split::validation).batch;
  const bool causal = model.config().architecture != Architecture::encoder;
  const std::vector<HeadId> heads = all_heads(model);
  const std::vector<AttentionModule> modules = model.attention_modules();
  std::vector<Sums> sums(heads.size()), uniform(heads.size());
  for_parts(batch, 64, [&](const Batch& part, Index) {
    const Activations activations(model, part);
    for (Index b = 0; b < part.size; ++b) {
      for (std::size_t h = 0; h < heads.size(); ++h) {
        const PatternInput input = input_of(part, modules[heads[h].layer].kind, b, causal);
        const std::vector<Matrix> patterns = all_patterns(input);
        const Tensor& pattern = activations.captures().attention[heads[h].layer].pattern;
        sums[h].add(input, patterns, rows_of(pattern, place_of(model, heads[h]), b, input).data());
        uniform[h].add(input, patterns, patterns[kUniform].values().data());
      }
    }
  });
  LikenessReport report{{}, batch.size};
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const std::vector<double> distances = sums[h].means(), of_uniform = uniform[h].means();
    report.heads.push_back({heads[h], distances, of_uniform, like_of(distances, of_uniform)});
  }
  return report;
}

Json to_json(const LikenessReport& report) {
  const auto by_name = [](const std::vector<double>& distances) {
    Json object = Json::object();
    for (std::size_t p = 0; p < std::size(kPatterns); ++p) object[kPatterns[p].name] = distances[p];
    return object;
  };
  Json heads = Json::array();
  for (const PatternDistances& head : report.heads)
    heads.push_back(
        head_json(head.head, {{"distances", by_name(head.distances)},
                              {"of_uniform", by_name(head.of_uniform)},
                              {"like", head.like ? Json(kPatterns[*head.like].name) : Json()}}));
  return stamped({{"examples", report.examples},
                  {"patterns", texts_of(kPatterns, &KnownPattern::name)},
                  {"heads", std::move(heads)}});
}

}  // namespace headlab
