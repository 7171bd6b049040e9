// How many heads a model uses and needs, by one method's curve. If the sizes that were tried leave
// the number open, its bounds are reported; nothing is concluded about a model at guessing. Read
// next: curve.cc.
#include "headlab/core/base/text.h"
#include "headlab/lab/prune/curve.h"
#include "headlab/lab/runs/guards.h"

namespace headlab {

/// Returns `full` plus 1% of the distance from it to `none`.
static double limit_of(const Judged& full, const Judged& none) {
  return full.loss + 0.01 * (none.loss - full.loss);
}

std::optional<Index> used_heads(const MethodCurve& method, const Judged& full, const Judged& none) {
  for (const CurvePoint& point : method.points) {
    if (point.pruned.loss <= limit_of(full, none)) return point.kept;
  }
  return std::nullopt;
}

std::optional<Index> needed_heads(const MethodCurve& method, const Judged& none) {
  for (const CurvePoint& point : method.points) {
    const bool is_known = point.finetuned && point.unpruned;
    if (is_known && point.finetuned->loss <= limit_of(*point.unpruned, none)) return point.kept;
  }
  return std::nullopt;
}

namespace {

/// Returns the fewest and the most heads that a number can be: more than the largest smaller size
/// that was tried.
std::vector<Index> bounds_of(const MethodCurve& method, Index found, Index fewest) {
  Index least = fewest;
  for (const CurvePoint& point : method.points) {
    if (point.kept < found) least = point.kept + 1;
  }
  return {least, found};
}

/// Replaces a number that the sizes leave open by its bounds.
void bound(const MethodCurve& method, Index fewest, std::optional<Index>& number,
           std::optional<std::vector<Index>>& bounds) {
  if (!number) return;
  const std::vector<Index> open = bounds_of(method, *number, fewest);
  if (open[0] >= open[1]) return;
  bounds = open;
  number.reset();
}

/// Returns "greedy uses 5 to 8 of 8 heads (tried: 4, 8)".
std::string bounds_text(const MethodCurve& method, const char* verb, const std::vector<Index>& open,
                        Index heads) {
  const std::string tried =
      join(texts_of(method.points, [](const CurvePoint& point) { return text(point.kept); }), ", ");
  return text(method.method, " ", verb, " ", open[0], " to ", open[1], " of ", heads,
              " heads (tried: ", tried, ")\n");
}

}  // namespace

void conclude(MethodCurve& method, const Curve& about, Index fewest) {
  if (about.at_guessing.value_or(false)) {
    method.guard = kGuessingGuard;
    return;
  }
  method.used = used_heads(method, about.full, about.none);
  method.needed = needed_heads(method, about.none);
  bound(method, fewest, method.used, method.used_bounds);
  bound(method, fewest, method.needed, method.needed_bounds);
  if (method.used_bounds || method.needed_bounds) method.guard = kSizesGuard;
}

std::string refused_text(const Curve& curve) {
  if (curve.at_guessing.value_or(false)) {
    return text("no number of heads is used or needed: ", kAtGuessing, "\n");
  }
  std::string said;
  for (const MethodCurve& method : curve.methods) {
    if (method.used_bounds) said += bounds_text(method, "uses", *method.used_bounds, curve.heads);
    if (method.needed_bounds) {
      said += bounds_text(method, "needs", *method.needed_bounds, curve.heads);
    }
  }
  return said;
}

}  // namespace headlab
