// The record of a pruned run, by which its training can be repeated. Read next: stages.cc.
#pragma once

namespace headlab {

inline constexpr const char* kPruneFile = "prune.json";  // next to the pruned model

}  // namespace headlab
