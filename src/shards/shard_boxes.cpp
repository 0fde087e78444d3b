// See shard_boxes.hpp.
#include "shards/shard_boxes.hpp"

#include "core/metric/period.hpp"
#include "core/metric/reduced_distance.hpp"
#include "core/query_row.hpp"

#include <algorithm>
#include <limits>

namespace kith::shards {

template <typename T>
ShardBoxes<T>::ShardBoxes(const ShardMap& map)
    : metric_(map.rules.metric), has_bounds_(map.has_bounds()), shards_(map.size()) {
  for (const ShardFacts& shard : map.shards) dims_ = std::max(dims_, static_cast<std::uint32_t>(shard.lower.size()));
  lower_.assign(std::size_t{dims_} * shards_, 0);
  upper_.assign(std::size_t{dims_} * shards_, 0);
  for (std::uint32_t s = 0; s < shards_; ++s) {
    for (std::uint32_t d = 0; d < map.shards[s].lower.size(); ++d) {
      lower_[d * shards_ + s] = static_cast<T>(map.shards[s].lower[d]);
      upper_[d * shards_ + s] = static_cast<T>(map.shards[s].upper[d]);
    }
  }
  if (dims_ > 0) lengths_ = core::period_lengths<T>(map.rules.period, dims_, metric_);
}

template <typename T>
void ShardBoxes<T>::bounds(const T* row, T* bounds) const {
  if (!has_bounds_) {
    std::fill_n(bounds, shards_, -std::numeric_limits<T>::infinity());
    return;
  }
  std::fill_n(bounds, shards_, T(0));
  core::visit_reduction<core::KdTreeReductions>(metric_, [&](const auto& metric) {
    using M = std::remove_cvref_t<decltype(metric)>;
    for (std::uint32_t d = 0; d < dims_; ++d) {
      const T *lower = &lower_[std::size_t{d} * shards_], *upper = &upper_[std::size_t{d} * shards_], x = row[d];
      if constexpr (M::kIsOfDifferences) {
        if (!lengths_.empty()) {
          for (std::uint32_t s = 0; s < shards_; ++s) {
            const T way = core::shorter_way_to_interval(x, lower[s], upper[s], lengths_[d]);
            bounds[s] = core::step_of_gap(metric, bounds[s], way);
          }
          continue;
        }
      }
      for (std::uint32_t s = 0; s < shards_; ++s) {
        bounds[s] = core::step_to_interval(metric, bounds[s], x, lower[s], upper[s]);
      }
    }
    for (std::uint32_t s = 0; s < shards_; ++s) bounds[s] = core::safe_bound<M>(bounds[s], dims_);
  });
}

template <typename T>
bool ShardBoxes<T>::overlap(const T* lower, const T* upper, std::uint32_t shard) const {
  for (std::uint32_t d = 0; d < dims_; ++d) {
    const std::size_t place = std::size_t{d} * shards_ + shard;
    if (!(lower[d] <= upper_[place] && upper[d] >= lower_[place])) return false;
  }
  return true;
}

template <typename T>
void ShardBoxes<T>::wrap(T* row) const {
  for (std::size_t d = 0; d < lengths_.size(); ++d) row[d] = core::wrapped(row[d], lengths_[d]);
}

template class ShardBoxes<float>;
template class ShardBoxes<double>;

}  // namespace kith::shards
