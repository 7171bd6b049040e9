// Lookups. Ids are checked before anything is read, and kept for the backward
// pass, which adds rows back in the order of the ids, so that the sum does not
// depend on threads. Read next: softmax.cc.
#include "headlab/ops/gather.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/threads.h"
#include "headlab/kernels/rows.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

void check_ids(const char* op, std::span<const std::int32_t> ids, Index expected, Index limit) {
  require(static_cast<Index>(ids.size()) == expected, op, ": expected ", expected, " ids, got ",
          ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    require(ids[i] >= 0 && ids[i] < limit, op, ": id ", ids[i], " at position ", i,
            " lies outside [0, ", limit, ")");
  }
}

}  // namespace

Tensor embedding(const Tensor& table, std::span<const std::int32_t> ids, const Shape& ids_shape) {
  require(table.rank() == 2, "embedding: the table needs two axes, got ", table.shape());
  check_ids("embedding", ids, ids_shape.count(), table.size(0));
  const Index width = table.size(1);
  Tensor y = Tensor::empty(ids_shape.then(width));
  constexpr Index kRows = 64;  // of a task
  const Index rows = ids_shape.count();
  parallel_for((rows + kRows - 1) / kRows, [&](Index task) {
    for (Index i = task * kRows; i < std::min(rows, (task + 1) * kRows); ++i)
      std::copy_n(table.data() + ids[i] * width, width, y.data() + i * width);
  });
  return record("embedding", y, {table}, [kept = Ids(ids.begin(), ids.end())](Node& node) {
    if (Scalar* dtable = node.sum_into(0)) {
      const Shape& shape = node.input(0).shape();
      scatter_add_rows(
          {std::ssize(kept), shape[1], kept.data(), node.gradient(), shape[0], dtable});
    }
  });
}

Tensor gather(const Tensor& x, std::span<const std::int32_t> ids) {
  require(x.rank() >= 1, "gather: needs an axis to choose from");
  const Shape shape = x.shape().without(-1);
  const Index width = x.size(-1);
  check_ids("gather", ids, shape.count(), width);
  Tensor y = Tensor::empty(shape);
  for (std::size_t r = 0; r < ids.size(); ++r)
    y.data()[r] = x.data()[static_cast<Index>(r) * width + ids[r]];
  return record("gather", y, {x}, [width, kept = Ids(ids.begin(), ids.end())](Node& node) {
    if (Scalar* dx = node.sum_into(0))
      for (std::size_t r = 0; r < kept.size(); ++r)
        dx[static_cast<Index>(r) * width + kept[r]] += node.gradient()[r];
  });
}

}}  // namespace headlab
