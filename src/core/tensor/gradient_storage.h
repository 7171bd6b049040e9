// How gradients are stored, for ops that save time with it. An op needs only Node::sum_into or
// Node::slot (tape.h). A gradient may also be the memory of another one, or hold only the rows that
// are not zero. The bits are the same in each case. Read next: src/core/ops/layout.cc, whose
// lookups store rows.
#pragma once

#include <cstddef>

#include "headlab/core/tensor/tape.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

class GradientStorage {
 public:
  /// Adds the output's gradient to that of input i, as y = x + c does. It is shared until an op
  /// adds more.
  static void pass_to(const Node& node, std::size_t i);
  /// Adds `gradient`, times the output's gradient, which has one element, to that of input i.
  /// `gradient` is used without a copy and must not be used again.
  static void give(const Node& node, std::size_t i, const Tensor& gradient);
  /// Returns rows of the gradient of input i, one after the other, for an op that adds only to
  /// `rows`, distinct and ascending. Null if the gradient must have all rows, because the input is
  /// no leaf or has a gradient already: then use sum_into.
  static Scalar* sum_into_rows(const Node& node, std::size_t i, const Ids& rows);
  /// Stores all rows of a gradient that is stored by rows.
  static void complete(Node& node);
  /// Returns the gradient of a tensor as it is stored, or null if there is none.
  static const Storage* of(const Tensor& tensor);
};

}}  // namespace headlab
