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

/// The same of several pairs.
template <typename V>
KITH_HOST_DEVICE V weight_of(PairWeight kind, const V& squared_errors, double scale) {
  V weights = V{} + 1;
  if (kind == PairWeight::equal) return weights;
  for (unsigned i = 0; i < sizeof(V) / sizeof(double); ++i) weights[i] = weight_of(kind, squared_errors[i], scale);
  return weights;
}

/// The inverse of 2 I - (1 - kThickness)(a a^T + b b^T), times 2 kThickness: errors along two normals that agree count
/// as themselves. A normal of 0 leaves a point round.
template <typename V>
KITH_HOST_DEVICE void gicp_matrix(const V* a, const V* b, V (&matrix)[3][3]) {
  V sum[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      sum[i][j] = (i == j ? 2.0 : 0.0) - (1 - kThickness) * (a[i] * a[j] + b[i] * b[j]);
    }
  }
  const V c00 = sum[1][1] * sum[2][2] - sum[1][2] * sum[1][2];
  const V c01 = sum[0][2] * sum[1][2] - sum[0][1] * sum[2][2];
  const V c02 = sum[0][1] * sum[1][2] - sum[0][2] * sum[1][1];
  const V factor = 2 * kThickness / (sum[0][0] * c00 + sum[0][1] * c01 + sum[0][2] * c02);
  matrix[0][0] = factor * c00;
  matrix[0][1] = matrix[1][0] = factor * c01;
  matrix[0][2] = matrix[2][0] = factor * c02;
  matrix[1][1] = factor * (sum[0][0] * sum[2][2] - sum[0][2] * sum[0][2]);
  matrix[1][2] = matrix[2][1] = factor * (sum[0][1] * sum[0][2] - sum[0][0] * sum[1][2]);
  matrix[2][2] = factor * (sum[0][0] * sum[1][1] - sum[0][1] * sum[0][1]);
}

template <typename V>
KITH_HOST_DEVICE void cross(const V* a, const V* b, V* result) {
  result[0] = a[1] * b[2] - a[2] * b[1];
  result[1] = a[2] * b[0] - a[0] * b[2];
  result[2] = a[0] * b[1] - a[1] * b[0];
}

template <typename V>
KITH_HOST_DEVICE V dot(const V* a, const V* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// One pair whose error is along one direction: `normal`.
template <int Unknowns, typename V>
KITH_HOST_DEVICE void plane_terms(const PairRule& rule, const V* moved, const V* error, const V* normal, V* terms) {
  using Places = TermPlaces<Unknowns>;
  const V along = dot(normal, error);
  const V weight = weight_of(rule.weight, along * along, rule.scale);
  V row[Unknowns];
  cross(moved, normal, row);
  for (int i = 0; i < 3; ++i) row[3 + i] = normal[i];
  if constexpr (Unknowns == 7) row[6] = dot(normal, moved);
  for (int i = 0; i < Unknowns; ++i) {
    const V weighed = weight * row[i];
    for (int j = i; j < Unknowns; ++j) terms[upper<Unknowns>(i, j)] = weighed * row[j];
    terms[Places::kRight + i] = -(weighed * along);
  }
  terms[Places::kError] = weight * along * along;
}

/// The product of a column of the Jacobian, e_i x y, with a vector.
template <typename V>
KITH_HOST_DEVICE V times_turn(int i, const V* moved, const V* vector) {
  if (i == 0) return vector[2] * moved[1] - vector[1] * moved[2];
  if (i == 1) return vector[0] * moved[2] - vector[2] * moved[0];
  return vector[1] * moved[0] - vector[0] * moved[1];
}

/// One pair whose error is weighed by a symmetric matrix. The columns of the Jacobian are e_i x y for the turn, e_i for
/// the shift, y for the scale; products with their zeros and ones are left out.
template <int Unknowns, typename V>
KITH_HOST_DEVICE void matrix_terms(const PairRule& rule, const V* moved, const V* error, V (&matrix)[3][3], V* terms) {
  using Places = TermPlaces<Unknowns>;
  V weighed[3];
  for (int i = 0; i < 3; ++i) weighed[i] = dot(matrix[i], error);
  const V squared = dot(error, weighed);
  const V weight = weight_of(rule.weight, squared, rule.scale);
  for (int i = 0; i < 3; ++i) {
    weighed[i] *= weight;
    for (int j = 0; j < 3; ++j) matrix[i][j] *= weight;
  }
  for (int i = 0; i < 3; ++i) {
    V product[3];  // of the matrix and the column of a turn
    for (int d = 0; d < 3; ++d) product[d] = times_turn(i, moved, matrix[d]);
    for (int j = i; j < 3; ++j) terms[upper<Unknowns>(i, j)] = times_turn(j, moved, product);
    for (int j = 0; j < 3; ++j) terms[upper<Unknowns>(i, 3 + j)] = product[j];
    if constexpr (Unknowns == 7) terms[upper<Unknowns>(i, 6)] = dot(product, moved);
    for (int j = i; j < 3; ++j) terms[upper<Unknowns>(3 + i, 3 + j)] = matrix[j][i];
    terms[Places::kRight + i] = -times_turn(i, moved, weighed);
    terms[Places::kRight + 3 + i] = -weighed[i];
  }
  if constexpr (Unknowns == 7) {
    V product[3];  // of the matrix and the column of the scale
    for (int d = 0; d < 3; ++d) {
      product[d] = dot(matrix[d], moved);
      terms[upper<Unknowns>(3 + d, 6)] = product[d];
    }
    terms[upper<Unknowns>(6, 6)] = dot(product, moved);
    terms[Places::kRight + 6] = -dot(moved, weighed);
  }
  terms[Places::kError] = weight * squared;
}

/// One pair: the moved point, its match, both less the centre of the target, and their normals, as far as the rule
/// needs them; the source's is turned along already. `V` is double, or a vector of doubles that belong to as many
/// pairs. Sets all terms, of which there are TermPlaces<Unknowns>::kCount.
template <int Unknowns, typename V>
KITH_HOST_DEVICE void pair_terms(const PairRule& rule, const V* moved, const V* match, const V* source_normal,
                                 const V* target_normal, V* terms) {
  using Places = TermPlaces<Unknowns>;
  V error[3];
  for (int i = 0; i < 3; ++i) error[i] = moved[i] - match[i];
  if (rule.error == PairError::plane) {
    plane_terms<Unknowns>(rule, moved, error, target_normal, terms);
  } else {
    V matrix[3][3] = {};
    for (int i = 0; i < 3; ++i) matrix[i][i] += 1;
    if (rule.error == PairError::gicp) gicp_matrix(source_normal, target_normal, matrix);
    matrix_terms<Unknowns>(rule, moved, error, matrix, terms);
  }
  terms[Places::kSquared] = dot(error, error);
  terms[Places::kPairs] = V{} + 1;
}

}  // namespace kith::core
