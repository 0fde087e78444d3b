// Random trees to build: which points, which rules.
#pragma once

#include "support/random_case.hpp"

#include <kith/apps/tree_export.hpp>

#include <cstdint>
#include <random>

namespace kith::test {

struct OrderCase {
  PointSet points;
  apps::TreeExportOptions options;
};

/// The same case for the same numbers.
template <typename T>
OrderCase order_case(std::uint64_t seed, std::uint64_t rows, std::uint32_t dims) {
  std::mt19937_64 random(seed * 7919 + rows);
  const auto shape = static_cast<NastyShape>(seed % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
  OrderCase made;
  made.points = nasty_points(shape, dtype_of<T>, rows, dims, random);
  made.options.split = seed / 2 % 2 == 0 ? SplitRule::widest : SplitRule::cycle;
  made.options.middle = seed % 2 == 0 ? apps::Middle::right : apps::Middle::left;
  return made;
}

}  // namespace kith::test
