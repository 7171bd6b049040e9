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
  Index floats =
      m.length * m.targets * m.vocab;  // of a sequence: logits, then what each module keeps
  for (const AttentionPlace& place : m.attention_places()) {
    const Index queries = place.kind == AttentionKind::encoder ? m.source_length : m.length;
    const Index keys = place.kind == AttentionKind::self ? m.length : m.source_length;
    const Index heads =
        m.heads_of(place.layer) * (m.d_head_of(place.layer) + m.d_value_of(place.layer));
    const bool first = place.kind != AttentionKind::cross;  // of its block: counts the network too
    floats += (queries + keys) * heads + queries * (first ? 2 * m.d_model + m.d_ff : m.d_model);
  }
  const Index integers = m.length * (1 + m.targets) + m.source_length;
  const double bytes =
      static_cast<double>(integers) * sizeof(std::int32_t) +
      static_cast<double>(floats) * sizeof(Scalar) / static_cast<double>(t.accumulate);
  return static_cast<double>(t.batch) * bytes;
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
