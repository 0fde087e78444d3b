// See tree_arrays.hpp. Rows that are not taken are found first, on the GPU. Messages about points that cannot be used,
// and points of too many dims, are the host's.
#include "cuda/ordered_tree/tree_arrays.hpp"

#include "core/dispatch.hpp"
#include "cuda/dedupe/equal_rows.hpp"
#include "cuda/ordered_tree/order_tree.hpp"
#include "cuda/runtime/device_points.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/runtime/rows_on_device.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace kith::cuda {
namespace {

using engine::TreeRequest;

bool is_on_gpu(const TreeRequest& request) { return request.points.device().kind() == Device::Kind::cuda; }

Stream stream_of(const TreeRequest& request) {
  if (!is_on_gpu(request)) return Stream();
  return Stream(static_cast<cudaStream_t>(request.options.stream), request.device.ordinal());
}

/// The points on the GPU, and which of them are in the tree.
template <typename T>
struct TakenRows {
  DeviceBuffer<T> copy;  ///< of points of the host
  DeviceBuffer<std::uint32_t> numbers;
  OrderTask<T> task;
  std::uint64_t bad = 0;  ///< with NaN or infinity

  TakenRows(const TreeRequest& request, const Stream& stream, BuildPhases* phases) {
    const PointView points = request.points;
    const auto rows = static_cast<std::uint32_t>(points.rows());
    if (is_on_gpu(request)) {
      task.rows = static_cast<const T*>(points.data());
      task.row_stride = static_cast<std::uint64_t>(points.row_stride());
    } else {
      copy = copy_of<T>(points, stream, {.threads = request.options.threads, .progress = &request.options.progress});
      task.rows = copy.data();
      task.row_stride = points.dims();
    }
    task.dims = points.dims();
    task.cycles = request.options.split == SplitRule::cycle;
    task.takes_left = request.options.middle == apps::Middle::left;
    numbers = {rows, stream};
    if (request.options.unique) {
      const EqualTask<T> equal{.rows = task.rows, .row_stride = task.row_stride, .count = rows, .dims = task.dims};
      const EqualReport report = keep_first_rows(equal, numbers.data(), nullptr, stream, phases);
      task.count = report.kept;
      bad = report.bad;
    } else {
      task.count = list_usable_rows(task.rows, task.row_stride, task.dims, rows, numbers.data(), stream);
      bad = rows - task.count;
    }
    if (task.count < rows) {
      task.numbers = numbers.data();
    } else {
      numbers = {};
    }
  }
};

apps::TreeOnDevice result_of(std::uint32_t nodes, const apps::TreeExportOptions& options) {
  if (nodes == 0) return {};
  return {.nodes = nodes, .root = middle_of(0, nodes, options.middle == apps::Middle::left)};
}

/// An array of the caller on the GPU itself, or one there of which the host gets a copy.
template <typename V>
class Result {
 public:
  Result(V* to, std::uint64_t size, const TreeRequest& request, const Stream& stream)
      : to_(to), is_there_(to == nullptr || is_on_gpu(request)) {
    if (!is_there_) copy_ = {size, stream};
  }
  V* data() { return is_there_ ? to_ : copy_.data(); }
  void hand_over(std::uint64_t size, const Stream& stream) {
    if (!is_there_) copy_to_host(to_, copy_.data(), size * sizeof(V), stream, {});
  }

