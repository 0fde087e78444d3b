// Normals of a caller's points: a tree, the lists of neighbours of as many points as their memory allows, and planes.
#include "core/dispatch.hpp"
#include "cuda/clouds/caller_arrays.hpp"
#include "cuda/clouds/cloud_arrays.hpp"
#include "cuda/clouds/planes.hpp"
#include "cuda/kd_tree/build/build.hpp"
#include "cuda/kd_tree/search/search.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "engine/kd_tree/kd_tree.hpp"

#include <algorithm>
#include <limits>

namespace kith::cuda {
namespace {

/// Entries of lists that are in memory at a time.
constexpr std::uint64_t kListedNeighbors = std::uint64_t{1} << 28;

template <typename T>
class NormalsOfArrays {
 public:
  explicit NormalsOfArrays(const engine::NormalsRequest& request)
      : request_(request),
        stream_(stream_of_caller(request.options.stream, request.device)),
        copying_{.threads = request.options.threads, .progress = &request.options.progress},
        rows_(request.points, request.device, stream_, copying_),
        normals_(static_cast<T*>(request.normals), rows_.rows() * rows_.dims(), request.points, request.device,
                 "normals", stream_),
        curvature_(static_cast<T*>(request.curvature), rows_.rows(), request.points, request.device, "curvature",
                   stream_) {}

  std::optional<std::uint64_t> run() {
    try {
      const PointSource<T> source{
          .values = rows_.data(), .row_stride = rows_.row_stride(), .dim_stride = 1, .indices = nullptr};
      tree_ =
          build_device_tree(source, rows_.rows(), rows_.dims(), engine::leaf_size_of(0, rows_.dims()), false, stream_);
    } catch (const NonFinite&) {
      return std::nullopt;
    }
    padded_ = DeviceBuffer<std::byte>(rows_.rows() * padded_bytes<T>(rows_.dims()), stream_);
    pad_points_on_device(rows_.data(), rows_.row_stride(), rows_.rows(), rows_.dims(), padded_.data(), stream_);
    without_ = DeviceBuffer<std::uint32_t>(1, stream_);
    check(cudaMemsetAsync(without_.data(), 0, sizeof(std::uint32_t), stream_.get()), "computing normals");
    fit_all();
    std::uint32_t without = 0;
    check(cudaMemcpyAsync(&without, without_.data(), sizeof without, cudaMemcpyDeviceToHost, stream_.get()),
          "computing normals");
    stream_.synchronize();
    normals_.hand_over(rows_.rows() * rows_.dims(), stream_, copying_);
    curvature_.hand_over(rows_.rows(), stream_, copying_);
    return without;
  }

 private:
  void fit_all() {
    const std::uint64_t points = rows_.rows();
    const auto k = static_cast<std::uint32_t>(std::min<std::uint64_t>(request_.options.neighbors, points));
    const std::uint64_t most = std::clamp<std::uint64_t>(kListedNeighbors / k, 1, points);
    DeviceBuffer<std::uint32_t> lists(most * k, stream_);
    DeviceBuffer<T> distances(most * k, stream_);
    DeviceBuffer<std::uint32_t> places(most < points ? most + 1 : 0, stream_);
    KnnTask<T> search;
    search.tree = SearchTree<T>(tree_.arrays(), tree_.shape);
    search.k = k;
    search.bound = std::numeric_limits<T>::infinity();
    search.answer = {.indices = lists.data(), .reduced = distances.data()};
    PlaneTask<T> planes;
    planes.tree = search.tree;
    planes.points = padded_.data();
    planes.lists = lists.data();
    planes.k = k;
    planes.has_viewpoint = request_.options.direction == apps::NormalDirection::viewpoint;
    std::copy(request_.options.viewpoint.begin(), request_.options.viewpoint.end(), planes.viewpoint);
    planes.normals = normals_.data();
    planes.curvatures = curvature_.data();
    planes.without = without_.data();
    for (std::uint64_t first = 0; first < points; first += most) {
      const std::uint64_t end = std::min(points, first + most);
      search.queries.count = planes.count = end - first;
      if (places.size() > 0) {
        choose_points(search.tree, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end), places.data(),
                      places.data() + most, stream_);
        search.queries.chosen = planes.places = places.data();
        search.queries.first = planes.first = static_cast<std::uint32_t>(first);
      }
      search_knn(search, stream_);
      fit_planes_of_tree(planes, stream_);
    }
  }

  const engine::NormalsRequest& request_;
  Stream stream_;
  CopyOptions copying_;
  CallerRows<T> rows_;
  WrittenArray<T> normals_, curvature_;
  DeviceTree<T> tree_;
  DeviceBuffer<std::byte> padded_;
  DeviceBuffer<std::uint32_t> without_;
};

}  // namespace

std::optional<std::uint64_t> normals_of_arrays(const engine::NormalsRequest& request) {
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.points.dtype(),
                           [&](auto type) { return NormalsOfArrays<decltype(type)>(request).run(); });
}

}  // namespace kith::cuda
