// The estimate counts what every implementation of the backward pass must keep, and nothing of what
// a clever one could drop: parameters, moments and buffers come on top. That is enough to tell a
// slip of the finger from a model. Read next: run.cc.
#include "headlab/train/memory.h"

#include <cmath>

#include "headlab/base/error.h"
#include "headlab/base/pool.h"

namespace headlab {
namespace {

/// "1.5 GB"; at least one digit behind the point, so that 0.1 GB is not 0.
std::string gigabytes(double bytes) { return text(std::round(bytes / 1e8) / 10, " GB"); }

}  // namespace

double step_bytes(const TransformerConfig& m, const TrainConfig& t) {
  const double positions = static_cast<double>(t.batch) * static_cast<double>(m.length);
  double floats = static_cast<double>(m.targets) * static_cast<double>(m.vocab);
  for (Index layer = 0; layer < m.layers; ++layer) {
    const Index width = m.heads_of(layer) * (m.d_head_of(layer) + m.d_value_of(layer));
    floats += static_cast<double>(2 * m.d_model + 2 * width + m.d_ff);
  }
  const double integers = static_cast<double>(1 + m.targets) * sizeof(std::int32_t);
  return positions * (integers + floats * sizeof(Scalar) / static_cast<double>(t.accumulate));
}

void require_memory(const TransformerConfig& model, const TrainConfig& train, double available) {
  const double needed = step_bytes(model, train);
  const double there = available > 0 ? available : static_cast<double>(machine_memory());
  if (needed > there) {
    throw Error(text("a step of batch ", train.batch, " needs at least ", gigabytes(needed),
                     " of memory, and this machine has ", gigabytes(there)),
                "use a smaller --batch, or --accumulate N, which makes a step of N smaller ones");
  }
}

}  // namespace headlab
