// What this machine can do at most: the limits beside which every speed is shown. Both are
// measured, in the same run.
// Read next: bench.h, which shows a training step beside them.
#pragma once

#include "headlab/kernels/scalar.h"

namespace headlab {

/// Multiply-adds that stay in registers, on all threads of thread_count(): 10^9 operations a
/// second, a multiply-add counting two. The best of several short runs.
double measure_fma_peak();

/// a[i] = b[i] + s c[i] over arrays far larger than the caches, on all threads: 10^9 bytes a
/// second, 12 bytes an element (24 in double), as the STREAM triad counts (McCalpin 1995). The best
/// of several runs.
double measure_triad();

/// How many programs have been running or waiting for a processor during the last minute; 0 where
/// the system does not tell.
double load_average();

/// The process's largest resident memory so far, in MB; 0 where the system does not tell.
double peak_memory_mb();

}  // namespace headlab
