// An evaluation as text: a row for each target, and one for all together
// where there are several. `train` and `eval` show the same table under
// different headings. Read next: train/evaluate.h.
#pragma once

#include <string>

#include "headlab/train/evaluate.h"

namespace headlab {

struct EvaluationTextOptions {
  const char* loss_heading = "loss";
  bool counts = false;  // of the targets, in a column
};

std::string evaluation_text(const Evaluation& evaluation,
                            const EvaluationTextOptions& options = {});

}  // namespace headlab
