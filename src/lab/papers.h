// The experiments of each paper, in a file of its name.
// Read next: michel.cc, voita.cc.
// The table of both is papers() in headlab/lab/reproduce.h.
#pragma once

#include "headlab/lab/reproduce.h"

namespace headlab {

extern const Paper kMichel, kVoita;

}  // namespace headlab
