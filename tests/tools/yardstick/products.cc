// Matrix products of headlab and of oneDNN, OpenBLAS and libxsmm, on one thread, in one program: in
// every round each library multiplies each shape, and medians over rounds are shown in 10^9
// operations a second (a multiply-add counts two). Shapes are those of the training steps of
// `yardstick step` (NN forward, NT for the inputs' gradient, TN for the weights'), squares and odd
// sizes. Never part of the build; see products.sh.
#include <cblas.h>
#include <libxsmm.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/kernels/gemm.h"
#include "headlab/core/base/threads.h"

namespace {

using Float = float;

struct Product {
  const char* what;
  int m, n, k;
  char form;  // N: NN, B: B transposed, A: A transposed
  double operations() const { return 2.0 * m * n * k; }
};

const std::vector<Product> kProducts = {{"toy ff in", 2048, 256, 64, 'N'},
                                        {"toy ff dX", 2048, 64, 256, 'B'},
                                        {"toy ff dW", 64, 256, 2048, 'A'},
                                        {"toy q", 2048, 64, 64, 'N'},
                                        {"toy q dX", 2048, 64, 64, 'B'},
                                        {"toy q dW", 64, 64, 2048, 'A'},
                                        {"char ff in", 768, 512, 128, 'N'},
                                        {"char ff dX", 768, 128, 512, 'B'},
                                        {"char ff dW", 128, 512, 768, 'A'},
                                        {"char logits", 768, 65, 128, 'N'},
                                        {"medium ff in", 1024, 1536, 384, 'N'},
                                        {"medium ff dX", 1024, 384, 1536, 'B'},
                                        {"medium ff dW", 384, 1536, 1024, 'A'},
                                        {"gpt2 ff in", 256, 3072, 768, 'N'},
                                        {"gpt2 ff dX", 256, 768, 3072, 'B'},
                                        {"gpt2 ff dW", 768, 3072, 256, 'A'},
                                        {"square", 256, 256, 256, 'N'},
                                        {"square", 512, 512, 512, 'N'},
                                        {"square", 1024, 1024, 1024, 'N'},
                                        {"odd", 65, 65, 65, 'N'},
                                        {"odd", 129, 129, 129, 'N'},
                                        {"odd", 257, 257, 257, 'N'}};

struct Operands {
  std::vector<Float> a, b, c;
};

Operands operands_of(const Product& p) {
  Operands o{std::vector<Float>(1L * p.m * p.k), std::vector<Float>(1L * p.k * p.n),
             std::vector<Float>(1L * p.m * p.n)};
  std::srand(1);
  for (std::vector<Float>* x : {&o.a, &o.b})
    for (Float& value : *x) value = static_cast<Float>(std::rand()) / RAND_MAX - .5F;
  return o;
}

using Multiply = void (*)(const Product& p, Operands& o);

void headlab_multiplies(const Product& p, Operands& o) {
  using headlab::ConstMatrix;
  const ConstMatrix a =
      p.form == 'A' ? ConstMatrix{o.a.data(), 1, p.m} : ConstMatrix{o.a.data(), p.k};
  const ConstMatrix b =
      p.form == 'B' ? ConstMatrix{o.b.data(), 1, p.k} : ConstMatrix{o.b.data(), p.n};
  headlab::gemm({.m = p.m, .n = p.n, .k = p.k, .a = a, .b = b, .c = o.c.data(), .c_stride = p.n});
}

void dnnl_multiplies(const Product& p, Operands& o) {
  dnnl_sgemm(p.form == 'A' ? 'T' : 'N', p.form == 'B' ? 'T' : 'N', p.m, p.n, p.k, 1, o.a.data(),
             p.form == 'A' ? p.m : p.k, o.b.data(), p.form == 'B' ? p.k : p.n, 0, o.c.data(), p.n);
}

void openblas_multiplies(const Product& p, Operands& o) {
  cblas_sgemm(CblasRowMajor, p.form == 'A' ? CblasTrans : CblasNoTrans,
              p.form == 'B' ? CblasTrans : CblasNoTrans, p.m, p.n, p.k, 1, o.a.data(),
              p.form == 'A' ? p.m : p.k, o.b.data(), p.form == 'B' ? p.k : p.n, 0, o.c.data(), p.n);
}

// Column-major: C' = B' A'.
void libxsmm_multiplies(const Product& p, Operands& o) {
  const char first = p.form == 'B' ? 'T' : 'N', second = p.form == 'A' ? 'T' : 'N';
  const int m = p.n, n = p.m, k = p.k, lda = p.form == 'B' ? p.k : p.n,
            ldb = p.form == 'A' ? p.m : p.k, ldc = p.n;
  const Float one = 1, zero = 0;
  libxsmm_sgemm(&first, &second, &m, &n, &k, &one, o.b.data(), &lda, o.a.data(), &ldb, &zero,
                o.c.data(), &ldc);
}

struct Library {
  const char* name;
  Multiply multiply;
};
constexpr Library kLibraries[] = {{"headlab", headlab_multiplies},
                                  {"oneDNN", dnnl_multiplies},
                                  {"OpenBLAS", openblas_multiplies},
                                  {"libxsmm", libxsmm_multiplies}};
constexpr std::size_t kCount = std::size(kLibraries);

double gflops(const Product& p, Operands& o, Multiply multiply) {
  const int repeats = std::max(1, static_cast<int>(4e8 / p.operations()));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) multiply(p, o);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return repeats * p.operations() / took.count() / 1e9;
}

