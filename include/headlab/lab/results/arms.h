// Comparison of arms over seeds. An arm is the same experiment with several seeds. This file pairs
// seeds, compares arms, and tests them; the caller chooses which tests one correction covers.
// Read next: comparison.h, which has the tests; lab/studies/compare.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlab/core/base/json.h"
#include "headlab/lab/results/comparison.h"

namespace headlab {

/// One experiment with several seeds.
struct SeedValues {
  std::string name;
  std::vector<std::int64_t> seeds{};
  std::vector<double> values{};  // one per seed
};
/// An arm compared with another, on the same seeds.
struct Compared {
  std::size_t arm = 0, reference = 0;  // indices
  Paired difference{};                 // of values, or of their logarithms
  Test test{};                         // null hypothesis: no difference
  Test equal{};                        // null hypothesis: a difference of the margin or more

  std::int64_t seeds() const { return difference.seeds; }
};

/// Returns the arms without the seeds that some arm lacks, in the order of the first arm.
std::vector<SeedValues> on_shared_seeds(std::vector<SeedValues> arms);
/// Returns the comparison of paired differences; its test is sign_flip_p, not corrected.
Compared compared(std::span<const double> differences);
/// Compares an arm with the arm `picked`, as against_picked() does.
Compared compared_with_picked(std::span<const SeedValues> arms, std::size_t arm, std::size_t picked,
                              Statistic statistic = Statistic::means);
/// Compares each other arm with the arm `picked`, which was chosen from all of them by its mean, on
/// logarithms of their values. p is p_of_picked, not corrected. The arms must have the same seeds.
std::vector<Compared> against_picked(std::span<const SeedValues> arms, std::size_t picked);

/// Converts the ratio of two arms, compared on logarithms, and its p-values to JSON.
Json to_json(const Compared& logs);

}  // namespace headlab