 private:
  V* to_;
  bool is_there_;
  DeviceBuffer<V> copy_;
};

/// Throws where points cannot be used.
apps::TreeOnDevice by_host(const TreeRequest& request) {
  apps::TreeExportOptions options = request.options;
  options.device = Device::cpu();
  PointView points = request.points;
  PointSet copy;
  const Stream stream = stream_of(request);
  if (is_on_gpu(request)) {
    stream.synchronize();
    copy = copy_points_to_host(points, options.threads);
    points = copy.view();
  }
  const apps::NodeTable table = apps::export_node_table(points, options);
  const auto hand_over = [&](void* to, const void* from, std::uint64_t bytes) {
    if (to == nullptr) return;
    if (is_on_gpu(request)) {
      copy_to_device(to, from, bytes, stream, {});
    } else {
      std::copy_n(static_cast<const std::byte*>(from), bytes, static_cast<std::byte*>(to));
    }
  };
  const std::uint64_t nodes = table.point.size(), bytes = nodes * sizeof(std::uint32_t);
  hand_over(request.arrays.point, table.point.data(), bytes);
  hand_over(request.arrays.split_dim, table.split_dim.data(), bytes);
  hand_over(request.arrays.less, table.less.data(), bytes);
  hand_over(request.arrays.greater, table.greater.data(), bytes);
  if (request.arrays.rows != nullptr) {
    const std::uint64_t row_bytes = points.dims() * size_of(points.dtype());
    std::vector<std::byte> rows(nodes * row_bytes);
    for (std::uint64_t i = 0; i < nodes; ++i) {
      const auto* row = static_cast<const std::byte*>(points.data()) +
                        static_cast<std::int64_t>(table.point[i]) * points.row_stride() *
                            static_cast<std::int64_t>(size_of(points.dtype()));
      std::copy_n(row, row_bytes, rows.data() + i * row_bytes);
    }
    hand_over(request.arrays.rows, rows.data(), rows.size());
  }
  if (is_on_gpu(request)) stream.synchronize();
  return {.nodes = nodes, .root = table.root};
}

template <typename T>
apps::TreeOnDevice export_on_gpu(const TreeRequest& request, BuildPhases* phases) {
  const Stream stream = stream_of(request);
  const TakenRows<T> taken(request, stream, phases);
  if (taken.bad > 0 && !request.options.skip_nonfinite) return by_host(request);
  const std::uint32_t nodes = taken.task.count;
  if (nodes == 0) return {};
  const apps::DeviceTreeArrays& arrays = request.arrays;
  Result<std::uint32_t> point(arrays.point, nodes, request, stream),
      split_dim(arrays.split_dim, nodes, request, stream);
  Result<std::uint32_t> less(arrays.less, nodes, request, stream), greater(arrays.greater, nodes, request, stream);
  Result<T> rows(static_cast<T*>(arrays.rows), std::uint64_t{nodes} * taken.task.dims, request, stream);
  order_tree(taken.task, {point.data(), split_dim.data(), less.data(), greater.data(), rows.data()}, stream, phases);
  for (Result<std::uint32_t>* result : {&point, &split_dim, &less, &greater}) result->hand_over(nodes, stream);
  rows.hand_over(std::uint64_t{nodes} * taken.task.dims, stream);
  return result_of(nodes, request.options);
}

template <typename T>
bool is_right_on_gpu(const engine::TreeCheckRequest& request, BuildPhases* phases) {
  const Stream stream;
  const TakenRows<T> taken({request.points, {}, request.options, request.device}, stream, nullptr);
  const std::uint64_t nodes = request.claimed.nodes;
  if (taken.task.count != nodes) return false;
  if (nodes == 0) return true;
  const bool is_table = request.arrays.less != nullptr;
  if (is_table && request.claimed.root >= nodes) return false;
  const auto copy = [&](const std::uint32_t* from) { return copy_of(from, from == nullptr ? 0 : nodes, stream, {}); };
  const DeviceBuffer<std::uint32_t> point = copy(request.arrays.point), split_dim = copy(request.arrays.split_dim);
  const DeviceBuffer<std::uint32_t> less = copy(request.arrays.less), greater = copy(request.arrays.greater);
  const T* const placed = static_cast<const T*>(request.arrays.rows);
  const DeviceBuffer<T> rows = copy_of(placed, placed == nullptr ? 0 : nodes * taken.task.dims, stream, {});
  const ClaimedNodes<T> nodes_there{.point = point.data(),
                                    .split_dim = split_dim.data(),
                                    .less = is_table ? less.data() : nullptr,
                                    .greater = is_table ? greater.data() : nullptr,
                                    .root = request.claimed.root,
                                    .rows = placed == nullptr ? nullptr : rows.data()};
  return is_right_tree(taken.task, request.points.rows(), nodes_there, stream, phases);
}

}  // namespace

apps::TreeOnDevice export_tree_arrays(const TreeRequest& request, BuildPhases* phases) {
  const auto require = [&](const void* memory, std::string_view what) {
    if (memory == nullptr || is_on_device(memory, request.device)) return;
    throw UsageError(fmt::format("{}: the array is not in the memory of {}", what, request.device.name()));
  };
  if (is_on_gpu(request)) {
    require(request.points.data(), "points");
    require(request.arrays.point, "point");
    require(request.arrays.split_dim, "split_dim");
    require(request.arrays.less, "less");
    require(request.arrays.greater, "greater");
    require(request.arrays.rows, "rows");
  }
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.points.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (!can_order<T>(request.points.dims(), request.device.ordinal())) return by_host(request);
    return export_on_gpu<T>(request, phases);
  });
}

bool is_right_tree_of_arrays(const engine::TreeCheckRequest& request, BuildPhases* phases) {
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.points.dtype(),
                           [&](auto zero) { return is_right_on_gpu<decltype(zero)>(request, phases); });
}

}  // namespace kith::cuda