/// All libraries must agree, or what is timed is not the same product.
void check(const Product& p, Operands& o) {
  headlab_multiplies(p, o);
  const std::vector<Float> ours = o.c;
  for (const Library& library : kLibraries) {
    std::fill(o.c.begin(), o.c.end(), 0.F);
    library.multiply(p, o);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (std::abs(o.c[i] - ours[i]) < 1e-3F * std::sqrt(static_cast<Float>(p.k))) continue;
      std::printf("%s: %s is wrong at %zu\n", p.what, library.name, i);
      std::exit(1);
    }
  }
}

}  // namespace

int main(int count, char** values) {
  const int rounds = count > 1 ? std::atoi(values[1]) : 15;
  headlab::set_thread_count(1);
  std::printf("%-14s %5s %5s %5s", "", "m", "n", "k");
  for (const Library& library : kLibraries) std::printf(" %9s", library.name);
  std::printf("  of the best other\n");
  std::vector<double> logs(kCount);
  double worst = 10;
  for (const Product& p : kProducts) {
    Operands o = operands_of(p);
    check(p, o);
    std::vector<std::vector<double>> speeds(kCount);
    for (int round = 0; round < rounds; ++round)
      for (std::size_t l = 0; l < kCount; ++l)
        speeds[l].push_back(gflops(p, o, kLibraries[l].multiply));
    std::printf("%-14s %5d %5d %5d", p.what, p.m, p.n, p.k);
    std::vector<double> medians;
    for (std::size_t l = 0; l < kCount; ++l) {
      std::nth_element(speeds[l].begin(), speeds[l].begin() + rounds / 2, speeds[l].end());
      medians.push_back(speeds[l][static_cast<std::size_t>(rounds / 2)]);
      logs[l] += std::log(medians[l]) / static_cast<double>(kProducts.size());
      std::printf(" %9.1f", medians[l]);
    }
    const double share = medians[0] / *std::max_element(medians.begin() + 1, medians.end());
    worst = std::min(worst, share);
    std::printf("  %.2f %s\n", share,
                p.form == 'N'   ? ""
                : p.form == 'A' ? "A transposed"
                                : "B transposed");
  }
  std::printf("%-32s", "geometric mean");
  for (const double log : logs) std::printf(" %9.1f", std::exp(log));
  std::printf("  worst %.2f\n", worst);
}
