// Limits of the machine, measured in the same run as the benchmarks that are compared with them.
// Ratios carry over to other machines, times do not. Private to the yardstick.
// Read next: machine.cc.
#pragma once

namespace headlab {

/// Measures multiply-adds whose operands stay in registers, on all threads of thread_count().
/// Returns 10^9 operations a second, a multiply-add counting two; the best of several short runs.
double measure_fma_peak();

/// Measures square products of 192 to 512 whose operands stay in the caches, one for each thread.
/// Returns 10^9 operations a second of the fastest size. No product is faster: loads of operands
/// take part of the time of multiply-adds, in every library.
double measure_best_product();

/// Measures a[i] = b[i] + s c[i] over arrays far larger than the caches, on all threads. Returns
/// 10^9 bytes a second, 12 bytes an element (24 in double), as the STREAM triad counts (McCalpin
/// 1995); the best of several runs.
double measure_triad();

}  // namespace headlab
