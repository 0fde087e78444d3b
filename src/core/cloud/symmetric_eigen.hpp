// Eigenvalues and eigenvectors of small symmetric matrices, by Jacobi rotations of + - * / and sqrt alone.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <cstdint>

namespace kith::core {

/// Ascending; vectors[i] belongs to values[i], has length 1, and its largest component (the first of those) is
/// positive.
template <int N>
struct SymmetricEigen {
  double values[N];
  double vectors[N][N];
};

/// Of a vector and its opposite, the one whose component of the largest size (the first of those) is positive.
template <int N>
KITH_HOST_DEVICE void make_largest_positive(double (&vector)[N]) {
  int largest = 0;
  for (int i = 1; i < N; ++i) {
    if (absolute(vector[i]) > absolute(vector[largest])) largest = i;
  }
  if (vector[largest] < 0) {
    for (int i = 0; i < N; ++i) vector[i] = -vector[i];
  }
}

namespace eigen_detail {

/// Turns rows and columns p and q of the matrix so that its entry (p, q) becomes 0, and the columns of `turned` along.
template <int N>
KITH_HOST_DEVICE void rotate(double (&matrix)[N][N], double (&turned)[N][N], int p, int q) {
  const double off = matrix[p][q];
  const double theta = (matrix[q][q] - matrix[p][p]) / (2 * off);
  const double size = absolute(theta) + square_root(theta * theta + 1);
  const double tangent = (theta < 0 ? -1.0 : 1.0) / size;
  const double cosine = 1 / square_root(tangent * tangent + 1);
  const double sine = tangent * cosine;
  matrix[p][p] = matrix[p][p] - tangent * off;
  matrix[q][q] = matrix[q][q] + tangent * off;
  matrix[p][q] = matrix[q][p] = 0;
  for (int i = 0; i < N; ++i) {
    if (i != p && i != q) {
      const double ip = matrix[i][p];
      const double iq = matrix[i][q];
      matrix[i][p] = matrix[p][i] = cosine * ip - sine * iq;
      matrix[i][q] = matrix[q][i] = sine * ip + cosine * iq;
    }
    const double vp = turned[i][p];
    const double vq = turned[i][q];
    turned[i][p] = cosine * vp - sine * vq;
    turned[i][q] = sine * vp + cosine * vq;
  }
}

}  // namespace eigen_detail

/// Of a finite matrix, of which the upper triangle counts. Converges quadratically: four or five sweeps.
template <int N>
KITH_HOST_DEVICE SymmetricEigen<N> symmetric_eigen(const double (&of)[N][N]) {
  constexpr int kMostSweeps = 16;
  double matrix[N][N];
  double turned[N][N];
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      matrix[i][j] = i <= j ? of[i][j] : of[j][i];
      turned[i][j] = i == j ? 1 : 0;
    }
  }
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool is_diagonal = true;
    for (int p = 0; p < N - 1; ++p) {
      for (int q = p + 1; q < N; ++q) {
        const double off = absolute(matrix[p][q]);
        const double at_p = absolute(matrix[p][p]);
        const double at_q = absolute(matrix[q][q]);
        if (at_p + off == at_p && at_q + off == at_q) {  // too small to change what it would be added to
          matrix[p][q] = matrix[q][p] = 0;
          continue;
        }
        is_diagonal = false;
        eigen_detail::rotate(matrix, turned, p, q);
      }
    }
    if (is_diagonal) break;
  }
  int order[N];
  for (int i = 0; i < N; ++i) order[i] = i;
  for (int i = 1; i < N; ++i) {
    for (int j = i; j > 0 && matrix[order[j]][order[j]] < matrix[order[j - 1]][order[j - 1]]; --j) {
      const int swapped = order[j];
      order[j] = order[j - 1];
      order[j - 1] = swapped;
    }
  }
  SymmetricEigen<N> result;
  for (int i = 0; i < N; ++i) {
    const int from = order[i];
    result.values[i] = matrix[from][from];
    for (int j = 0; j < N; ++j) result.vectors[i][j] = turned[j][from];
    make_largest_positive(result.vectors[i]);
  }
  return result;
}

}  // namespace kith::core
