// See tree_build.hpp and build.hpp; included once per type of coordinates.
#pragma once

#include "cuda/kd_tree/build/builders/arrange.hpp"
#include "cuda/kd_tree/build/finish/finish.cuh"
#include "cuda/kd_tree/build/resident/split_resident.cuh"
#include "cuda/runtime/device_facts.hpp"
#include "cuda/runtime/launch.hpp"
#include "cuda/kd_tree/build/split_group.cuh"
#include "cuda/kd_tree/build/tree_build.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/step_device.hpp"
#include "runtime/time_spent.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace kith::cuda {

/// Blocks that a cluster may have in split_resident; 0: there are no clusters. Asks the driver once per device and
/// limit of shared memory.
template <typename T>
std::uint32_t most_cluster_of(int device) {
  constexpr std::uint32_t kLeastWithClusters = 99 << 10;  // with less, the plan of an older GPU is wanted
  const auto* kernel = reinterpret_cast<const void*>(split_resident<T>);
  if (!is_hopper_code(kernel, device)) return 0;
  static std::mutex mutex;
  static std::map<std::pair<int, std::uint32_t>, std::uint32_t> known;
  const std::uint32_t shared_bytes = shared_limit_of(device);
  if (shared_bytes < kLeastWithClusters) return 0;
  const std::lock_guard lock(mutex);
  const auto found = known.find({device, shared_bytes});
  if (found != known.end()) return found->second;
  allow_shared_memory(kernel, device, shared_bytes);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "allowing large clusters");
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kMostCluster);
  config.blockDim = dim3(kResidentThreads);
  config.dynamicSmemBytes = shared_bytes;
  int most = 0;
  check(cudaOccupancyMaxPotentialClusterSize(&most, kernel, &config), "asking for the size of clusters");
  return known[{device, shared_bytes}] = std::bit_floor(std::min(static_cast<std::uint32_t>(most), kMostCluster));
}

template <typename T>
GpuLimits limits_of(int device) {
  return {.processors = processors_of(device),
          .shared_bytes = shared_limit_of(device),
          .most_cluster = most_cluster_of<T>(device)};
}

/// Pass 0 keeps the box of a segment in shared memory. Throws DeviceError where dims are too many for that.
template <typename T>
GpuLimits limits_for(const TreeShape& shape, std::uint32_t leaf_size, int device, Builder builder) {
  const GpuLimits limits = limits_of<T>(device);
  if (is_named(builder)) return limits;
  const std::size_t needed = RootShared<T>::bytes(shape.dims);
  const FinishPlan plan = plan_finish<T>(shape.geometry.points, shape.dims, leaf_size, limits.shared_bytes);
  if (plan.top_level > 0 && needed > limits.shared_bytes) {
    throw DeviceError("device cuda:" + std::to_string(device) + ": a block may have " +
                      std::to_string(limits.shared_bytes) + " bytes of shared memory, building a k-d tree of " +
                      std::to_string(shape.dims) + " dims needs " + std::to_string(needed) +
                      "; use brute force, or `device=cpu`");
  }
  return limits;
}

template <typename T>
TreeBuild<T>::TreeBuild(const TreeShape& shape, std::uint32_t leaf_size, const Stream& stream, Builder builder)
    : stream_(stream),
      builder_(builder),
      limits_(limits_for<T>(shape, leaf_size, stream.device(), builder)),
      plan_(plan_finish<T>(shape.geometry.points, shape.dims, leaf_size, limits_.shared_bytes)),
      copies_{{copy_bytes<T>(shape), stream}, {copy_bytes<T>(shape), stream}},
      scratch_(is_named(builder) ? lay_out_named(scratch_of_builder<T>(builder, shape), plan_.top_level, nullptr).bytes
                                 : lay_out_scratch<T>(shape, plan_.top_level, limits_).bytes,
               stream) {
  tree_.shape = shape;
  tree_.leaf_size = leaf_size;
  tree_.split_dims = {shape.geometry.leaves() - 1, stream};
  tree_.split_values = {shape.geometry.leaves() - 1, stream};
  tree_.boxes = {box_values(shape), stream};
  tree_.smallest = {shape.geometry.nodes(), stream};
}

template <typename T>
void launch_finish(Launcher& launch, const FinishPlan& plan, const FinishParameters<T>& parameters) {
  const TreeShape& shape = parameters.shape;
  const std::uint64_t nodes = shape.geometry.nodes();
  const std::uint64_t bytes = shape.geometry.points * (2 * std::uint64_t{shape.point_bytes}) +
                              nodes * (2 * shape.dims * sizeof(T) + 4) + nodes / 2 * (sizeof(T) + 2);
  const auto kernel = [&] {
    if (!plan.is_staged) return finish_subtrees<T, false, kFewRows>;
    switch (plan.rows) {
      case kFewRows:
        return finish_subtrees<T, true, kFewRows>;
      case 10:
        return finish_subtrees<T, true, 10>;
      case 12:
        return finish_subtrees<T, true, 12>;
      case 14:
        return finish_subtrees<T, true, 14>;
      default:
        return finish_subtrees<T, true, kManyRows>;
    }
  }();
  launch("finish", bytes, kernel, 1u << plan.top_level, plan.threads, plan.shared_bytes, Together{}, parameters);
}

