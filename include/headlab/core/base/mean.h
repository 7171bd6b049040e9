// A mean together with the number of its terms. A mean over nothing has no value: it is null in
// JSON, empty in CSV and "-" in text, and it enters no other mean, maximum, p-value or sentence.
// Analyses, evaluations and logs add their terms to a Mean instead of dividing a sum themselves, so
// that no count of 0 can become the number 0.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace headlab {

class Mean {
 public:
  Mean() = default;
  Mean(double sum, std::int64_t count) : sum_(sum), count_(count) {}

  void add(double value) {
    sum_ += value;
    ++count_;
  }
  void add(const Mean& other) {
    sum_ += other.sum_;
    count_ += other.count_;
  }

  double sum() const { return sum_; }
  std::int64_t count() const { return count_; }
  /// Returns sum / count; nothing if there is no term.
  std::optional<double> value() const {
    return count_ > 0 ? std::optional(sum_ / static_cast<double>(count_)) : std::nullopt;
  }
  /// Returns sum / count; NaN, which Json converts to null, if there is no term.
  double or_nan() const { return value().value_or(std::numeric_limits<double>::quiet_NaN()); }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace headlab
