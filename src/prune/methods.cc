// The table of pruning methods, and the one way to call them. On a converged model gradients
// vanish, so the scores made from gradients may do no better than `random`: that is no bug, it is
// what `headlab curve` is for.
// Read next: rankings.cc, search.cc, learned.cc.
#include "headlab/prune/methods.h"

#include <algorithm>
#include <array>

#include "headlab/base/error.h"
#include "prune/judge.h"

namespace headlab {
namespace {

using enum MethodKind;
constexpr const char* kMichel = "Michel et al. 2019";

constexpr std::array kMethods = {
    PruneMethod{"random", baseline, "heads drawn by --seed; no pass at all", "", random_scores,
                nullptr},
    PruneMethod{"magnitude", score, "Frobenius norm of the head's rows of W_O; no pass", "",
                magnitude_scores, nullptr},
    PruneMethod{"magnitude_ov", score, "Frobenius norm of the head's W_V W_O; no pass", "",
                ov_magnitude_scores, nullptr},
    PruneMethod{"entropy", score, "minus the mean entropy of the head's pattern; 1 forward pass",
                "", entropy_scores, nullptr},
    PruneMethod{"confidence", score, "mean of the largest weight of each query; 1 forward pass",
                "Voita et al. 2019", confidence_scores, nullptr},
    PruneMethod{"importance", score,
                "mean over examples of |dL/dgate|, l2-normalised by layer; 1 backward pass",
                "Michel et al. 2019, equation 2", importance_scores, nullptr},
    PruneMethod{"importance_raw", score, "the same without the normalisation; 1 backward pass",
                kMichel, raw_importance_scores, nullptr},
    PruneMethod{"importance_token", score,
                "mean over positions of |dL/dgate| there, l2-normalised by layer; 1 backward pass",
                "the program of Michel et al. 2019", token_importance_scores, nullptr},
    PruneMethod{"importance_token_raw", score,
                "the same without the normalisation; 1 backward pass",
                "the program of Michel et al. 2019", raw_token_importance_scores, nullptr},
    PruneMethod{"importance_batch", score,
                "mean over batches of |dL(batch)/dgate|, l2-normalised by layer; 1 backward pass",
                "popular scripts", batch_importance_scores, nullptr},
    PruneMethod{"importance_batch_raw", score,
                "the same without the normalisation; 1 backward pass", "popular scripts",
                raw_batch_importance_scores, nullptr},
    PruneMethod{"taylor", score,
                "-dL/dgate with its sign: the first-order estimate of what removal costs; 1 "
                "backward pass",
                "Molchanov et al. 2017", taylor_scores, nullptr},
    PruneMethod{"lrp", score,
                "mean over examples of |sum of gradient x output|, of the right answers' logits "
                "with patterns and norms frozen; 1 backward pass",
                "Voita et al. 2019, section 4, in kind", relevance_scores, nullptr},
    PruneMethod{"ablation", score,
                "rise of the loss with this head's output at 0; H forward passes", kMichel,
                zero_ablation_scores, nullptr},
    PruneMethod{"ablation_mean", score,
                "rise of the loss with this head's output at its mean; H forward passes", "",
                mean_ablation_scores, nullptr},
    PruneMethod{"ablation_resample", score,
                "rise of the loss with this head's output from another example; H forward passes",
                "", resample_ablation_scores, nullptr},
    PruneMethod{
        "greedy", search,
        "backward elimination: the head whose removal costs least goes, then all are judged "
        "again; H^2/2 forward passes",
        "", nullptr, greedy_choices},
    PruneMethod{"forward", search,
                "forward selection: from no head at all, the one that helps most is added; H^2/2 "
                "forward passes",
                "", nullptr, forward_choices},
    PruneMethod{"exhaustive", search,
                "the subset with the lowest loss of all of its size; 2^H forward passes, H <= 16",
                "", nullptr, exhaustive_choices},
    PruneMethod{
        "l0", training,
        "hard concrete gates, penalty lambda times the expected number of open ones, trained "
        "along with the weights; --gate-steps of training",
        "Voita et al. 2019, section 6; Louizos et al. 2018", nullptr, l0_choices},
    PruneMethod{"subset", training,
                "a gate by Gumbel soft top-k with exactly the budget open, trained along with the "
                "weights; --gate-steps of training for each size",
                "Li et al. 2021", nullptr, subset_choices},
    PruneMethod{"flow", training,
                "trained again from the start; on the way, the head with the least gradient of its "
                "gate goes, one by one; a whole training for each size",
                "", nullptr, flow_choices},
};

}  // namespace

std::span<const PruneMethod> prune_table() { return kMethods; }

const PruneMethod& find_prune_method(const std::string& name) {
  std::vector<std::string> names;
  for (const PruneMethod& method : kMethods) {
    if (name == method.name) return method;
    names.emplace_back(method.name);
  }
  throw unknown_name("pruning method", name, names);
}

std::vector<Choice> choose_heads(const PruneProblem& problem, const PruneMethod& method,
                                 std::span<const Index> sizes, PassCount* cost) {
  const auto heads = std::ssize(all_heads(problem.model));
  const Index fewest = fewest_heads(problem);
  for (const Index size : sizes) {
    require(size >= 0 && size <= heads, "--keep ", size, ": the model has ", heads, " heads");
    require(size >= fewest, "--keep ", size, " is less than the ", fewest, " heads that ",
            problem.per_layer_min, " in each attention module make");
  }
  PassCount unused;
  PassCount& count = cost != nullptr ? *cost : unused;
  if (method.scores != nullptr) return keep_highest(problem, method.scores(problem, count), sizes);
  return method.choose(problem, sizes, count);
}

}  // namespace headlab
