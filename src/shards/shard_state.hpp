// What the copies of a Shard share.
#pragma once

#include <kith/index.hpp>
#include <kith/point_set.hpp>
#include <kith/shards/shard.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::shards::inline v0 {

struct Shard::State {
  Index index;
  std::vector<std::uint64_t> numbers;  ///< ascending: those of the rows of the index
  ShardFacts facts;
  PointSet rows;  ///< as the caller had them, if the index does not hold them

  /// How many points have a number below: their own numbers in the index are below that.
  std::uint32_t rows_below(std::uint64_t number) const {
    return static_cast<std::uint32_t>(std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin());
  }
};

}  // namespace kith::shards::inline v0
