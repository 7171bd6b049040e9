// Matrix products for every layout with one kernel: a transpose is a pair of strides, a batch is a
// step, and a matrix shared by a batch has a step of 0. Gradients are such products too. Read next:
// linear.cc, where products include biases.
#include "headlab/core/ops/matmul.h"

#include "core/kernels/gemm.h"
#include "headlab/core/base/error.h"
#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// An operand of all products of a batch: its matrix in the first product, and the step to the
/// next.
struct Operand {
  ConstMatrix matrix;
  Index step;  // 0: one matrix for all products
  Operand transposed() const { return {matrix.transposed(), step}; }
};

/// The sizes of a batched product, and the location of each of its matrices.
struct Plan {
  Index count = 1, m = 0, k = 0, n = 0;
  Index a_step = 0, b_step = 0;
  bool transpose_b = false;
  Shape output;

  Operand a(const Tensor& x) const { return {{x.data(), k, 1}, a_step}; }
  Operand b(const Tensor& x) const {
    return {transpose_b ? ConstMatrix{x.data(), 1, k} : ConstMatrix{x.data(), n, 1}, b_step};
  }
};

Plan plan_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  require(a.rank() >= 2 && b.rank() >= 2, "cannot compute matmul: it needs two axes or more, got ",
          a.shape(), " and ", b.shape());
  Plan plan;
  plan.transpose_b = options.transpose_b;
  plan.m = a.size(-2);
  plan.k = a.size(-1);
  plan.n = b.size(options.transpose_b ? -2 : -1);
  const Index k_of_b = b.size(options.transpose_b ? -1 : -2);
  require(plan.k == k_of_b, "cannot compute matmul: the inner sizes of ", a.shape(), " and ",
          b.shape(), " differ: ", plan.k, " and ", k_of_b);
  const Shape lead_a = a.shape().without(-1).without(-1),
              lead_b = b.shape().without(-1).without(-1);
  require(lead_a == lead_b || a.rank() == 2 || b.rank() == 2,
          "cannot compute matmul: the leading axes of ", a.shape(), " and ", b.shape(), " differ");
  const Shape& lead = a.rank() > 2 ? lead_a : lead_b;
  plan.count = lead.count();
  plan.a_step = a.rank() > 2 ? plan.m * plan.k : 0;
  plan.b_step = b.rank() > 2 ? plan.k * plan.n : 0;
  plan.output = lead.then(plan.m).then(plan.n);
  if (plan.b_step == 0 && plan.count > 1) {
    plan.m *= plan.count;  // the rows of all products are those of one matrix
    plan.count = 1;
  }
  return plan;
}

struct Sizes {
  Index count, m, n, k;
};

/// Computes c [m, n] (+)= a [m, k] b [k, n] for all products, with the matrices of c c_step apart.
/// If c_step is 0, they share their output: the products are added to it one after the other.
void run(const Sizes& size, const Operand& a, const Operand& b, const GradientSlot& c,
         Index c_step) {
  Gemm product{size.m, size.n, size.k, a.matrix, b.matrix, c.data, size.n, c.accumulate};
  if (c_step != 0 || size.count == 1) {
    gemm_batched({product, size.count, a.step, b.step, c_step});
    return;
  }
  if (size.count == 0) {  // the sum of no products
    product.k = 0;
    gemm(product);
  }
  for (Index i = 0; i < size.count; ++i) {
    product.a.data = a.matrix.data + i * a.step;
    product.b.data = b.matrix.data + i * b.step;
    product.accumulate = c.accumulate || i > 0;
    gemm(product);
  }
}

/// Computes da = dy b^T and db = a^T dy; if b was transposed, the transpose of that.
void matmul_backward(const Plan& p, Node& node) {
  const Operand a = p.a(node.input(0)), b = p.b(node.input(1));
  const Operand dy{{node.gradient(), p.n, 1}, p.m * p.n};
  if (const GradientSlot da = node.slot(0)) {
    run({p.count, p.m, p.k, p.n}, dy, b.transposed(), da, p.a_step);
  }
  if (const GradientSlot db = node.slot(1)) {
    if (p.transpose_b) {
      run({p.count, p.n, p.k, p.m}, dy.transposed(), a, db, p.b_step);
    } else {
      run({p.count, p.k, p.n, p.m}, a.transposed(), dy, db, p.b_step);
    }
  }
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  const Plan p = plan_matmul(a, b, options);
  Tensor y = Tensor::empty(p.output);
  run({p.count, p.m, p.n, p.k}, p.a(a), p.b(b), {y.data(), false}, p.m * p.n);
  return record("matmul", y, {a, b}, [p](Node& node) { matmul_backward(p, node); });
}

}}  // namespace headlab
