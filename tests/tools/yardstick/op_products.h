// The matrix products of an op, timed alone. A profile compares the pace of an op in a step with
// the pace of its products on the same machine in the same minute: the rest of its time is other
// work, such as activations. Read next: op_products.cc.
#pragma once

#include <vector>

#include "headlab/core/tensor/watch.h"

namespace headlab {

/// A product of [m, k] and [k, n], with operands stored transposed or not.
struct Product {
  Index m, n, k;
  bool transposes_a = false, transposes_b = false;

  double operations() const {
    return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  friend bool operator==(const Product&, const Product&) = default;
};

/// Returns the products of linear, feed_forward and linear_cross_entropy; none for other ops.
std::vector<Product> products_of(const WorkEvent& event);

/// Times products alone, on all threads, with operands that have left the caches of the cores.
class ProductTimer {
 public:
  /// Returns the milliseconds of a product: the median of several runs, measured once.
  double milliseconds_of(const Product& product);

 private:
  struct Timed {
    Product product;
    double ms;
  };
  std::vector<Timed> timed_;
};

}  // namespace headlab
