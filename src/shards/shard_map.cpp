// What every participant knows of all shards. See kith/shards/shard_map.hpp.
#include "core/metric/metric_params.hpp"

#include <kith/error.hpp>
#include <kith/shards/shard_map.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kith::shards::inline v0 {

ShardMap::ShardMap(const PointFacts& facts, const CutRules& the_rules, std::vector<ShardFacts> the_shards)
    : dtype(facts.dtype), dims(facts.dims), rows(facts.rows), rules(the_rules), shards(std::move(the_shards)) {
  require_sound();
}

std::uint64_t ShardMap::points() const {
  return std::accumulate(shards.begin(), shards.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ShardFacts& shard) { return sum + shard.points; });
}

bool ShardMap::has_bounds() const { return rules.metric.info().has_kd_tree; }

/// What searches rely on.
void ShardMap::require_sound() const {
  const std::uint32_t searched =
      points() == 0 ? 0 : core::RowPreparation(rules.metric, rules.metric_params, dims).map().searched_dims();
  const bool is_sound = std::all_of(shards.begin(), shards.end(), [&](const ShardFacts& shard) {
    return shard.points == 0 || (shard.lower.size() == searched && shard.upper.size() == searched);
  });
  if (shards.empty() || shards.size() != rules.shards || !is_sound) {
    throw UsageError("shards: what they told does not fit the points");
  }
}

}  // namespace kith::shards::inline v0
