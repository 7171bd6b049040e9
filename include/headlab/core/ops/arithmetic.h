// Elementwise ops: arithmetic with NumPy broadcasting, functions, dropout. Broadcasting aligns
// shapes at the last axis, and an axis of size 1 repeats; the gradient of a repeated input is
// summed back to its shape. Functions are defined by a formula and its derivative; they are the
// shortest ops to read and the pattern for new ones. Dropout takes a key instead of a generator, so
// a step can be reproduced from its number. Read next: src/core/ops/arithmetic.cc, then
// examples/own_op.cc.
#pragma once

#include "headlab/core/base/random.h"
#include "headlab/core/tensor/tensor.h"

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

/// y = e^x; dx = dy y.
Tensor exp(const Tensor& x);
/// y = ln x; dx = dy / x.
Tensor log(const Tensor& x);
/// y = sqrt(x); dx = dy / (2 y).
Tensor sqrt(const Tensor& x);
/// y = tanh(x); dx = dy (1 - y^2).
Tensor tanh(const Tensor& x);
/// y = 1 / (1 + e^-x); dx = dy y (1 - y).
Tensor sigmoid(const Tensor& x);
/// y = max(x, 0); dx = dy if x > 0, else 0.
Tensor relu(const Tensor& x);
/// y = x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3), the tanh form of Hendrycks and Gimpel
/// 2016; dx = dy (1/2 (1 + tanh(u)) + x/2 (1 - tanh(u)^2) sqrt(2/pi) (1 + 3 * 0.044715 x^2)).
Tensor gelu(const Tensor& x);
/// y = x P(x) (exact GELU), where P is the normal distribution function, (1 + erf(x / sqrt(2))) /
/// 2; dx = dy (P(x) + x exp(-x^2 / 2) / sqrt(2 pi)).
Tensor gelu_erf(const Tensor& x);

/// Sets each element to 0 with probability p, else to x / (1 - p). The key and the position of an
/// element decide whether it is dropped: the same key drops the same elements again. dx is dy with
/// the same elements dropped. p = 0 returns x itself. Error unless 0 <= p < 1.
Tensor dropout(const Tensor& x, Scalar p, Key key);

}}  // namespace headlab
