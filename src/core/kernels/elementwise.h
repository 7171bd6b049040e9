// Kernels over plain arrays: vector math, activations, and the updates of optimizers. Each writes
// y[0..n) from its inputs. Unless stated otherwise, y may be one of the inputs. They use all
// threads on long arrays, in fixed pieces. Read next: elementwise.cc.
#pragma once

#include "headlab/core/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

void exp_array(Index n, const Scalar* x, Scalar* y);
void tanh_array(Index n, const Scalar* x, Scalar* y);

/// Computes gelu(x) = x / 2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016,
/// tanh form).
void gelu_forward(Index n, const Scalar* x, Scalar* y);
/// Computes y = gelu(x) and slope = gelu'(x), for little more than the cost of the first. Neither
/// may overlap x.
void gelu_with_slope(Index n, const Scalar* x, Scalar* y, Scalar* slope);
/// Computes dx = (accumulate ? dx : 0) + dy gelu'(x).
void gelu_backward(Index n, const Scalar* x, const Scalar* dy, Scalar* dx, bool accumulate);

/// The gate of a feed-forward network, y = f(gate) x, and its gradients, together with y: dgate =
/// dy f'(gate) x, dx = dy f(gate). Results may not overlap inputs.
struct GateBackward {
  Index n;
  const Scalar *gate, *x, *dy;
  Scalar *y, *dgate, *dx;
};
struct Gate {
  void (*forward)(Index n, const Scalar* gate, const Scalar* x, Scalar* y);
  void (*backward)(const GateBackward& problem);
};
extern const Gate kGeluGate;
/// The gate f(g) = g / (1 + exp(-g)): SiLU, which is Swish with beta 1.
extern const Gate kSiluGate;

/// Computes y = x with the pairs (2i, 2i + 1) of each head rotated: row r, `width` numbers of heads
/// of `head` each, uses row r % length of the tables [length, head]. These hold the cosine of pair
/// i twice, and its sine as -sin, sin. y may be x.
struct Rotation {
  Index rows, width, head, length;
  const Scalar *cosines, *sines, *x;
  Scalar* y;
  bool back;        // whether to rotate by the negative angles: the gradient
  bool accumulate;  // whether to add to y
};
void rotate(const Rotation& rotation);

/// y = value.
void fill_array(Index n, Scalar value, Scalar* y);
/// y += a x.
void add_scaled(Index n, Scalar a, const Scalar* x, Scalar* y);
/// y *= a.
void scale_array(Index n, Scalar a, Scalar* y);
/// Returns the sum of squares in double, added in a fixed order.
double sum_of_squares(Index n, const Scalar* x);
/// Returns whether every element is finite.
bool all_finite(Index n, const Scalar* x);

/// Computes y = x scaled by 1/(1-p) if kept, 0 if dropped; bits(key, offset + i) decide whether
/// element i is kept. Applying it to dy with the same key gives the gradient. Needs 0 <= p < 1.
void dropout_array(Index n, Scalar p, std::uint64_t key, const Scalar* x, Scalar* y);

/// One AdamW step (Loshchilov and Hutter 2019): with g = grad_scale * grad,
/// m += (1-b1) (g - m); v += (1-b2) (g^2 - v); w -= lr * decay * w;
/// w -= lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
/// The caller passes 1 - b, rounded once: the difference of 1 and a float 0.999 has a relative
/// error of 1.3e-5, and the moments would not match their corrections.
struct AdamStep {
  Scalar lr;
  Scalar one_minus_beta1, one_minus_beta2;  // weights of a new gradient in the moments
  Scalar eps, decay;
  Scalar correction1, correction2;  // 1 - b1^t, 1 - b2^t
  Scalar grad_scale = 1;
};
struct AdamArrays {
  const Scalar* grad;
  Scalar *w, *m, *v;
};
void adam_step(Index n, const AdamStep& step, const AdamArrays& arrays);

}}  // namespace headlab
