// The experiments of each paper, in a file of its name.
// Read next: michel.cc, voita.cc.
// The table of both is papers() in headlab/lab/reproduce.h.
#pragma once

#include "headlab/lab/reproduce.h"

namespace headlab {

extern const Paper kMichel, kVoita;

inline void tell(const Run& run, const PaperOptions& options, const std::string& what) {
  if (options.progress) options.progress(run.path.string() + ": " + what);
}

/// How many parts reports of several runs have at `key`. Error unless all have as many.
std::size_t parts_of(std::span<const Json> reports, const char* key);

}  // namespace headlab
