// An endless made-up street: undulating ground, houses, cars, poles, people, trees and bushes, in metres.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::apps::inline v0 {

/// A block that stands on the ground, its sides along x and y.
struct Block {
  double x_low, x_high, y_low, y_high, top;
};

/// An upright round post that stands on the ground: poles, trunks, people.
struct Post {
  double x, y, radius, top;
};

/// A ball of leaves that lets some rays through.
struct Foliage {
  double x, y, z, radius;
};

/// What stands along one stretch of the street.
struct StreetScene {
  std::vector<Block> blocks;
  std::vector<Post> posts;
  std::vector<Foliage> foliage;
};

/// All that stands within `reach` of x along the street, the same for the same seed wherever the stretch begins. The
/// street runs along x, its middle is y = 0.
StreetScene street_around(std::uint64_t seed, double x, double reach);

/// The height of the ground; it stays within 0.1 of 0, and its slope within 0.01.
double ground_height(double x, double y);

}  // namespace kith::apps::inline v0
