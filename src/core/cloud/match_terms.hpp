// What one pair of a registration adds to the equations of a Gauss-Newton step.
//
// The unknowns are a small turn w, a shift v and, with seven of them, a change s of the scale, which take the moved
// point y to (1 + s)(y + w x y) + v. The pair is weighed by a symmetric matrix M: the error is e^T M e with e = y - m,
// m the match.
#pragma once

#include "core/arithmetic.hpp"
#include "core/cloud/linear_solve.hpp"
#include "core/cloud/ordered_sum.hpp"
#include "core/host_device.hpp"

#include <cstdint>

namespace kith::core {

/// What a pair is measured by: the distance, the distance along the target's normal, or the distances along both
/// normals.
enum class PairError : std::uint8_t { point, plane, gicp };

/// How much a pair counts by its error r and the scale c of the kernel.
enum class PairWeight : std::uint8_t { equal, huber, cauchy, tukey, geman_mcclure };

/// Where the terms of a pair lie: the upper triangle of the matrix, the right side, the weighted squared error, the
/// squared distance, and 1.
template <int Unknowns>
struct TermPlaces {
  static constexpr int kRight = Unknowns * (Unknowns + 1) / 2;
  static constexpr int kError = kRight + Unknowns;
  static constexpr int kSquared = kError + 1;
  static constexpr int kPairs = kError + 2;
  static constexpr int kCount = kError + 3;
};

/// How pairs are measured and weighed.
struct PairRule {
  PairError error = PairError::point;
  PairWeight weight = PairWeight::equal;
  double scale = 1;  ///< of the kernel
};

/// Of the covariance along a normal; across it is 1. What gicp takes for the thickness of surfaces.
inline constexpr double kThickness = 1e-3;

KITH_HOST_DEVICE inline double weight_of(PairWeight kind, double squared_error, double scale) {
  const double ratio = squared_error / (scale * scale);
  switch (kind) {
    case PairWeight::equal:
      return 1;
    case PairWeight::huber:
      return ratio <= 1 ? 1 : 1 / square_root(ratio);
    case PairWeight::cauchy:
      return 1 / (1 + ratio);
    case PairWeight::tukey:
      return ratio < 1 ? (1 - ratio) * (1 - ratio) : 0;
    case PairWeight::geman_mcclure:
      return 1 / ((1 + ratio) * (1 + ratio));
  }
  return 1;
}

/// The inverse of 2 I - (1 - kThickness)(a a^T + b b^T), times 2 kThickness: errors along two normals that agree count
/// as themselves. A normal of 0 leaves a point round.
KITH_HOST_DEVICE inline void gicp_matrix(const double* a, const double* b, double (&matrix)[3][3]) {
  double sum[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      sum[i][j] = (i == j ? 2.0 : 0.0) - (1 - kThickness) * (a[i] * a[j] + b[i] * b[j]);
    }
  }
  const double c00 = sum[1][1] * sum[2][2] - sum[1][2] * sum[1][2];
  const double c01 = sum[0][2] * sum[1][2] - sum[0][1] * sum[2][2];
  const double c02 = sum[0][1] * sum[1][2] - sum[0][2] * sum[1][1];
  const double factor = 2 * kThickness / (sum[0][0] * c00 + sum[0][1] * c01 + sum[0][2] * c02);
  matrix[0][0] = factor * c00;
  matrix[0][1] = matrix[1][0] = factor * c01;
  matrix[0][2] = matrix[2][0] = factor * c02;
  matrix[1][1] = factor * (sum[0][0] * sum[2][2] - sum[0][2] * sum[0][2]);
  matrix[1][2] = matrix[2][1] = factor * (sum[0][1] * sum[0][2] - sum[0][0] * sum[1][2]);
  matrix[2][2] = factor * (sum[0][0] * sum[1][1] - sum[0][1] * sum[0][1]);
}

KITH_HOST_DEVICE inline void cross(const double* a, const double* b, double* result) {
  result[0] = a[1] * b[2] - a[2] * b[1];
  result[1] = a[2] * b[0] - a[0] * b[2];
  result[2] = a[0] * b[1] - a[1] * b[0];
}

