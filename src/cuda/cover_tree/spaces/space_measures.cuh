// The launches of a build that depend on the space; see CoverMeasures.
#pragma once

#include "cuda/cover_tree/build/list_neighbors.cuh"
#include "cuda/cover_tree/build/measure_reach.cuh"
#include "cuda/cover_tree/build/measure_root.cuh"
#include "cuda/cover_tree/build/move_objects.cuh"
#include "cuda/cover_tree/build/resolve_prefix.cuh"
#include "cuda/cover_tree/build/take_near.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kith::cuda::cover {

template <DeviceSpace S, typename Device>
class SpaceMeasures final : public CoverMeasures {
 public:
  SpaceMeasures(const S& space, Device& device) : space_(space), device_(device) {}

  CoverRounding rounding() const override { return space_.rounding(); }
  double most_distance() const override { return is_float() ? 0x1p62 : 0x1p510; }
  bool is_float() const override { return std::is_same_v<typename S::Value, float>; }

  void measure_root(const RootTask& task) override {
    by_warps(cover::measure_root<S>, (std::uint64_t{task.count} + kWarp - 1) / kWarp, task);
  }
  void count_close(const SampleTask& task) override {
    by_warps(cover::count_close<S>, most_warps(task.level.object_count), task);
  }
  void list_neighbors(const NeighborTask& task) override {
    by_warps(cover::list_neighbors<S>, task.end_cell - task.first_cell, task);
  }
  void resolve_prefix(const RoundTask& task) override { by_warps(cover::resolve_prefix<S>, task.prefix_count, task); }
  void move_objects(const RoundTask& task) override {
    const std::uint32_t bytes = space_.context_bytes();
    device_.launch(cover::move_objects<S>, task.most_tiles, kThreads, tile_shared_bytes(bytes), space_, task,
                   contexts_at_a_time(bytes));
  }
  void take_near(const RoundTask& task) override {
    const std::uint32_t bytes = space_.context_bytes(), at_a_time = contexts_at_a_time(bytes);
    device_.launch(cover::take_near<S>, task.most_tiles, kThreads, near_shared_bytes(at_a_time, bytes), space_, task,
                   at_a_time);
  }
  void measure_reach(const ReachTask& task) override {
    by_warps(cover::measure_reach<S>, most_warps(task.node_count), task);
  }

 private:
  /// In a block: fewer where objects take much shared memory.
  std::uint32_t warps_together() const {
    constexpr std::uint32_t kBytes = 96 << 10, kMost = kThreads / kWarp;
    return std::clamp(std::min(kBytes, device_.shared_limit()) / space_.context_bytes(), 1u, kMost);
  }
  template <typename Task>
  void by_warps(void (*kernel)(S, Task), std::uint64_t warps, const Task& task) {
    const std::uint32_t together = warps_together();
    device_.launch(kernel, static_cast<std::uint32_t>((warps + together - 1) / together), together * kWarp,
                   std::size_t{together} * space_.context_bytes(), space_, task);
  }
  /// For kernels that learn on the device how much there is to do: not more than `items`, nor than fit.
  std::uint64_t most_warps(std::uint64_t items) const {
    return std::min(items, std::uint64_t{device_.resident_blocks()} * (kThreads / kWarp));
  }

  S space_;
  Device& device_;
};

}  // namespace kith::cuda::cover
