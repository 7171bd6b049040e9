// All differentiable ops in one `#include`. Each header is one family; forward and backward of an
// op are next to each other in src/core/ops/. To add an op, write it (examples/own_op.cc), declare
// it in a header here, and add a row to tests/ops/gradient_checks.cc.
#pragma once

#include "headlab/ops/arithmetic.h"
#include "headlab/ops/attention.h"
#include "headlab/ops/layout.h"
#include "headlab/ops/loss.h"
#include "headlab/ops/matmul.h"
#include "headlab/ops/rows.h"