/// One pair whose error is along one direction: `normal`.
template <int Unknowns>
KITH_HOST_DEVICE void plane_terms(const PairRule& rule, const double* moved, const double* error, const double* normal,
                                  Terms<TermPlaces<Unknowns>::kCount>& terms) {
  using Places = TermPlaces<Unknowns>;
  const double along = normal[0] * error[0] + normal[1] * error[1] + normal[2] * error[2];
  const double weight = weight_of(rule.weight, along * along, rule.scale);
  double row[Unknowns];
  cross(moved, normal, row);
  for (int i = 0; i < 3; ++i) row[3 + i] = normal[i];
  if constexpr (Unknowns == 7) row[6] = normal[0] * moved[0] + normal[1] * moved[1] + normal[2] * moved[2];
  for (int i = 0; i < Unknowns; ++i) {
    const double weighed = weight * row[i];
    for (int j = i; j < Unknowns; ++j) terms[upper<Unknowns>(i, j)] = weighed * row[j];
    terms[Places::kRight + i] = -(weighed * along);
  }
  terms[Places::kError] = weight * along * along;
}

/// One pair whose error is weighed by a matrix.
template <int Unknowns>
KITH_HOST_DEVICE void matrix_terms(const PairRule& rule, const double* moved, const double* error,
                                   double (&matrix)[3][3], Terms<TermPlaces<Unknowns>::kCount>& terms) {
  using Places = TermPlaces<Unknowns>;
  double weighed[3];
  for (int i = 0; i < 3; ++i) {
    weighed[i] = matrix[i][0] * error[0] + matrix[i][1] * error[1] + matrix[i][2] * error[2];
  }
  const double squared = error[0] * weighed[0] + error[1] * weighed[1] + error[2] * weighed[2];
  const double weight = weight_of(rule.weight, squared, rule.scale);
  for (int i = 0; i < 3; ++i) {
    weighed[i] *= weight;
    for (int j = 0; j < 3; ++j) matrix[i][j] *= weight;
  }
  // The columns of the Jacobian: e_i x y for the turn, e_i for the shift, y for the scale.
  double columns[Unknowns][3];
  for (int i = 0; i < 3; ++i) {
    const double axis[3] = {i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
    cross(axis, moved, columns[i]);
    for (int d = 0; d < 3; ++d) columns[3 + i][d] = axis[d];
    if constexpr (Unknowns == 7) columns[6][i] = moved[i];
  }
  for (int i = 0; i < Unknowns; ++i) {
    double product[3];
    for (int d = 0; d < 3; ++d) {
      product[d] = matrix[d][0] * columns[i][0] + matrix[d][1] * columns[i][1] + matrix[d][2] * columns[i][2];
    }
    for (int j = i; j < Unknowns; ++j) {
      terms[upper<Unknowns>(i, j)] =
          product[0] * columns[j][0] + product[1] * columns[j][1] + product[2] * columns[j][2];
    }
    terms[Places::kRight + i] = -(columns[i][0] * weighed[0] + columns[i][1] * weighed[1] + columns[i][2] * weighed[2]);
  }
  terms[Places::kError] = weight * squared;
}

/// One pair: the moved point, its match, both less the centre of the target, and their normals, as far as the rule
/// needs them; the source's is turned along already.
template <int Unknowns>
KITH_HOST_DEVICE void pair_terms(const PairRule& rule, const double* moved, const double* match,
                                 const double* source_normal, const double* target_normal,
                                 Terms<TermPlaces<Unknowns>::kCount>& terms) {
  using Places = TermPlaces<Unknowns>;
  double error[3];
  for (int i = 0; i < 3; ++i) error[i] = moved[i] - match[i];
  if (rule.error == PairError::plane) {
    plane_terms<Unknowns>(rule, moved, error, target_normal, terms);
  } else {
    double matrix[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (rule.error == PairError::gicp) gicp_matrix(source_normal, target_normal, matrix);
    matrix_terms<Unknowns>(rule, moved, error, matrix, terms);
  }
  terms[Places::kSquared] = error[0] * error[0] + error[1] * error[1] + error[2] * error[2];
  terms[Places::kPairs] = 1;
}

}  // namespace kith::core
