// The estimate counts what every implementation of the backward pass must keep, and nothing of what
// a clever one could drop: parameters, moments and buffers come on top. That is enough to tell a
// slip of the finger from a model. Read next: run.cc.
#include "headlab/train/memory.h"

#include <unistd.h>

#include <cmath>

#include "headlab/base/error.h"

namespace headlab {
namespace {

double machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? static_cast<double>(pages) * static_cast<double>(size) : 1e18;
}

/// "1.5 GB"; at least one digit behind the point, so that 0.1 GB is not 0.
std::string gigabytes(double bytes) { return text(std::round(bytes / 1e8) / 10, " GB"); }

}  // namespace

double step_bytes(const TransformerConfig& m, const TrainConfig& t) {
  Index floats = m.length * m.targets * m.vocab;
  for (const AttentionPlace& place : m.attention_places()) {
    const Index queries = place.kind == AttentionKind::encoder ? m.source_length : m.length;
    const Index widths = m.d_head_of(place.layer) + m.d_value_of(place.layer);
    floats += queries * (m.d_model + 2 * m.heads_of(place.layer) * widths);
  }
  const Index blocks = m.encoder_layers * m.source_length + m.layers * m.length;
  floats += blocks * (m.d_model + m.d_ff);
  const auto integers = m.source_length + m.length * (1 + m.targets);
  return static_cast<double>(t.batch) *
         (static_cast<double>(integers) * sizeof(std::int32_t) +
          static_cast<double>(floats) * sizeof(Scalar) / static_cast<double>(t.accumulate));
}

void require_memory(const TransformerConfig& model, const TrainConfig& train, double available) {
  const double needed = step_bytes(model, train);
  const double there = available > 0 ? available : machine_memory();
  if (needed > there) {
    throw Error(text("a step of batch ", train.batch, " needs at least ", gigabytes(needed),
                     " of memory, and this machine has ", gigabytes(there)),
                "use a smaller `batch`, or `accumulate` N, which makes a step of N smaller ones");
  }
}

}  // namespace headlab
