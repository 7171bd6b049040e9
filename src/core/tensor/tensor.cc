// Shapes and tensor handles. Sizes are checked when a shape is created, so ops need not check again
// whether a count overflows or an axis exists; broadcasting is implemented here once for all ops.
// Handles count references to nodes, and nodes share storage. The lifetime of nodes is in tape.cc,
// because destroying a graph is the tape's task. Read next: tape.cc.
#include "headlab/core/tensor/tensor.h"

#include <algorithm>
#include <limits>

#include "core/kernels/elementwise.h"
#include "core/tensor/gradient_storage.h"
#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

Shape::Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const Index> sizes) {
  require(sizes.size() <= kMaxRank, "cannot make a shape: it has at most ", kMaxRank, " axes, got ",
          sizes.size());
  for (Index size : sizes) {
    require(size >= 0, "cannot make a shape: an axis has the negative size ", size);
    require(size == 0 || count_ <= std::numeric_limits<Index>::max() / 64 / size,
            "cannot make a shape: its elements do not fit into memory");
    sizes_[rank_++] = size;
    count_ *= size;
  }
}

int Shape::axis_of(int axis) const {
  const int positive = axis < 0 ? axis + rank_ : axis;
  require(positive >= 0 && positive < rank_, "cannot use axis ", axis, ": the shape is ", *this);
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
  return Shape(std::span(sizes.data(), rank_));
}

Shape Shape::without(int axis) const {
  std::array<Index, kMaxRank> sizes = sizes_;
  std::copy(begin() + axis_of(axis) + 1, end(), sizes.begin() + axis_of(axis));
  return Shape(std::span(sizes.data(), rank_ - 1));
}

Shape Shape::then(Index size) const {
  require(rank_ < kMaxRank, "cannot add an axis: a shape has at most ", kMaxRank, " axes");
  std::array<Index, kMaxRank> sizes = sizes_;
  sizes[rank_] = size;
  return Shape(std::span(sizes.data(), rank_ + 1));
}

bool operator==(const Shape& a, const Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int axis = 0; axis < shape.rank(); ++axis) out << (axis ? ", " : "") << shape[axis];
  return out << ']';
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  constexpr Index kMost = 8;  // printed rows, and printed elements of a row
  if (!x.defined()) return out << "no tensor";
  out << x.shape();
  const Index columns = x.rank() == 0 ? 1 : x.size(-1),
              rows = columns == 0 ? 0 : x.count() / columns;
  for (Index row = 0; row < std::min(rows, kMost); ++row) {
    for (Index i = 0; i < std::min(columns, kMost); ++i) {
      out << (i == 0 ? '\n' : ' ') << x.data()[row * columns + i];
    }
    if (columns > kMost) out << " ...";
  }
  return rows > kMost ? out << "\n..." : out;
}

Shape broadcast_shape(const char* op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<Index, Shape::kMaxRank> sizes{};
  for (int axis = 1; axis <= rank; ++axis) {
    const Index in_a = axis <= a.rank() ? a[-axis] : 1;
    const Index in_b = axis <= b.rank() ? b[-axis] : 1;
    require(in_a == in_b || in_a == 1 || in_b == 1, "cannot compute ", op, ": shapes ", a, " and ",
            b, " do not broadcast: axis ", -axis, " is ", in_a, " in one and ", in_b,
            " in the other");
    sizes[rank - axis] = in_a == 1 ? in_b : in_a;
  }
  return Shape(std::span(sizes.data(), rank));
}

Tensor::Tensor(const Tensor& other) noexcept : node_(other.node_) {
  if (node_ != nullptr) node_->references_.fetch_add(1, std::memory_order_relaxed);
}

Tensor& Tensor::operator=(Tensor other) noexcept {
  std::swap(node_, other.node_);
  return *this;
}

Tensor::~Tensor() {
  if (node_ != nullptr) Node::release(node_);
}

Tensor Tensor::empty(const Shape& shape) { return Node::make(shape, Storage::make(shape.count())); }

Tensor Tensor::full(const Shape& shape, Scalar value) {
  Tensor t = empty(shape);
  fill_array(t.count(), value, t.data());
  return t;
}

Tensor Tensor::of(const Shape& shape, std::span<const Scalar> values) {
  require(static_cast<Index>(values.size()) == shape.count(), "cannot make a tensor of shape ",
          shape, ": it needs ", shape.count(), " values, got ", values.size());
  Tensor t = empty(shape);
  std::copy(values.begin(), values.end(), t.data());
  return t;
}

Tensor Tensor::of(const Shape& shape, std::initializer_list<Scalar> values) {
  return of(shape, std::span(values.begin(), values.size()));
}

const Shape& Tensor::shape() const {
  require(defined(), "cannot read the shape: the tensor is undefined");
  return node_->shape_;
}

Scalar* Tensor::data() const {
  require(defined(), "cannot read the elements: the tensor is undefined");
  return node_->storage_->data();
}

Scalar Tensor::item() const {
  require(count() == 1, "cannot read item(): expected one element, the shape is ", shape());
  return *data();
}

bool Tensor::requires_grad() const { return defined() && node_->requires_grad_; }

Tensor& Tensor::set_requires_grad(bool value) {
  require(defined(), "cannot read the gradient: the tensor is undefined");
  require(node_->is_leaf(), "cannot set requires_grad: the tensor is no leaf; it was made by ",
          node_->is_leaf() ? "" : node_->name());
  node_->requires_grad_ = value;
  return *this;
}

void Tensor::retain_grad() {
  require(requires_grad(), "cannot retain the gradient: the tensor requires none");
  node_->retain_gradient_ = true;
}

Tensor Tensor::grad() const {
  if (!defined() || node_->gradient_ == nullptr) return {};
  GradientStorage::complete(*node_);
  node_->gradient_->references.fetch_add(1, std::memory_order_relaxed);
  return Node::make(shape(), node_->gradient_);
}

void Tensor::zero_grad() const {
  if (defined()) node_->drop_gradient();
}

Tensor Tensor::detach() const { return viewed_as(shape()); }

Tensor Tensor::clone() const { return of(shape(), values()); }

Tensor Tensor::viewed_as(const Shape& other) const {
  require(other.count() == count(), "cannot compute reshape: ", shape(), " has ", count(),
          " elements, ", other, " has ", other.count());
  node_->storage_->references.fetch_add(1, std::memory_order_relaxed);
  return Node::make(other, node_->storage_);
}

}}  // namespace headlab
