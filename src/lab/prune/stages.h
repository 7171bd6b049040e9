// The record of a pruned run. It names the stages of training of the run, so that
// they can be repeated with other heads or with all of them.
// Read next: stages.cc; headlab/lab/prune/prune.h, which declares the stages.
#pragma once

namespace headlab {

inline constexpr const char* kPruneFile = "prune.json";  // next to the pruned model

}  // namespace headlab
