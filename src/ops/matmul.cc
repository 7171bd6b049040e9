// Matrix products for every layout, from one kernel: a transpose is a pair of strides, a batch a
// step, and a matrix shared by a batch a step of 0. Gradients are such products again. Read next:
// linear.cc, where products carry biases and residuals along.
#include "headlab/ops/matmul.h"

#include "headlab/base/error.h"
#include "headlab/kernels/gemm.h"
#include "headlab/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// The sizes of a batched product, and where each of its matrices lies.
struct Plan {
  Index count = 1, m = 0, k = 0, n = 0;
  Index a_step = 0, b_step = 0;  // 0: one matrix for all products
  bool transpose_a = false, transpose_b = false;
  Shape output;

  ConstMatrix a(const Scalar* data) const {
    return transpose_a ? ConstMatrix{data, 1, m} : ConstMatrix{data, k, 1};
  }
  ConstMatrix b(const Scalar* data) const {
    return transpose_b ? ConstMatrix{data, 1, k} : ConstMatrix{data, n, 1};
  }
};

Plan plan_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  require(a.rank() >= 2 && b.rank() >= 2, "matmul: needs two axes or more, got ", a.shape(),
          " and ", b.shape());
  Plan plan;
  plan.transpose_a = options.transpose_a;
  plan.transpose_b = options.transpose_b;
  plan.m = a.size(options.transpose_a ? -1 : -2);
  plan.k = a.size(options.transpose_a ? -2 : -1);
  plan.n = b.size(options.transpose_b ? -2 : -1);
  const Index k_of_b = b.size(options.transpose_b ? -1 : -2);
  require(plan.k == k_of_b, "matmul: the inner sizes of ", a.shape(), " and ", b.shape(),
          " differ: ", plan.k, " and ", k_of_b);
  const Shape lead_a = a.shape().without(-1).without(-1),
              lead_b = b.shape().without(-1).without(-1);
  require(lead_a == lead_b || a.rank() == 2 || b.rank() == 2, "matmul: the leading axes of ",
          a.shape(), " and ", b.shape(), " differ");
  const Shape& lead = a.rank() > 2 ? lead_a : lead_b;
  plan.count = lead.count();
  plan.a_step = a.rank() > 2 ? plan.m * plan.k : 0;
  plan.b_step = b.rank() > 2 ? plan.k * plan.n : 0;
  plan.output = lead.then(plan.m).then(plan.n);
  if (plan.b_step == 0 && !plan.transpose_a &&
      plan.count > 1) {  // rows of all products in one matrix
    plan.m *= plan.count;
    plan.count = 1;
  }
  return plan;
}

/// All products of a batch. Where they share their output, they are added to it one after the
/// other.
void run(const GemmBatch& batch) {
  if (batch.c_step != 0 || batch.count == 1) {
    gemm_batched(batch);
    return;
  }
  Gemm product = batch.first;
  if (batch.count == 0) {  // a sum of no products
    product.k = 0;
    gemm(product);
  }
  for (Index i = 0; i < batch.count; ++i) {
    product.a.data = batch.first.a.data + i * batch.a_step;
    product.b.data = batch.first.b.data + i * batch.b_step;
    product.accumulate = batch.first.accumulate || i > 0;
    gemm(product);
  }
}

/// da = dy b^T, laid out as a is: where a is transposed, its transpose b dy^T.
void matmul_backward_a(const Plan& p, Node& node, const GradientSlot& da) {
  const ConstMatrix dy{node.gradient(), p.n, 1}, b = p.b(node.input(1).data());
  if (p.transpose_a) {
    run({{p.k, p.m, p.n, b, dy.transposed(), da.data, p.m, da.accumulate},
         p.count,
         p.b_step,
         p.m * p.n,
         p.a_step});
  } else {
    run({{p.m, p.k, p.n, dy, b.transposed(), da.data, p.k, da.accumulate},
         p.count,
         p.m * p.n,
         p.b_step,
         p.a_step});
  }
}

/// db = a^T dy, laid out as b is: where b is transposed, its transpose dy^T a.
void matmul_backward_b(const Plan& p, Node& node, const GradientSlot& db) {
  const ConstMatrix dy{node.gradient(), p.n, 1}, a = p.a(node.input(0).data());
  if (p.transpose_b) {
    run({{p.n, p.k, p.m, dy.transposed(), a, db.data, p.k, db.accumulate},
         p.count,
         p.m * p.n,
         p.a_step,
         p.b_step});
  } else {
    run({{p.k, p.n, p.m, a.transposed(), dy, db.data, p.n, db.accumulate},
         p.count,
         p.a_step,
         p.m * p.n,
         p.b_step});
  }
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  const Plan plan = plan_matmul(a, b, options);
  Tensor y = Tensor::empty(plan.output);
  run({{plan.m, plan.n, plan.k, plan.a(a.data()), plan.b(b.data()), y.data(), plan.n},
       plan.count,
       plan.a_step,
       plan.b_step,
       plan.m * plan.n});
  return record("matmul", y, {a, b}, [plan](Node& node) {
    if (const GradientSlot da = node.slot(0)) matmul_backward_a(plan, node, da);
    if (const GradientSlot db = node.slot(1)) matmul_backward_b(plan, node, db);
  });
}

}}  // namespace headlab
