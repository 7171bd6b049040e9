// All differentiable ops in one `#include`. Each header is one family; forward and backward of an
// op are next to each other in src/core/ops/. To add an op, write it (examples/own_op.cc), declare
// it in a header here, and add a row to tests/ops/gradient_checks.cc.
#pragma once

#include "headlab/core/ops/arithmetic.h"
#include "headlab/core/ops/attention.h"
#include "headlab/core/ops/layout.h"
#include "headlab/core/ops/loss.h"
#include "headlab/core/ops/matmul.h"
#include "headlab/core/ops/rows.h"
