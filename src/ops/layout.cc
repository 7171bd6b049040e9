// Moving elements. Each op is a walk that pairs places of input and output;
// its backward is the same walk with the arrow turned round. Read next:
// gather.cc, where ids choose the places.
#include "headlab/ops/layout.h"

#include <algorithm>
#include <array>

#include "headlab/base/error.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

using Steps = std::array<Index, Shape::kMaxRank>;

/// How far apart neighbours along each axis lie.
Steps steps_of(const Shape& shape) {
  Steps steps{};
  Index step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    steps[axis] = step;
    step *= shape[axis];
  }
  return steps;
}

/// Calls visit(i, j) for each element i of `shape` in order, j being the sum of its coordinates
/// times `steps`.
template <class Visit>
void walk(const Shape& shape, const Steps& steps, Visit&& visit) {
  Steps at{};
  Index j = 0;
  for (Index i = 0; i < shape.count(); ++i) {
    visit(i, j);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      j += steps[a];
      if (++at[a] < shape[axis]) break;
      j -= steps[a] * shape[axis];
      at[a] = 0;
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
  require(static_cast<int>(order.size()) == x.rank() && seen + 1 == 1u << x.rank(), name,
          ": the order must name each axis of ", x.shape(), " once");
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

/// A block of an axis inside a larger tensor: `outer` runs of `length` elements, `pitch` apart,
/// from `offset` on.
struct Block {
  Index outer, length, pitch, offset;

  Block(const Shape& whole, int axis, Index begin, Index end) {
    const Index inner = whole.count(axis + 1, whole.rank());
    outer = whole.count(0, axis);
    length = (end - begin) * inner;
    pitch = whole[axis] * inner;
    offset = begin * inner;
  }
  void copy_out(const Scalar* whole, Scalar* part) const {
    for (Index i = 0; i < outer; ++i)
      std::copy_n(whole + i * pitch + offset, length, part + i * length);
  }
  void copy_in(const Scalar* part, Scalar* whole) const {
    for (Index i = 0; i < outer; ++i)
      std::copy_n(part + i * length, length, whole + i * pitch + offset);
  }
  void add_out(const Scalar* whole, Scalar* part) const {
    add(whole, offset, pitch, part, 0, length);
  }
  void add_in(const Scalar* part, Scalar* whole) const {
    add(part, 0, length, whole, offset, pitch);
  }

 private:
  void add(const Scalar* from, Index from_offset, Index from_pitch, Scalar* to, Index to_offset,
           Index to_pitch) const {
    for (Index i = 0; i < outer; ++i)
      for (Index j = 0; j < length; ++j)
        to[i * to_pitch + to_offset + j] += from[i * from_pitch + from_offset + j];
  }
};

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  return record("reshape", x.viewed_as(shape), {x}, [](Node& node) { node.pass_to(0); });
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
  require(0 <= begin && begin <= end && end <= x.size(axis), "slice: [", begin, ", ", end,
          ") does not lie in axis ", axis, " of ", x.shape());
  const Block block(x.shape(), axis, begin, end);
  Tensor y = Tensor::empty(x.shape().with(axis, end - begin));
  block.copy_out(x.data(), y.data());
  return record("slice", y, {x}, [block](Node& node) {
    if (Scalar* dx = node.sum_into(0)) block.add_in(node.gradient(), dx);
  });
}

Tensor concat(std::span<const Tensor> parts, int axis) {
  require(!parts.empty(), "concat: needs at least one part");
  const Shape& first = parts[0].shape();
  axis = first.axis_of(axis);
  Index total = 0;
  for (const Tensor& part : parts) {
    require(part.rank() == first.rank() && part.shape().with(axis, 0) == first.with(axis, 0),
            "concat: shapes ", first, " and ", part.shape(), " differ outside axis ", axis);
    total += part.size(axis);
  }
  Tensor y = Tensor::empty(first.with(axis, total));
  Index at = 0;
  for (const Tensor& part : parts) {
    Block(y.shape(), axis, at, at + part.size(axis)).copy_in(part.data(), y.data());
    at += part.size(axis);
  }
  return record("concat", y, parts, [axis](Node& node) {
    Index from = 0;
    for (std::size_t i = 0; i < node.input_count(); ++i) {
      const Index size = node.input(i).size(axis);
      if (Scalar* dx = node.sum_into(i))
        Block(node.shape(), axis, from, from + size).add_out(node.gradient(), dx);
      from += size;
    }
  });
}

}}  // namespace headlab
