// Comparison of two arms, seed by seed: the tested differences, and both tests with one
// correction for all arms. Emergences that are known only as "never" or "by the first scored step"
// are compared if their order is certain. Read next: compare.cc, which reports the result.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlab/lab/studies/compare.h"

namespace headlab {

/// Two arms on the seeds that both have.
struct SideBySide {
  std::vector<double> arm{}, reference{};        // numbers of the seeds in which both have one
  std::vector<std::int64_t> shared{}, either{};  // seeds
  Index arm_without = 0, reference_without = 0;  // runs of shared seeds without the number
  /// Difference of the arm from the reference in each of these seeds, or logarithm of the ratio; 0
  /// if the order of two emergences is unknown.
  std::vector<double> differences{};
  bool censored = false;  // some emergence is known only as "never" or "by this step"
  Index arm_failed = 0, reference_failed = 0;  // seeds that fail, of those with both numbers
  std::vector<double> where_both_succeed{};    // differences in the other seeds
  std::string refusal{};                       // why the arms cannot be compared; "" if they can
  std::string also{};                          // "steps: 1000, 500": other conditions that differ
  bool at_guessing = false;  // half of the seeds of an arm, or more, are at guessing

  bool has_failures() const { return arm_failed + reference_failed > 0; }

  bool fail_alike() const { return arm_without == reference_without; }
};

/// One arm compared with the reference.
struct Comparison {
  const Arm* arm;
  SideBySide sides;
  Compared found{};  // indices are not used
};

/// Returns all seeds of an arm, with the number or without it.
std::vector<std::int64_t> seeds_of(const Arm& arm);
std::optional<double> number_of(const Arm& arm, std::int64_t seed);

/// Compares every arm with the arm of the reference's name and its role, corrected for all of them.
std::vector<Comparison> all_compared(std::span<const Arm> arms, const std::string& reference,
                                     const Measure& measure, double margin);

}  // namespace headlab
