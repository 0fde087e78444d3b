// The steps of a check in their order, independent of how they are launched.
#pragma once

#include "cuda/kd_tree/check/check_sides.cuh"

#include <cstddef>

namespace kith::cuda {

/// How the device memory of a check is laid out. The first `zero_bytes` must be zeros before the first step.
struct CheckScratchLayout {
  std::uint64_t seen_at = 0;        ///< u32 words, a bit per point
  std::uint64_t zero_bytes = 0;     ///< the two words at the start and `seen`
  std::uint64_t candidates_at = 0;  ///< what the first step of the ties hands on
  std::uint64_t joined_at = 0;      ///< the later steps write here and there in turn
  std::uint64_t bytes = 0;

  explicit CheckScratchLayout(const core::KdGeometry& geometry) {
    const auto candidate_bytes = [](std::uint32_t level) {
      return (std::uint64_t{level} << level) * sizeof(LeafPlace);
    };
    seen_at = 16;
    zero_bytes = seen_at + (geometry.points + 127) / 128 * 16;
    candidates_at = zero_bytes;
    const std::uint32_t level = level_after_join(geometry.levels);
    joined_at = candidates_at + candidate_bytes(level);
    bytes = joined_at + candidate_bytes(level_after_join(level));
  }
};

/// What the kernels are given.
template <typename T>
TreeCheck<T> tree_check(const TreeArrays<T>& tree, const TreeShape& shape, std::byte* scratch) {
  auto* words = reinterpret_cast<std::uint32_t*>(scratch);
  const CheckScratchLayout layout(shape.geometry);
  return {tree, shape, words, words + 1, reinterpret_cast<std::uint32_t*>(scratch + layout.seen_at)};
}

/// Calls launch(threads, kernel, arguments...) for each step. Any number of threads is right for a kernel, `threads`
/// uses the device well; blocks have up to kCheckThreads, whole warps.
template <typename T, typename Launch>
void launch_check_steps(const TreeCheck<T>& check, std::byte* scratch, Launch&& launch) {
  const core::KdGeometry& geometry = check.shape.geometry;
  const CheckScratchLayout layout(geometry);
  launch(geometry.leaves() * kWarp, check_leaves<T>, check);
  if (geometry.levels == 0) return;
  launch(geometry.leaves() - 1, check_nodes<T>, check);
  auto* in = reinterpret_cast<LeafPlace*>(scratch + layout.joined_at);
  auto* out = reinterpret_cast<LeafPlace*>(scratch + layout.candidates_at);
  std::uint32_t from = geometry.levels, to = level_after_join(from);
  launch((std::uint64_t{1} << to) * kWarp, check_ties_of_leaves<T>, check, out);
  while (to > 0) {
    LeafPlace* const written = out;
    out = in;
    in = written;
    from = to;
    to = level_after_join(from);
    launch((std::uint64_t{1} << to) * kWarp, check_ties_above<T>, check, from, static_cast<const LeafPlace*>(in), out);
  }
}

}  // namespace kith::cuda
