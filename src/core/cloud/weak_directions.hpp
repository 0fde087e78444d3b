// Which directions the geometry of two clouds leaves undetermined, from the information matrix of their registration.
#pragma once

#include <kith/apps/registration.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace kith::core {

/// Of a 6 x 6 matrix, turns first. Turns are measured by the shift that they cause at `radius` from the centre;
/// unknowns that `free_mask` lacks do not count.
std::vector<apps::WeakDirection> weak_directions(const std::array<double, 36>& information, double radius,
                                                 std::uint32_t free_mask);

}  // namespace kith::core
