// The named streams of random numbers. Different parts of the program use the same examples by
// drawing from the same stream, so each stream is named here and nowhere else. A key is folded from
// a seed and a purpose; tasks fold in the split and the number of the sequence (core/tasks/task.h),
// the trainer the step (src/core/train/trainer.cc). Read next: core/base/random.h.
#pragma once

#include "headlab/core/base/random.h"

namespace headlab::streams {

/// Returns the key of everything that follows from a seed given by a user.
inline Key seeded(std::int64_t seed) { return Key{static_cast<std::uint64_t>(seed)}; }

/// Returns the key of a model's initial values.
inline Key initial_values(std::int64_t seed) { return seeded(seed).fold("initial values"); }

/// Returns the key of held-out examples for evaluation, and of others that nothing else uses;
/// `evaluate` folds in "evaluate".
inline Key held_out() { return Key{}; }
inline Key test() { return Key{}.fold("test"); }
inline Key evaluated(Key which = held_out()) { return which.fold("evaluate"); }

/// Returns the key of examples for scoring heads: those of evaluation, so that held-out example N
/// is one sequence in all commands.
inline Key scored() { return evaluated(); }

/// Returns the key of examples for choices of pruning methods, for timing, and for the beginning of
/// a text.
inline Key choosing() { return Key{}.fold("prune"); }
inline Key timed() { return Key{}.fold("time"); }
inline Key prompts() { return Key{}.fold("sample"); }

}  // namespace headlab::streams
