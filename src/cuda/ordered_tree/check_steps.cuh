// The steps by which a GPU checks a balanced tree with one node per point.
#pragma once

#include "cuda/ordered_tree/check_order.cuh"
#include "cuda/runtime/scratch_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Lets the pointers of a check lie in `memory`, aligned to 256 bytes, and returns its bytes; null: only these count.
template <typename T>
std::uint64_t lay_out_check(OrderCheck<T>& check, std::byte* memory) {
  ScratchParts parts(memory);
  const std::uint64_t words = (check.rows + 31) / 32;
  check.seen = parts.take<std::uint32_t>(words);
  check.wrong = parts.take<std::uint32_t>(1);
  if (check.task.numbers != nullptr) check.wanted = parts.take<std::uint32_t>(words);
  if (check.claimed.less != nullptr) check.node_at = parts.take<std::uint32_t>(check.task.count);
  if (!check.task.cycles) check.boxes = parts.take<T>(std::uint64_t{check.task.count} * 2 * check.task.dims);
  return parts.bytes();
}

/// Whether the tree is right. `Device`: StepDevice, or what stands for it in tests. Waits.
template <typename T, typename Device>
bool is_right_order(Device& device, const OrderCheck<T>& check) {
  const std::uint64_t words = (check.rows + 31) / 32;
  const auto launch = [&](auto kernel, std::uint64_t threads, const auto&... arguments) {
    const std::uint64_t blocks = (threads + kOrderThreads - 1) / kOrderThreads;
    const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, device.resident_blocks()));
    device.launch(kernel, most, kOrderThreads, 0, arguments...);
  };
  const auto is_right_so_far = [&] {
    std::uint32_t wrong = 0;
    device.read(&wrong, check.wrong, sizeof wrong);
    return wrong == 0;
  };
  std::uint32_t levels = 0;
  for (std::uint64_t size = check.task.count; size > 0; size /= 2) ++levels;
  device.zero(check.seen, words * sizeof(std::uint32_t));
  device.zero(check.wrong, sizeof(std::uint32_t));
  if (check.wanted != nullptr) {
    device.zero(check.wanted, words * sizeof(std::uint32_t));
    launch(note_wanted<T>, check.task.count, check);
  }
  if (check.node_at != nullptr) {
    device.phase("links");
    for (std::uint32_t level = 0; level < levels; ++level) {
      launch(follow_links<T>, std::uint64_t{1} << level, check, level);
    }
    if (!is_right_so_far()) return false;
  }
  device.phase("points");
  launch(check_points<T>, check.task.count, check);
  if (!is_right_so_far()) return false;
  device.phase("dimensions");
  for (std::uint32_t level = levels; level-- > 0;) {
    launch(check_dimensions<T>, std::uint64_t{1} << level, check, level);
  }
  if (!is_right_so_far()) return false;
  device.phase("sides");
  launch(check_sides<T>, check.task.count, check);
  device.phase("");
  return is_right_so_far();
}

}  // namespace kith::cuda
