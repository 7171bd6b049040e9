// All differentiable ops: `#include` this one.
#pragma once

#include "headlab/ops/arithmetic.h"
#include "headlab/ops/attention.h"
#include "headlab/ops/gather.h"
#include "headlab/ops/layout.h"
#include "headlab/ops/math.h"
#include "headlab/ops/matmul.h"
#include "headlab/ops/norm.h"
#include "headlab/ops/reduce.h"
#include "headlab/ops/softmax.h"
