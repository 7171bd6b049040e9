// Heads by name. Captures hold all heads of a module side by side: patterns as [B, H, T, S],
// outputs as [B, T, H*Dv]; the place of a head there is not its number once others were pruned.
// Read next: edits.cc.
#include "headlab/heads/activations.h"

#include "headlab/ops/layout.h"
#include "headlab/tensor/tape.h"
#include "headlab/train/streams.h"

namespace headlab {

Activations::Activations(const Transformer& model, const Batch& batch, bool patterns)
    : model_(model) {
  const NoGrad no_grad;
  captures_.wants_patterns = patterns;
  logits_ = model.forward(batch, {}, {.captures = &captures_});
}

Tensor Activations::pattern(const HeadId& head) const {
  const NoGrad no_grad;
  const Index place = place_of(model_, head);
  const Tensor& all = captures_.attention[head.layer].pattern;  // [B, H, T, S]
  return slice(all, 1, place, place + 1).viewed_as({all.size(0), all.size(2), all.size(3)});
}

Tensor Activations::output(const HeadId& head) const {
  const NoGrad no_grad;
  const Index place = place_of(model_, head);
  const Index width = model_.attention_modules()[head.layer].attention->d_value;
  return slice(captures_.attention[head.layer].z, 2, place * width, (place + 1) * width);
}

std::span<const std::int32_t> query_tokens(const Batch& batch, AttentionKind kind, Index b) {
  const Ids& tokens = kind == AttentionKind::encoder ? batch.source : batch.tokens;
  return std::span(tokens).subspan(b * batch.queries(kind), batch.queries_of(kind, b));
}

std::span<const std::int32_t> key_tokens(const Batch& batch, AttentionKind kind, Index b) {
  const Ids& tokens = kind == AttentionKind::self ? batch.tokens : batch.source;
  return std::span(tokens).subspan(b * batch.keys(kind), batch.keys_of(kind, b));
}

HeadPattern pattern_of(const Transformer& model, const Task& task, const HeadId& head,
                       const Batch& batch, Index b) {
  const Tensor rows = Activations(model, batch.rows(b, b + 1)).pattern(head);  // [1, T, S]
  const AttentionKind kind = model.attention_modules()[head.layer].kind;
  HeadPattern pattern{.head = head, .example = b};
  for (const std::int32_t token : query_tokens(batch, kind, b))
    pattern.queries.push_back(task.token_text(token));
  for (const std::int32_t token : key_tokens(batch, kind, b))
    pattern.keys.push_back(task.token_text(token));
  for (std::size_t t = 0; t < pattern.queries.size(); ++t) {
    const auto row = rows.values().subspan(t * rows.size(2), pattern.keys.size());
    pattern.weights.insert(pattern.weights.end(), row.begin(), row.end());
  }
  return pattern;
}

HeadPattern pattern_of(const Transformer& model, const Task& task, const HeadId& head,
                       Index example) {
  place_of(model, head);  // before anything slow
  const Example examples = task.make(streams::scored(), example + 1, Split::validation);
  return pattern_of(model, task, head, examples.batch, example);
}

Json to_json(const HeadPattern& pattern) {
  Json::Array rows;
  const std::size_t keys = pattern.keys.size();
  for (std::size_t t = 0; t < pattern.queries.size(); ++t) {
    const auto row = pattern.weights.begin() + t * keys;
    rows.push_back(std::vector<Scalar>(row, row + keys));
  }
  return Json::object({{"layer", pattern.head.layer},
                       {"head", pattern.head.head},
                       {"example", pattern.example},
                       {"tokens", pattern.queries},
                       {"keys", pattern.keys},
                       {"pattern", rows}});
}

}  // namespace headlab
