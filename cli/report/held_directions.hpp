// How firmly a registration holds each direction: the eigenvectors of its information matrix.
#pragma once

#include <kith/apps/registration.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

/// A turn and a shift, together of length 1, in units in which a turn counts by the shift that it causes at a typical
/// distance from the centre.
struct HeldDirection {
  double eigenvalue = 0;
  double relative = 0;  ///< share of the largest
  std::array<double, 3> turn = {};
  std::array<double, 3> shift = {};

  /// "shift along (0, 0, 1)", "turn about (1, 0, 0)", or both if neither is most of it.
  std::string text() const;
};

struct HeldDirections {
  double distance = 0;                    ///< at which turns are measured
  std::vector<HeldDirection> directions;  ///< of what may move, held best first
};

/// Of turns about x, y, z and shifts along them.
using FreeUnknowns = std::array<bool, 6>;

/// What may move with so many degrees of freedom; clouds in a plane have three.
FreeUnknowns free_unknowns(std::uint32_t degrees_of_freedom, std::uint32_t dims);

HeldDirections held_directions(const std::array<double, 36>& information, const FreeUnknowns& free);

}  // namespace kith::cli
