// Reductions see a tensor as [outer, size, inner] and walk it in the order of memory. The largest
// element is remembered by its place, so that its gradient goes to one place only. Read next:
// softmax.cc.
#include "headlab/ops/reduce.h"

#include "headlab/base/error.h"
#include "headlab/ops/arithmetic.h"
#include "headlab/ops/layout.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// x seen as [outer, size, inner], reduced to [outer, inner].
struct Reduction {
  Index outer, size, inner;
  Shape output;

  Reduction(const Tensor& x, int axis, bool keep)
      : outer(x.shape().count(0, x.shape().axis_of(axis))),
        size(x.size(axis)),
        inner(x.shape().count(x.shape().axis_of(axis) + 1, x.rank())),
        output(keep ? x.shape().with(axis, 1) : x.shape().without(axis)) {}

  /// Calls visit(element of x, element of y) in the order of x.
  template <class Visit>
  void walk(Visit&& visit) const {
    Index in = 0;
    for (Index o = 0; o < outer; ++o) {
      for (Index s = 0; s < size; ++s)
        for (Index i = 0; i < inner; ++i) visit(in++, o * inner + i);
    }
  }
};

}  // namespace

Tensor sum(const Tensor& x, int axis, bool keep) {
  const Reduction reduction(x, axis, keep);
  Tensor y = Tensor::zeros(reduction.output);
  const Scalar* px = x.data();
  Scalar* py = y.data();
  reduction.walk([=](Index in, Index out) { py[out] += px[in]; });
  return record("sum", y, {x}, [reduction](Node& node) {
    const Scalar* dy = node.gradient();
    if (Scalar* dx = node.sum_into(0))
      reduction.walk([=](Index in, Index out) { dx[in] += dy[out]; });
  });
}

Tensor mean(const Tensor& x, int axis, bool keep) {
  require(x.size(axis) > 0, "mean: axis ", axis, " of ", x.shape(), " is empty");
  return sum(x, axis, keep) / static_cast<Scalar>(x.size(axis));
}

Tensor max(const Tensor& x, int axis, bool keep) {
  const Reduction reduction(x, axis, keep);
  require(reduction.size > 0, "max: axis ", axis, " of ", x.shape(), " is empty");
  Tensor y = Tensor::empty(reduction.output);
  PoolVector<Index> winner(static_cast<std::size_t>(y.count()), -1);
  const Scalar* px = x.data();
  reduction.walk([&](Index in, Index out) {
    Index& best = winner[out];
    if (best < 0 || px[in] > px[best]) best = in;
  });
  for (std::size_t i = 0; i < winner.size(); ++i) y.data()[i] = px[winner[i]];
  return record("max", y, {x}, [winner](Node& node) {
    if (Scalar* dx = node.sum_into(0))
      for (std::size_t i = 0; i < winner.size(); ++i) dx[winner[i]] += node.gradient()[i];
  });
}

Tensor sum(const Tensor& x) { return sum(reshape(x, {x.count()}), 0); }

Tensor mean(const Tensor& x) { return mean(reshape(x, {x.count()}), 0); }

}}  // namespace headlab
