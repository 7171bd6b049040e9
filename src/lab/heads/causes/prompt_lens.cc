// The logit lens on one prompt: the quantity that its named answers define, after each sublayer. It
// is a table of its own, because a single prompt has no means and no intervals.
// Read next: lens.cc.
#include <algorithm>
#include <limits>
#include <span>

#include "headlab/core/tensor/tape.h"
#include "headlab/lab/heads/causes/lens.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"

namespace headlab {

PromptLens read_lens(const Transformer& model, const Task& task, const Batch& prompt,
                     const NamedAnswer& asked) {
  const NoGrad no_grad;
  ActivationCache activations;
  activations.wants_patterns = false;
  model.forward(prompt, {}, {.activations = &activations});
  const Index outputs = model.config().outputs();
  const Contrast contrast = asked.contrast(prompt.targets_per_position);
  PromptLens report{.said = asked.said};
  double before = std::numeric_limits<double>::quiet_NaN();
  for (const LensStream& stream : lens_streams(model, activations)) {
    const Tensor logits = lens_logits(model, stream.x);
    const std::span<const Scalar> x(logits.data() + contrast.row * outputs,
                                    static_cast<std::size_t>(outputs));
    const Scalar own = x[static_cast<std::size_t>(asked.answer)];
    const auto first = static_cast<std::int32_t>(std::ranges::max_element(x) - x.begin());
    PromptPlace& place = report.places.emplace_back();
    place.name = stream.name;
    place.value = value_at(logits, outputs, contrast);
    place.change = place.value - before;
    place.rank = 1 + std::ranges::count_if(x, [&](Scalar y) { return y > own; });
    place.first = task.answer_text(first);
    before = place.value;
  }
  return report;
}

Result result_of(const PromptLens& report) {
  Fields<PromptPlace> fields;
  fields.add({"name", "after", "sublayer after which the residual stream is read"},
             &PromptPlace::name);
  fields.add(Column("value", "value", "the quantity of the prompt if the model ended here, in nats")
                 .fixed(3),
             &PromptPlace::value);
  fields.add(Column("change", "change", "change of this quantity by the sublayer").fixed(3),
             &PromptPlace::change);
  fields.add(Column("rank", "rank", "rank of the answer's logit: 1 is the largest"),
             &PromptPlace::rank);
  fields.add(Column("first", "first choice", "the answer with the largest logit"),
             &PromptPlace::first);
  return {.about = stamped({{"quantity", report.said}}),
          .tables = {fields.table({.name = "prompt"}, report.places)}};
}

}  // namespace headlab
