// Ops that move elements. Each op maps every position of its output to a position of its input;
// forward copies from input to output, and backward adds the gradient from output to input over the
// same pairs. In lookups the ids choose the positions. They are kept for the backward pass, which
// adds rows in the order of the ids, so that the sum does not depend on threads. Read next:
// matmul.cc.
#include "headlab/core/ops/layout.h"

#include <algorithm>
#include <array>

#include "core/kernels/pieces.h"
#include "core/kernels/rows.h"
#include "core/tensor/gradient_storage.h"
#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

using Steps = std::array<Index, Shape::kMaxRank>;

/// Returns the strides of the axes.
Steps steps_of(const Shape& shape) {
  Steps steps{};
  Index step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    steps[axis] = step;
    step *= shape[axis];
  }
  return steps;
}

/// Calls visit(i, j) for each element i of `shape` in order, where j is the sum of its coordinates
/// times `steps`.
template <class Visit>
void walk(const Shape& shape, const Steps& steps, Visit&& visit) {
  Steps at{};
  Index j = 0;
  for (Index i = 0; i < shape.count(); ++i) {
    visit(i, j);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      j += steps[axis];
      if (++at[axis] < shape[axis]) break;
      j -= steps[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

Tensor permute(const char* name, const Tensor& x, std::span<const int> order) {
  Steps sizes{}, steps{};
  const Steps in = steps_of(x.shape());
  unsigned seen = 0;
  for (std::size_t i = 0; i < std::min(order.size(), sizes.size()); ++i) {
    const int axis = x.shape().axis_of(order[i]);
    sizes[i] = x.shape()[axis];
    steps[i] = in[axis];
    seen |= 1u << axis;
  }
  require(static_cast<int>(order.size()) == x.rank() && seen + 1 == 1u << x.rank(),
          "cannot compute ", name, ": the order must name each axis of ", x.shape(), " once");
  Tensor y = Tensor::empty(Shape(std::span<const Index>(sizes.data(), order.size())));
  const Scalar* px = x.data();
  Scalar* py = y.data();
  walk(y.shape(), steps, [=](Index i, Index j) { py[i] = px[j]; });
  return record(name, y, {x}, [steps](Node& node) {
    const Scalar* dy = node.gradient();
    if (Scalar* dx = node.sum_into(0)) {
      walk(node.shape(), steps, [=](Index i, Index j) { dx[j] += dy[i]; });
    }
  });
}

/// Location of elements [begin, end) of an axis in a tensor: `runs` stretches of `length`
/// contiguous elements, `stride` apart, from `offset` on.
struct AxisRange {
  Index runs, length, stride, offset;

  AxisRange(const Shape& whole, int axis, Index begin, Index end) {
    const Index inner = whole.count(axis + 1, whole.rank());
    runs = whole.count(0, axis);
    length = (end - begin) * inner;
    stride = whole[axis] * inner;
    offset = begin * inner;
  }
  /// Calls body(stretch of the whole, stretch of the part, length) for each stretch.
  template <class Whole, class Part, class Body>
  void for_runs(Whole* whole, Part* part, Body body) const {
    for (Index i = 0; i < runs; ++i) body(whole + i * stride + offset, part + i * length, length);
  }
};

void add_run(const Scalar* from, Scalar* to, Index n) {
  for (Index i = 0; i < n; ++i) to[i] += from[i];
}

void check_ids(const char* op, std::span<const std::int32_t> ids, Index expected, Index limit) {
  require(static_cast<Index>(ids.size()) == expected, "cannot compute ", op, ": expected ",
          expected, " ids, got ", ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    require(ids[i] >= 0 && ids[i] < limit, "cannot compute ", op, ": id ", ids[i], " at position ",
            i, " lies outside [0, ", limit, ")");
  }
}

/// A table with at least this many elements stores its gradient by rows, if at most one in
/// kRowsForOne of its rows is looked up.
constexpr Index kLargeTable = Index{1} << 20, kRowsForOne = 4;

/// Returns the distinct ids in ascending order.
Ids distinct(const Ids& ids) {
  Ids sorted = ids;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

/// Adds the rows of dy to the gradient of the table. In a large table few rows are looked up, and
/// the gradient holds only these. Terms of a row have the order of the ids in both cases.
void add_looked_up_rows(Node& node, const Ids& ids) {
  const Shape& table = node.input(0).shape();
  if (table.count() >= kLargeTable) {
    const Ids rows = distinct(ids);
    const bool few = std::ssize(rows) * kRowsForOne <= table[0];
    if (Scalar* sums = few ? GradientStorage::sum_into_rows(node, 0, rows) : nullptr) {
      Ids places(ids.size());
      std::ranges::transform(ids, places.begin(), [&](std::int32_t id) {
        return static_cast<std::int32_t>(std::ranges::lower_bound(rows, id) - rows.begin());
      });
      scatter_add_rows(
          {std::ssize(ids), table[1], places.data(), node.gradient(), std::ssize(rows), sums});
      return;
    }
  }
  scatter_add_rows(
      {std::ssize(ids), table[1], ids.data(), node.gradient(), table[0], node.sum_into(0)});
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  return record("reshape", x.viewed_as(shape), {x},
                [](Node& node) { GradientStorage::pass_to(node, 0); });
}

void separate(std::span<Tensor> inputs) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    for (std::size_t j = 0; j < i && inputs[i].defined() && inputs[i].node() != nullptr; ++j) {
      if (inputs[i].node() == inputs[j].node()) inputs[i] = reshape(inputs[i], inputs[i].shape());
    }
  }
}

Tensor permute(const Tensor& x, std::initializer_list<int> order) {
  return permute("permute", x, std::span(order.begin(), order.size()));
}

Tensor transpose(const Tensor& x, int axis_a, int axis_b) {
  std::array<int, Shape::kMaxRank> order{};
  for (int axis = 0; axis < x.rank(); ++axis) order[axis] = axis;
  std::swap(order[x.shape().axis_of(axis_a)], order[x.shape().axis_of(axis_b)]);
  return permute("transpose", x,
                 std::span<const int>(order.data(), static_cast<std::size_t>(x.rank())));
}

Tensor slice(const Tensor& x, int axis, Index begin, Index end) {
  axis = x.shape().axis_of(axis);
  require(0 <= begin && begin <= end && end <= x.size(axis), "cannot compute slice: [", begin, ", ",
          end, ") does not lie in axis ", axis, " of ", x.shape());
  const AxisRange range(x.shape(), axis, begin, end);
  Tensor y = Tensor::empty(x.shape().with(axis, end - begin));
  range.for_runs(x.data(), y.data(),
                 [](const Scalar* from, Scalar* to, Index n) { std::copy_n(from, n, to); });
  return record("slice", y, {x}, [range](Node& node) {
    if (Scalar* dx = node.sum_into(0)) {
      range.for_runs(dx, node.gradient(),
                     [](Scalar* to, const Scalar* from, Index n) { add_run(from, to, n); });
    }
  });
}

Tensor concat(std::span<const Tensor> parts, int axis) {
  require(!parts.empty(), "cannot compute concat: it needs at least one part");
  const Shape& first = parts[0].shape();
  axis = first.axis_of(axis);
  Index total = 0;
  for (const Tensor& part : parts) {
    require(part.rank() == first.rank() && part.shape().with(axis, 0) == first.with(axis, 0),
            "cannot compute concat: shapes ", first, " and ", part.shape(), " differ outside axis ",
            axis);
    total += part.size(axis);
  }
  Tensor y = Tensor::empty(first.with(axis, total));
  Index at = 0;
  for (const Tensor& part : parts) {
    const AxisRange range(y.shape(), axis, at, at + part.size(axis));
    range.for_runs(y.data(), part.data(),
                   [](Scalar* to, const Scalar* from, Index n) { std::copy_n(from, n, to); });
    at += part.size(axis);
  }
  return record("concat", y, parts, [axis](Node& node) {
    Index from = 0;
    for (std::size_t i = 0; i < node.input_count(); ++i) {
      const Index size = node.input(i).size(axis);
      if (Scalar* dx = node.sum_into(i)) {
        AxisRange(node.shape(), axis, from, from + size).for_runs(node.gradient(), dx, add_run);
      }
      from += size;
    }
  });
}

Tensor embedding(const Tensor& table, std::span<const std::int32_t> ids, const Shape& ids_shape) {
  require(table.rank() == 2, "cannot compute embedding: the table needs two axes, got ",
          table.shape());
  check_ids("embedding", ids, ids_shape.count(), table.size(0));
  const Index width = table.size(1);
  Tensor y = Tensor::empty(ids_shape.then(width));
  for_rows(ids_shape.count(), width, [&](Index i) {
    std::copy_n(table.data() + ids[i] * width, width, y.data() + i * width);
  });
  return record("embedding", y, {table}, [kept = Ids(ids.begin(), ids.end())](Node& node) {
    if (node.wants(0)) add_looked_up_rows(node, kept);
  });
}

}}  // namespace headlab
