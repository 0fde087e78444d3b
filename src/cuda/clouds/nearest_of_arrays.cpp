// Distances from each of a caller's points to the nearest one of another cloud: an index of that, a search, figures.
#include "core/cloud/cloud_checks.hpp"
#include "core/dispatch.hpp"
#include "cuda/clouds/caller_arrays.hpp"
#include "cuda/clouds/cloud_arrays.hpp"
#include "cuda/clouds/figures.hpp"
#include "cuda/runtime/device_scope.hpp"

#include <kith/device_search.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace kith::cuda {
namespace {

/// An index on the GPU; nothing if a point has NaN or infinity. `points` may be in host memory.
std::optional<Index> index_on(PointView points, Device device, std::uint64_t queries, int threads) {
  BuildOptions build{.device = device};
  build.expected_queries = queries;
  build.threads = threads;
  try {
    return Index::build(points, build);
  } catch (const BadData&) {
    return std::nullopt;
  }
}

template <typename T>
class NearestOfArrays {
 public:
  explicit NearestOfArrays(const engine::NearestRequest& request)
      : request_(request),
        stream_(stream_of_caller(request.options.stream, request.device)),
        copying_{.threads = request.options.threads},
        rows_(request.from, request.device, stream_, copying_),
        distances_(request.arrays.distances, rows_.rows(), request.from, request.device, "distances", stream_),
        nearest_(request.arrays.nearest, rows_.rows(), request.from, request.device, "nearest", stream_) {}

  std::optional<apps::DirectedDistance> run() {
    const std::uint64_t count = rows_.rows();
    DeviceBuffer<NearestFacts> facts(1, stream_);
    check(cudaMemsetAsync(facts.data(), 0, facts.bytes(), stream_.get()), "measuring clouds");
    look_for_nonfinite_on_device(rows_.data(), rows_.row_stride(), count, rows_.dims(), &facts.data()->bad, stream_);
    if (read(facts.data()).bad != 0) return std::nullopt;  // waits for the caller's work, too
    const std::optional<Index> index = index_on(request_.to, request_.device, count, request_.options.threads);
    if (!index) return std::nullopt;

    DeviceBuffer<std::uint32_t> found(count, stream_);
    DeviceBuffer<T> measured(count, stream_);
    DeviceSearchOptions search;
    search.stream = stream_.get();
    search.max_distance = request_.options.max_distance;
    DeviceSearch(*index).knn(rows_.view(request_.device), 1, found.data(), measured.data(), search);

    const bool has_ranks = !request_.options.percentiles.empty();
    DeviceBuffer<OrderedKey<T>> keys(has_ranks ? count : 0, stream_), other_keys(keys.size(), stream_);
    DeviceBuffer<std::uint32_t> values(keys.size(), stream_), other_values(keys.size(), stream_);
    NearestTask<T> task;
    task.found = found.data();
    task.distances = measured.data();
    task.count = count;
    task.points = static_cast<std::uint32_t>(index->size());
    task.wide = distances_.data();
    task.nearest = nearest_.data();
    if (has_ranks) task.ranked = {keys.data(), values.data()};
    task.facts = facts.data();
    take_nearest_on_device(task, stream_);
    KeyedPairs<OrderedKey<T>> ranked;
    if (has_ranks) {
      ranked = sort_pairs<OrderedKey<T>>(task.ranked, {other_keys.data(), other_values.data()},
                                         static_cast<std::uint32_t>(count), 0, 8 * sizeof(T), stream_);
    }
    apps::DirectedDistance result = figures_of(read(facts.data()));
    for (const double percentile : request_.options.percentiles) {
      result.percentiles.push_back(ranked_distance(ranked.keys, percentile, result.matched));
    }
    distances_.hand_over(count, stream_, copying_);
    nearest_.hand_over(count, stream_, copying_);
    return result;
  }

 private:
  template <typename V>
  V read(const V* from) const {
    V value;
    check(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream_.get()), "measuring clouds");
    stream_.synchronize();
    return value;
  }

  apps::DirectedDistance figures_of(const NearestFacts& facts) const {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    apps::DirectedDistance result;
    result.matched = facts.matched;
    result.unmatched = rows_.rows() - facts.matched;
    const bool is_known = facts.matched > 0;
    result.mean = is_known ? facts.sums[0] / static_cast<double>(facts.matched) : kUnknown;
    result.mean_squared = is_known ? facts.sums[1] / static_cast<double>(facts.matched) : kUnknown;
    result.rms = is_known ? std::sqrt(result.mean_squared) : kUnknown;
    result.max = is_known ? std::bit_cast<double>(facts.most) : kUnknown;
    if (is_known) result.max_row = ~facts.inverted_row;
    return result;
  }

  double ranked_distance(const OrderedKey<T>* sorted, double percentile, std::uint64_t matched) const {
    if (matched == 0) return std::numeric_limits<double>::quiet_NaN();
    const std::uint64_t rank = core::rank_of_percentile(percentile, matched);
    return static_cast<double>(value_of_key<T>(read(sorted + rank - 1)));
  }

  const engine::NearestRequest& request_;
  Stream stream_;
  CopyOptions copying_;
  CallerRows<T> rows_;
  WrittenArray<double> distances_;
  WrittenArray<std::uint32_t> nearest_;
};

}  // namespace

std::optional<apps::DirectedDistance> nearest_of_arrays(const engine::NearestRequest& request) {
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.from.dtype(),
                           [&](auto type) { return NearestOfArrays<decltype(type)>(request).run(); });
}

}  // namespace kith::cuda
