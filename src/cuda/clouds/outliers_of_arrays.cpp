// Outliers among a caller's points: an index, a search, then figures and flags.
#include "core/cloud/cloud_checks.hpp"
#include "core/dispatch.hpp"
#include "cuda/clouds/caller_arrays.hpp"
#include "cuda/clouds/cloud_arrays.hpp"
#include "cuda/clouds/figures.hpp"
#include "cuda/runtime/device_scope.hpp"

#include <kith/device_search.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <algorithm>
#include <cmath>

namespace kith::cuda {
namespace {

/// Entries of lists that are in memory at a time.
constexpr std::uint64_t kListedDistances = std::uint64_t{1} << 28;

template <typename T>
class OutliersOfArrays {
 public:
  explicit OutliersOfArrays(const engine::OutlierRequest& request)
      : request_(request),
        options_(request.options),
        stream_(stream_of_caller(request.options.stream, request.device)),
        copying_{.threads = request.options.threads},
        rows_(request.points, request.device, stream_, copying_),
        flags_(request.arrays.flags, count(), request.points, request.device, "flags", stream_),
        kept_(request.arrays.kept, count(), request.points, request.device, "kept", stream_),
        means_(request.arrays.mean_distances, count(), request.points, request.device, "mean_distances", stream_,
               options_.neighbors.has_value()),
        counts_(request.arrays.counts, count(), request.points, request.device, "counts", stream_,
                options_.radius.has_value()) {
    search_.stream = stream_.get();
  }

  std::optional<apps::OutliersOnDevice> run() {
    stream_.synchronize();  // an index is built in a stream of its own
    try {
      BuildOptions build{.device = request_.device};
      build.expected_queries = count();
      build.threads = options_.threads;
      index_ = Index::build(rows_.view(request_.device), build);
    } catch (const BadData&) {
      return std::nullopt;
    }
    apps::OutliersOnDevice result;
    FlagTask task;
    task.count = count();
    task.flags = flags_.data();
    if (options_.neighbors) {
      find_means();
      set_threshold(result);
      task.means = means_.data();
      task.threshold = result.threshold;
    } else {
      search_.exclude_self = true;
      DeviceSearch(*index_).count_self(*options_.radius, counts_.data(), search_);
      task.counts = counts_.data();
      task.min_neighbors = options_.min_neighbors;
    }
    DeviceBuffer<std::uint32_t> places(count() + 1, stream_);
    task.kept = places.data();
    flag_outliers_on_device(task, kept_.data(), stream_);
    result.kept = read(places.data() + count());
    flags_.hand_over(count(), stream_, copying_);
    kept_.hand_over(result.kept, stream_, copying_);
    if (options_.neighbors) means_.hand_over(count(), stream_, copying_);
    if (options_.radius) counts_.hand_over(count(), stream_, copying_);
    return result;
  }

 private:
  std::uint64_t count() const { return request_.points.rows(); }

  template <typename V>
  V read(const V* from) const {
    V value;
    check(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream_.get()), "finding outliers");
    stream_.synchronize();
    return value;
  }

  void find_means() {
    const auto k = static_cast<std::uint32_t>(std::min<std::uint64_t>(*options_.neighbors, count() - 1));
    if (k == 0) {
      check(cudaMemsetAsync(means_.data(), 0, count() * sizeof(double), stream_.get()), "finding outliers");
      return;
    }
    const DeviceSearch there(*index_);
    const std::uint64_t most = std::clamp<std::uint64_t>(kListedDistances / (k + 1), 1, count());
    const bool is_whole = most == count();
    const std::uint32_t listed = is_whole ? k : k + 1;
    DeviceBuffer<std::uint32_t> found(most * listed, stream_);
    DeviceBuffer<T> distances(most * listed, stream_);
    if (is_whole) {
      search_.exclude_self = true;
      there.knn_self(k, found.data(), distances.data(), search_);
      return mean_lists_on_device(distances.data(), count(), k, 0, means_.data(), stream_);
    }
    // A point is at the distance 0 from itself: without the first entry the distances are those to the others.
    for (std::uint64_t first = 0; first < count(); first += most) {
      const std::uint64_t some = std::min(most, count() - first);
      there.knn(rows_.view(request_.device).slice(first, some), listed, found.data(), distances.data(), search_);
      mean_lists_on_device(distances.data(), some, listed, 1, means_.data() + first, stream_);
    }
  }

  void set_threshold(apps::OutliersOnDevice& result) {
    const auto points = static_cast<double>(count());
    const DType dtype = request_.points.dtype();
    DeviceBuffer<double> sum(1, stream_);
    sum_on_device(means_.data(), count(), sum.data(), stream_);
    result.mean = read(sum.data()) / points;
    if (!std::isfinite(result.mean)) core::throw_distance_overflow(dtype);
    sum_spread_on_device(means_.data(), result.mean, count(), sum.data(), stream_);
    result.deviation = count() > 1 ? std::sqrt(read(sum.data()) / (points - 1)) : 0;
    result.threshold = result.mean + options_.ratio * result.deviation;
    if (!std::isfinite(result.deviation) || !std::isfinite(result.threshold)) core::throw_distance_overflow(dtype);
  }

  const engine::OutlierRequest& request_;
  const apps::DeviceOutlierOptions& options_;
  Stream stream_;
  CopyOptions copying_;
  CallerRows<T> rows_;
  WrittenArray<std::uint8_t> flags_;
  WrittenArray<std::uint32_t> kept_;
  WrittenArray<double> means_;
  WrittenArray<std::uint32_t> counts_;
  std::optional<Index> index_;
  DeviceSearchOptions search_;
};

}  // namespace

std::optional<apps::OutliersOnDevice> outliers_of_arrays(const engine::OutlierRequest& request) {
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.points.dtype(),
                           [&](auto type) { return OutliersOfArrays<decltype(type)>(request).run(); });
}

}  // namespace kith::cuda
