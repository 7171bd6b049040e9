// The experiments of Michel et al. and Voita et al. as tables, ours first and theirs below each.
// The published models are others (translation, BERT): compare shapes, not values. Read next:
// lab/michel.h, lab/voita.h.
#pragma once

#include <string>

#include "headlab/lab/michel.h"
#include "headlab/lab/voita.h"

namespace headlab {

std::string michel_text(const MichelReport& report);
std::string voita_text(const VoitaReport& report);

}  // namespace headlab
