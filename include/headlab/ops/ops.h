// All differentiable ops: `#include` this one. A family per file, forward and backward of each op
// side by side in src/core/ops/. To add one: write it (examples/own_op.cc), declare it in a header
// here, and give it a row in tests/ops/gradient_checks.cc.
#pragma once

#include "headlab/ops/arithmetic.h"
#include "headlab/ops/attention.h"
#include "headlab/ops/layout.h"
#include "headlab/ops/matmul.h"
#include "headlab/ops/rows.h"
