// The named streams of random numbers. "The same examples every time" means that two layers draw
// from one stream, so each stream has its name here and nowhere else. A key is folded from a seed
// and a purpose; tasks fold in the split and the number of the sequence (tasks/task.h), the trainer
// the step (trainer.cc). Read next: base/random.h.
#pragma once

#include "headlab/base/random.h"

namespace headlab::streams {

/// Everything that follows from a seed which a user gave.
inline Key seeded(std::int64_t seed) { return Key{static_cast<std::uint64_t>(seed)}; }

/// Initial values of a model.
inline Key initial_values(std::int64_t seed) { return seeded(seed).fold("initial values"); }

/// Held-out examples on which models are judged, and others that nothing else has seen; `evaluate`
/// folds in "evaluate".
inline Key held_out() { return Key{}; }
inline Key test() { return Key{}.fold("test"); }
inline Key evaluated(Key which = held_out()) { return which.fold("evaluate"); }

/// Examples on which heads are scored, on which pruning methods choose, with which work is timed,
/// and from which a text begins.
inline Key scored() { return Key{}.fold("heads"); }
inline Key choosing() { return Key{}.fold("prune"); }
inline Key timed() { return Key{}.fold("time"); }
inline Key prompts() { return Key{}.fold("sample"); }

}  // namespace headlab::streams
