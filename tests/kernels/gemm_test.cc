// Matrix products: against the plain version, against a chain of std::fma that must agree in every
// bit, and over numbers of threads.
#include "core/kernels/gemm.h"

#include <gtest/gtest.h>

#include <array>

#include "kernels/numbers.h"
#include "kernels/plain.h"

namespace headlab { namespace {

/// A product with its memory. Rows of C have three spare numbers, which must survive.
struct Product {
  std::vector<Scalar> a, b, c;
  Gemm g;

  Product(Index m, Index n, Index k, bool transpose_a, bool transpose_b, bool accumulate = false)
      : a(numbers(m * k + 1, 1)),
        b(numbers(k * n + 1, 2)),
        c(numbers(m * (n + 3), 3)),
        g{m,
          n,
          k,
          transpose_a ? ConstMatrix{a.data(), 1, m} : ConstMatrix{a.data(), k, 1},
          transpose_b ? ConstMatrix{b.data(), 1, k} : ConstMatrix{b.data(), n, 1},
          c.data(),
          n + 3,
          accumulate} {}
};

Scalar element(const ConstMatrix& x, Index i, Index j) {
  return x.data[i * x.row_stride + j * x.column_stride];
}

/// Terms of [-1, 1) x [-1, 1): the sum of k of them stays below 4 sqrt(k), and each addition rounds
/// once.
double tolerance(Index k) {
  return kEpsilon * 4 *
         (1 + std::sqrt(static_cast<double>(k)) * std::sqrt(static_cast<double>(k) + 1));
}

struct Size {
  Index m, n, k;
};

void expect_agreement(const Size& size) {
  for (int form = 0; form < 8; ++form) {
    Product fast(size.m, size.n, size.k, form & 1, form & 2, form & 4);
    Product plain(size.m, size.n, size.k, form & 1, form & 2, form & 4);
    gemm(fast.g);
    gemm_plain(plain.g);
    SCOPED_TRACE(testing::Message()
                 << size.m << " x " << size.n << " x " << size.k << ", form " << form);
    expect_near(fast.c, plain.c, tolerance(size.k), "c");
  }
}

TEST(Transpose, PutsEachNumberInItsPlace) {
  std::vector<Scalar> from = numbers(70 * 3, 1), to(from.size());
  transpose_matrix(70, 3, from.data(), to.data());
  for (Index i = 0; i < 70 * 3; ++i) EXPECT_EQ(to[i % 3 * 70 + i / 3], from[i]) << i;
}

TEST(Gemm, AgreesWithThePlainProductForRaggedSizesAndAllTransposes) {
  for (Index m : {0, 1, 5, 6, 7, 13, 14, 15, 29, 130}) {
    for (Index n : {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65})
      for (Index k : {0, 1, 2, 17, 64}) expect_agreement({m, n, k});
  }
}

TEST(Gemm, AgreesWithThePlainProductAcrossBlocks) {
  for (const Size& size :
       {Size{113, 40, 513}, Size{40, 1027, 70}, Size{257, 96, 1100}, Size{3, 70, 2000}})
    expect_agreement(size);
}

TEST(Gemm, ReadsOperandsWithAnyStrides) {
  const std::vector<Scalar> a = numbers(5000, 1);
  const std::vector<Scalar> b = numbers(9000, 2);
  std::vector<Scalar> c(20 * 40);
  std::vector<Scalar> expected(20 * 40);
  Gemm g{20, 35, 30, {a.data(), 61, 2}, {b.data(), 3, 100}, c.data(), 40};
  gemm(g);
  g.c = expected.data();
  gemm_plain(g);
  expect_near(c, expected, tolerance(30), "c");
}

TEST(Gemm, KOfZeroGivesZerosOrLeavesC) {
  Product cleared(3, 5, 0, false, false);
  gemm(cleared.g);
  for (std::size_t i = 0; i < cleared.c.size(); ++i) EXPECT_EQ(cleared.c[i] == 0, i % 8 < 5) << i;
  Product kept(3, 5, 0, false, false, true);
  const std::vector<Scalar> before = kept.c;
  gemm(kept.g);
  EXPECT_EQ(kept.c, before);
}

/// One chain of multiply-adds per 512 terms, the chains added in order: what gemm.cc promises.
void gemm_chains(const Gemm& g) {
  for (Index i = 0; i < g.m; ++i) {
    for (Index j = 0; j < g.n; ++j) {
      Scalar& c = g.c[i * g.c_stride + j];
      if (!g.accumulate) c = 0;
      for (Index block = 0; block < g.k; block += 512) {
        Scalar sum = 0;
        for (Index p = block; p < std::min(g.k, block + 512); ++p)
          sum = std::fma(element(g.a, i, p), element(g.b, p, j), sum);
        c += sum;
      }
    }
  }
}

/// Whether this build fuses a * b + c: processors without the instruction, and compilers that do
/// not optimise or that watch every access, round the product first. x^2 - (1 + 2 h) with x = 1 + h
/// is h^2 where it is fused, and 0 where h^2 was rounded away.
bool fuses() {
  const Scalar h = std::ldexp(Scalar(1), -(std::numeric_limits<Scalar>::digits + 1) / 2);
  const Scalar a[2] = {-(1 + 2 * h), 1 + h}, b[2] = {1, 1 + h};
  Scalar c = 0;
  gemm_serial({1, 1, 2, {a, 2}, {b, 1}, &c, 1});
  return c != 0;
}

TEST(Gemm, EqualsAChainOfMultiplyAddsInEveryBitForAnyNumberOfThreads) {
  const Size rows_in_one_set_of_the_cache = {30, 160, 1024};
  for (const Size& size : {Size{150, 97, 600}, rows_in_one_set_of_the_cache}) {
    for (int form = 0; form < 8; ++form) {
      Product chains(size.m, size.n, size.k, form & 1, form & 2, form & 4);
      gemm_chains(chains.g);
      Product serial(size.m, size.n, size.k, form & 1, form & 2, form & 4);
      gemm_serial(serial.g);
      if (fuses())
        EXPECT_EQ(serial.c, chains.c);
      else
        expect_near(serial.c, chains.c, tolerance(size.k), "c");
      for (int count = 1; count <= 8; ++count) {
        const Threads threads(count);
        Product product(size.m, size.n, size.k, form & 1, form & 2, form & 4);
        gemm(product.g);
        EXPECT_EQ(product.c, serial.c) << count << " threads, form " << form;
      }
    }
  }
}

/// A product with everything that may be done to its elements, and sums of the columns of b.
struct FinishedProduct : Product {
  std::vector<Scalar> bias, factor, gelu, sums;