template <typename T>
void TreeBuild<T>::launch(const PointSource<T>& points, BuildPhases* phases) {
  if (is_named(builder_)) {
    launch_named(points, phases);
  } else {
    launch_groups(points, phases);
  }
}

template <typename T>
void TreeBuild<T>::launch_named(const PointSource<T>& points, BuildPhases* phases) {
  const TreeShape& shape = tree_.shape;
  const NamedScratch scratch = lay_out_named(scratch_of_builder<T>(builder_, shape), plan_.top_level, scratch_.data());
  StepDevice device(stream_, "building a k-d tree", phases);
  device.zero(scratch_.data(), scratch.zero_bytes);
  const ArrangedPoints<T> arranged =
      arrange_points<T>(builder_, device,
                        {shape, plan_.top_level, points, tree_.arrays(), copies_[0].data(), scratch.builders,
                         scratch.refused, limits_.shared_bytes});
  device.phase("");
  device.report();
  blocks_in_ = 1;  // where the rows may be, which are no longer needed
  if (arranged.is_refused) return;
  Launcher launch(stream_, phases != nullptr);
  launch_finish(launch, plan_,
                finish_of_named(scratch, plan_, shape, arranged, tree_.arrays(), copies_[blocks_in_].data()));
  if (phases != nullptr) launch.report(*phases);
}

template <typename T>
void TreeBuild<T>::launch_groups(const PointSource<T>& points, BuildPhases* phases) {
  const TreeShape& shape = tree_.shape;
  const BuildScratch<T> scratch = lay_out_scratch<T>(shape, plan_.top_level, limits_, scratch_.data(), tree_.arrays());
  for (const MemoryPiece& piece : scratch.zeroed) {
    check(cudaMemsetAsync(piece.at, 0, piece.bytes, stream_.get()), "building a k-d tree");
  }
  Launcher launch(stream_, phases != nullptr);
  std::byte* const copies[2] = {copies_[0].data(), copies_[1].data()};
  std::uint32_t number = 0;
  blocks_in_ = run_build(
      scratch, plan_, shape, points, copies, tree_.arrays(),
      [&](const auto& group) {
        ++number;
        split_group(group, limits_,
                    [&](const char* name, std::uint64_t bytes, auto kernel, std::uint32_t blocks, std::uint32_t threads,
                        std::size_t shared_bytes, Together together, const auto&... arguments) {
                      launch(phases == nullptr ? std::string() : "group " + std::to_string(number) + ": " + name, bytes,
                             kernel, blocks, threads, shared_bytes, together, arguments...);
                    });
      },
      [&](const FinishParameters<T>& last) { launch_finish(launch, plan_, last); });
  if (phases != nullptr) launch.report(*phases);
}

template <typename T>
DeviceTree<T> TreeBuild<T>::take() {
  std::uint32_t refused = 0;
  check(cudaMemcpyAsync(&refused, scratch_.data(), sizeof(refused), cudaMemcpyDeviceToHost, stream_.get()),
        "building a k-d tree");
  check(cudaStreamSynchronize(stream_.get()), "building a k-d tree");
  if (refused != 0) throw NonFinite();
  return take_at_once();
}

template <typename T>
DeviceTree<T> TreeBuild<T>::take_at_once() {
  tree_.blocks = std::move(copies_[blocks_in_]);
  tree_.blocks.truncate(tree_.shape.geometry.points * tree_.shape.point_bytes);
  tree_.boxes.truncate(tree_.shape.geometry.nodes() * 2 * tree_.shape.dims);
  return std::move(tree_);
}

template <typename T>
DeviceTree<T> build_device_tree(const PointSource<T>& points, std::uint64_t count, std::uint32_t dims,
                                std::uint32_t leaf_size, bool cycles, Stream& stream, BuildPhases* phases,
                                Builder builder) {
  TreeBuild<T> build(tree_shape<T>(count, dims, leaf_size, cycles), leaf_size, stream, builder);
  build.launch(points, phases);
  return build.take();
}

template <typename T>
DeviceTree<T> start_device_tree(const PointSource<T>& points, std::uint64_t count, std::uint32_t dims,
                                std::uint32_t leaf_size, const Stream& stream) {
  TreeBuild<T> build(tree_shape<T>(count, dims, leaf_size, false), leaf_size, stream);
  build.launch(points);
  return build.take_at_once();
}

template <typename T>
DeviceTree<T> build_device_tree_from_host(const T* rows, std::uint64_t count, std::uint32_t dims,
                                          std::uint32_t leaf_size, bool cycles, Stream& stream,
                                          const CopyOptions& options, Builder builder) {
  TreeBuild<T> build(tree_shape<T>(count, dims, leaf_size, cycles), leaf_size, stream, builder);
  copy_to_device(build.rows(), rows, count * dims * sizeof(T), stream, options);
  const runtime::TimeSpent spent(runtime::member_of(options.times, &WorkTimes::device_ms));
  build.launch({build.rows(), dims, 1, nullptr});
  return build.take();
}

}  // namespace kith::cuda
