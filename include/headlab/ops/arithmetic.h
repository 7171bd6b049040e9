// Sums, differences, products and quotients, element by element, with NumPy broadcasting: shapes
// align at the last axis, and an axis of size 1 repeats. The gradient of an input that was repeated
// is summed back to its shape.
#pragma once

#include "headlab/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// a + b; da = dy, db = dy.
Tensor add(const Tensor& a, const Tensor& b);
/// a - b; da = dy, db = -dy.
Tensor sub(const Tensor& a, const Tensor& b);
/// a b; da = dy b, db = dy a.
Tensor mul(const Tensor& a, const Tensor& b);
/// a / b; da = dy / b, db = -dy a / b^2.
Tensor div(const Tensor& a, const Tensor& b);
/// x scale + shift; dx = dy scale.
Tensor affine(const Tensor& x, Scalar scale, Scalar shift);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator+(const Tensor& x, Scalar c) { return affine(x, 1, c); }
inline Tensor operator+(Scalar c, const Tensor& x) { return affine(x, 1, c); }
inline Tensor operator-(const Tensor& x, Scalar c) { return affine(x, 1, -c); }
inline Tensor operator-(Scalar c, const Tensor& x) { return affine(x, -1, c); }
inline Tensor operator*(const Tensor& x, Scalar c) { return affine(x, c, 0); }
inline Tensor operator*(Scalar c, const Tensor& x) { return affine(x, c, 0); }
inline Tensor operator/(const Tensor& x, Scalar c) { return affine(x, 1 / c, 0); }
inline Tensor operator-(const Tensor& x) { return affine(x, -1, 0); }

}}  // namespace headlab