  explicit FinishedProduct(const Size& size, bool with_gelu)
      : Product(size.m, size.n, size.k, false, false, with_gelu),
        bias(numbers(size.n, 4)),
        factor(numbers(size.m * (size.n + 3), 6)),
        gelu(numbers(size.m * (size.n + 3), 7)),
        sums(numbers(size.n, 8)) {
    g.finish = {.bias = bias.data()};
    if (with_gelu) g.finish.gelu = gelu.data();
    if (!with_gelu) g.finish.factor = factor.data();
    g.column_sums = sums.data();
  }
};

TEST(Gemm, FinishesEachElementAfterItsSumAndAddsUpTheColumnsOfB) {
  for (const Size& size : {Size{0, 5, 3}, Size{1, 1, 1}, Size{5, 15, 0}, Size{15, 17, 5},
                           Size{130, 65, 7}, Size{40, 1030, 70}, Size{113, 40, 1030}}) {
    for (bool gelu : {false, true}) {
      FinishedProduct fast(size, gelu);
      FinishedProduct plain(size, gelu);
      gemm(fast.g);
      gemm_plain(plain.g);
      SCOPED_TRACE(testing::Message() << size.m << " x " << size.n << " x " << size.k);
      // GELU changes by at most 1.2 times what its argument does.
      const double bound = 2 * tolerance(size.k) + 32 * kEpsilon;
      expect_near(fast.c, plain.c, bound, "c");
      expect_near(fast.gelu, plain.gelu, bound, "gelu");
      expect_near(fast.sums, plain.sums, kEpsilon * static_cast<double>(size.k + 4) * 8, "sums");
    }
  }
}

TEST(GemmTogether, EqualsTheProductsOneByOneInEveryBitForAnyNumberOfThreads) {
  const auto run = [](bool together) {
    FinishedProduct first({250, 197, 600}, true), second({70, 300, 64}, false);
    FinishedProduct only_sums({0, 300, 64}, false), one_sum({0, 1, 64}, false);
    Product third(70, 300, 9, false, true, true);
    if (together)
      gemm_together(std::array{first.g, second.g, third.g, only_sums.g, one_sum.g});
    else
      for (const Gemm* g : {&first.g, &second.g, &third.g, &only_sums.g, &one_sum.g})
        gemm_serial(*g);
    return std::vector{first.c,     first.gelu, first.sums,     second.c,
                       second.sums, third.c,    only_sums.sums, one_sum.sums};
  };
  const auto one_by_one = run(false);
  for (int count = 1; count <= 8; ++count) {
    const Threads threads(count);
    EXPECT_EQ(run(true), one_by_one) << count << " threads";
  }
}

TEST(GemmBatched, EqualsTheProductsOneByOne) {
  for (const Size& size : {Size{7, 5, 9}, Size{80, 80, 80}}) {
    for (Index count : {0, 1, 2, 9, 40}) {
      const auto [m, n, k] = size;
      const std::vector<Scalar> a = numbers(count * m * k, 1);
      const std::vector<Scalar> b = numbers(k * n, 2);
      std::vector<Scalar> c(static_cast<std::size_t>(count * m * n));
      std::vector<Scalar> expected = c;
      Gemm first{m, n, k, {a.data(), k}, {b.data(), n}, c.data(), n};
      gemm_batched({first, count, m * k, 0, m * n});
      for (Index i = 0; i < count; ++i) {
        Gemm one = first;
        one.a.data += i * m * k;
        one.c = expected.data() + i * m * n;
        gemm_serial(one);
      }
      EXPECT_EQ(c, expected);
    }
  }
}

}  // namespace
}  // namespace headlab
