// The launches of a build that depend on the space; see CoverMeasures.
#pragma once

#include "cuda/cover_tree/list_neighbors.cuh"
#include "cuda/cover_tree/measure_reach.cuh"
#include "cuda/cover_tree/measure_root.cuh"
#include "cuda/cover_tree/move_objects.cuh"
#include "cuda/cover_tree/settle_prefix.cuh"

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
    device_.launch(cover::measure_root<S>, blocks_for_warps((std::uint64_t{task.count} + kWarp - 1) / kWarp), kThreads,
                   contexts(), space_, task);
  }
  void count_close(const SampleTask& task) override {
    device_.launch(cover::count_close<S>, most_blocks(task.level.object_count), kThreads, contexts(), space_, task);
  }
  void list_neighbors(const NeighborTask& task) override {
    device_.launch(cover::list_neighbors<S>, blocks_for_warps(task.end_cell - task.first_cell), kThreads, contexts(),
                   space_, task);
  }
  void settle_prefix(const RoundTask& task) override {
    device_.launch(cover::settle_prefix<S>, blocks_for_warps(task.prefix_count), kThreads, contexts(), space_, task);
  }
  void move_objects(const RoundTask& task) override {
    const std::uint32_t bytes = space_.context_bytes();
    device_.launch(cover::move_objects<S>, task.most_tiles, kThreads, tile_shared_bytes(bytes), space_, task,
                   contexts_at_a_time(bytes));
  }
  void measure_reach(const ReachTask& task) override {
    device_.launch(cover::measure_reach<S>, most_blocks(task.node_count), kThreads, contexts(), space_, task);
  }

 private:
  static constexpr std::uint32_t kWarps = kThreads / kWarp;

  static std::uint32_t blocks_for_warps(std::uint64_t warps) {
    return static_cast<std::uint32_t>((warps + kWarps - 1) / kWarps);
  }
  /// For kernels that learn on the device how much there is to do: not more warps than `items`, nor than fit.
  std::uint32_t most_blocks(std::uint64_t items) const {
    return std::min(blocks_for_warps(items), device_.resident_blocks());
  }
  std::size_t contexts() const { return std::size_t{kWarps} * space_.context_bytes(); }

  S space_;
  Device& device_;
};

}  // namespace kith::cuda::cover
