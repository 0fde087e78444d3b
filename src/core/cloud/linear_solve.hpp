// The step of a Gauss-Newton iteration: a small symmetric system, some of whose unknowns may be held at 0.
#pragma once

#include "core/host_device.hpp"
#include "core/unrolled.hpp"

#include <cstdint>

namespace kith::core {

/// Entry (i, j), i <= j, of an N x N matrix whose upper triangle lies row by row.
template <int N>
KITH_HOST_DEVICE constexpr int upper(int i, int j) {
  return i * N - i * (i - 1) / 2 + (j - i);
}

/// Solves matrix * x = right by LDL^T. Unknowns that `free_mask` lacks, or that the equations leave open (their pivot
/// falls below 1e-12 of the diagonal), become 0. Returns the mask of the unknowns that were solved for.
template <int N>
KITH_HOST_DEVICE std::uint32_t solve_symmetric(const double* matrix, const double* right, std::uint32_t free_mask,
                                               double (&x)[N]) {
  constexpr double kOpen = 1e-12;
  double lower[N][N];  // unit lower triangle below the diagonal
  double pivot[N];
  double y[N];
  std::uint32_t solved = 0;
  KITH_UNROLL
  for (int j = 0; j < N; ++j) {
    const double diagonal = matrix[upper<N>(j, j)];
    double d = diagonal;
    KITH_UNROLL
    for (int k = 0; k < j; ++k) {
      if (solved >> k & 1) d -= lower[j][k] * lower[j][k] * pivot[k];
    }
    pivot[j] = d;
    y[j] = 0;
    if ((free_mask >> j & 1) == 0 || !(d > kOpen * diagonal)) continue;
    solved |= 1u << j;
    double sum = right[j];
    KITH_UNROLL
    for (int k = 0; k < j; ++k) {
      if (solved >> k & 1) sum -= lower[j][k] * y[k];
    }
    y[j] = sum;
    KITH_UNROLL
    for (int i = j + 1; i < N; ++i) {
      double entry = matrix[upper<N>(j, i)];
      KITH_UNROLL
      for (int k = 0; k < j; ++k) {
        if (solved >> k & 1) entry -= lower[i][k] * lower[j][k] * pivot[k];
      }
      lower[i][j] = entry / d;
    }
  }
  KITH_UNROLL
  for (int j = N - 1; j >= 0; --j) {
    x[j] = 0;
    if ((solved >> j & 1) == 0) continue;
    double value = y[j] / pivot[j];
    KITH_UNROLL
    for (int i = j + 1; i < N; ++i) {
      if (solved >> i & 1) value -= lower[i][j] * x[i];
    }
    x[j] = value;
  }
  return solved;
}

}  // namespace kith::core
