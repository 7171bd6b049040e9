// Shapes: sizes checked where they are made, so that no op has to ask again whether a count
// overflows or an axis exists. Broadcasting is decided here, once, for all ops. Read next:
// tensor.cc.
#include "headlab/tensor/shape.h"

#include <algorithm>
#include <limits>
#include <string>

#include "headlab/base/error.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

Shape::Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const Index> sizes) {
  require(sizes.size() <= kMaxRank, "a shape has at most ", kMaxRank, " axes, got ", sizes.size());
  for (Index size : sizes) {
    require(size >= 0, "an axis cannot have the negative size ", size);
    require(size == 0 || count_ <= std::numeric_limits<Index>::max() / 64 / size,
            "a shape with this many elements does not fit into memory");
    sizes_[rank_++] = size;
    count_ *= size;
  }
}

int Shape::axis_of(int axis) const {
  const int positive = axis < 0 ? axis + rank_ : axis;
  require(positive >= 0 && positive < rank_, "there is no axis ", axis, " in shape ", *this);
  return positive;
}

Index Shape::count(int first, int last) const {
  Index product = 1;
  for (int axis = first; axis < last; ++axis) product *= (*this)[axis];
  return product;
}

Shape Shape::with(int axis, Index size) const {
  std::array<Index, kMaxRank> sizes = sizes_;
  sizes[axis_of(axis)] = size;
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank_)));
}

Shape Shape::without(int axis) const {
  std::array<Index, kMaxRank> sizes = sizes_;
  std::copy(begin() + axis_of(axis) + 1, end(), sizes.begin() + axis_of(axis));
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank_ - 1)));
}

Shape Shape::then(Index size) const {
  require(rank_ < kMaxRank, "a shape has at most ", kMaxRank, " axes");
  std::array<Index, kMaxRank> sizes = sizes_;
  sizes[rank_] = size;
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank_ + 1)));
}

bool operator==(const Shape& a, const Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int axis = 0; axis < shape.rank(); ++axis) out << (axis ? ", " : "") << shape[axis];
  return out << ']';
}

Shape broadcast_shape(const char* op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<Index, Shape::kMaxRank> sizes{};
  for (int axis = 1; axis <= rank; ++axis) {
    const Index in_a = axis <= a.rank() ? a[-axis] : 1;
    const Index in_b = axis <= b.rank() ? b[-axis] : 1;
    require(in_a == in_b || in_a == 1 || in_b == 1, op, ": shapes ", a, " and ", b,
            " do not broadcast: axis ", -axis, " is ", in_a, " in one and ", in_b, " in the other");
    sizes[rank - axis] = in_a == 1 ? in_b : in_a;
  }
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank)));
}

}}  // namespace headlab
