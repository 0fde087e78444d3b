// See weak_directions.hpp.
#include "core/cloud/weak_directions.hpp"

#include "core/cloud/symmetric_eigen.hpp"

#include <algorithm>

namespace kith::core {
namespace {

/// Below this share of the largest eigenvalue a direction is weak.
constexpr double kWeak = 1e-3;

}  // namespace

std::vector<apps::WeakDirection> weak_directions(const std::array<double, 36>& information, double radius,
                                                 std::uint32_t free_mask) {
  double matrix[6][6];
  double largest = 0;
  for (std::uint32_t i = 0; i < 6; ++i) {
    for (std::uint32_t j = 0; j < 6; ++j) {
      const double unit = (i < 3 ? 1 / radius : 1) * (j < 3 ? 1 / radius : 1);
      const bool is_free = (free_mask >> i & 1) != 0 && (free_mask >> j & 1) != 0;
      matrix[i][j] = is_free ? information[i * 6 + j] * unit : 0;
    }
    largest = std::max(largest, matrix[i][i]);
  }
  if (!(largest > 0) || !(radius > 0)) return {};
  for (std::uint32_t i = 0; i < 6; ++i) {
    if ((free_mask >> i & 1) == 0) matrix[i][i] = largest;
  }
  const SymmetricEigen<6> eigen = symmetric_eigen(matrix);
  std::vector<apps::WeakDirection> weak;
  for (int i = 0; i < 6; ++i) {
    const double value = std::max(eigen.values[i], 0.0);
    if (!(value < kWeak * eigen.values[5])) continue;
    apps::WeakDirection direction;
    direction.eigenvalue = value;
    direction.relative = value / eigen.values[5];
    for (int d = 0; d < 3; ++d) {
      direction.turn[static_cast<std::size_t>(d)] = eigen.vectors[i][d];
      direction.shift[static_cast<std::size_t>(d)] = eigen.vectors[i][3 + d];
    }
    weak.push_back(direction);
  }
  return weak;
}

}  // namespace kith::core
