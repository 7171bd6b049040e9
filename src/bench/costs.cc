// Costs, from shapes alone. A gradient costs what its products cost: one for each input that wants
// it. Memory is counted as if every array came from it once, so that a share of the triad above 1
// means that arrays stayed in the caches. Read next: profile.cc.
#include "headlab/bench/costs.h"

#include <string_view>

namespace headlab {
namespace {

using Kind = WorkEvent::Kind;

double numbers(Index count) { return static_cast<double>(count) * sizeof(Scalar); }

double count_of(const WorkEvent& event, std::size_t input) {
  return static_cast<double>(event.inputs[input].count());
}

/// Forward reads the inputs and writes the output; backward reads the gradient of the output and
/// the inputs that want a gradient, and writes theirs.
Cost moved(const WorkEvent& event) {
  Cost cost{0, numbers(event.output->count())};
  for (const Tensor& input : event.inputs) {
    if (!input.defined()) continue;
    const bool wanted = event.kind == Kind::backward && input.requires_grad();
    if (event.kind == Kind::forward || wanted) cost.bytes += numbers(input.count());
    if (wanted) cost.bytes += numbers(input.count());
  }
  return cost;
}

/// x through one weight matrix after the other: linear, feed_forward.
Cost weights(const WorkEvent& event) {
  Cost cost = moved(event);
  const Tensor& x = event.inputs[0];
  const double rows = static_cast<double>(x.count()) / static_cast<double>(x.size(-1));
  for (const Tensor& weight : event.inputs.subspan(1))
    if (weight.defined() && weight.rank() == 2)
      cost.operations += 2 * rows * static_cast<double>(weight.count());
  if (event.kind == Kind::backward) cost.operations *= x.requires_grad() ? 2 : 1;
  return cost;
}

Cost product(const WorkEvent& event) {
  Cost cost = moved(event);
  const Shape& y = *event.output;
  const double matrices =
      event.inputs[0].rank() > 2 ? static_cast<double>(y.count(0, y.rank() - 2)) : 1;
  const double inner = count_of(event, 0) / matrices / static_cast<double>(y[-2]);
  const auto wanted = event.inputs[0].requires_grad() + event.inputs[1].requires_grad();
  cost.operations = 2 * inner * static_cast<double>(y.count());
  if (event.kind == Kind::backward) cost.operations *= wanted;
  return cost;
}

/// Q K^T and P V forward; Q K^T again, dZ V^T, P^T dZ, dS K and dS^T Q backward.
Cost attention_products(const WorkEvent& event) {
  Cost cost = moved(event);
  const Tensor &q = event.inputs[0], &k = event.inputs[1];
  const auto scores = static_cast<double>(q.size(0) * q.size(1) * k.size(1));
  const auto queries = static_cast<double>(q.size(2)),
             values = static_cast<double>((*event.output)[2]);
  cost.operations =
      2 * scores * (event.kind == Kind::forward ? queries + values : 3 * queries + 2 * values);
  return cost;
}

/// Only the rows that are looked up; backward adds them to a table of zeros.
Cost looked_up(const WorkEvent& event) {
  const double rows = numbers(event.output->count());
  return {0, event.kind == Kind::forward ? 2 * rows : 3 * rows + numbers(event.inputs[0].count())};
}

/// The gradient of a sum goes to one input as it is, and to the other as a copy.
Cost passed_on(const WorkEvent& event) {
  return event.kind == Kind::forward ? moved(event) : Cost{0, 2 * numbers(event.output->count())};
}

Cost part(const WorkEvent& event) {
  return {0, event.kind == Kind::forward
                 ? 2 * numbers(event.output->count())
                 : numbers(event.output->count() + event.inputs[0].count())};
}

Cost nothing(const WorkEvent&) { return {}; }

struct OpCost {
  std::string_view op;
  Cost (*cost)(const WorkEvent&);
};

constexpr OpCost kCosts[] = {
    {"linear", weights},      {"feed_forward", weights},
    {"matmul", product},      {"attention", attention_products},
    {"embedding", looked_up}, {"add", passed_on},
    {"slice", part},          {"reshape", nothing},
};

}  // namespace

Cost cost_of(const WorkEvent& event) {
  if (event.kind == Kind::other) return {};
  for (const OpCost& row : kCosts)
    if (row.op == event.name) return row.cost(event);
  return moved(event);
}

}  // namespace headlab
