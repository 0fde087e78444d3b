// The steps by which a GPU builds a balanced tree with one node per point: select and partition, level by level, until
// ranges fit into shared memory; there presort and partition.
//
//   step, per level        bytes per point (d dims of T bytes)        2^24 points of 4 dims of f32, at 3 TB/s
//   boxes                  d T read                                   0.09 ms
//   bins, twice            T read                                     0.05 ms
//   candidates             T read                                     0.02 ms
//   moves                  d T + 4 read and written                   0.22 ms
//
// 13 such levels, and then d T + 4 read and 8 written once. Nothing waits for the host but a word per level: whether
// some range has too many candidates for a comparison of all pairs, as with duplicates and outliers.
//
// Memory: two copies of the points, 4 bytes per 16 points, and 13 KiB per range of at least so many points.
#pragma once

#include "cuda/ordered_tree/find_middle.cuh"
#include "cuda/ordered_tree/finish_order.cuh"
#include "cuda/ordered_tree/link_nodes.cuh"
#include "cuda/ordered_tree/move_points.cuh"
#include "cuda/runtime/scratch_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kith::cuda {

/// How a tree of `count` points is divided among kernels.
struct OrderPlan {
  std::uint32_t levels = 0;      ///< above the ranges that fit into shared memory
  std::uint32_t most = kWarp;    ///< points of those
  std::size_t finish_bytes = 0;  ///< of shared memory
  std::uint32_t bin_levels = 0;  ///< levels whose ranges have more than one block

  std::uint32_t threads() const { return std::max(most / kPlacesPerThread, kWarp); }
};

/// `most_points`: of a range in shared memory; tests make it small. Levels is 32 if even the fewest do not fit.
template <typename T>
OrderPlan plan_order(std::uint32_t count, std::uint32_t dims, std::uint32_t shared_limit,
                     std::uint32_t most_points = kMostInBlock) {
  OrderPlan plan;
  const auto bytes = [&](std::uint32_t most) { return FinishShared<T>(nullptr, most, dims).bytes; };
  // Two blocks at a time, if there is a choice.
  while (2 * plan.most <= most_points && bytes(2 * plan.most) <= shared_limit / 2) plan.most *= 2;
  plan.finish_bytes = bytes(plan.most);
  std::uint64_t size = count;
  for (; size > plan.most; size /= 2) {
    if (size > kOrderTile) plan.bin_levels = plan.levels + 1;
    ++plan.levels;
  }
  if (plan.finish_bytes > shared_limit || move_points_bytes<T>(dims) > shared_limit) plan.levels = 32;
  return plan;
}

template <typename T>
struct OrderScratch {
  MovedPoints<T> copies[2];
  std::uint32_t* first[2];
  OrderLevel<T> level;           ///< its pointers
  std::uint64_t zero_bytes = 0;  ///< of `zeros`, from boxes to open, to be cleared for each level
  std::byte* zeros = nullptr;
  std::uint64_t bytes = 0;
};

/// Lies in `memory`, aligned to 256 bytes; null: only `bytes` counts.
template <typename T>
OrderScratch<T> lay_out_order_scratch(std::uint32_t count, std::uint32_t dims, const OrderPlan& plan,
                                      std::byte* memory) {
  ScratchParts parts(memory);
  OrderScratch<T> scratch;
  for (MovedPoints<T>& copy : scratch.copies) {
    copy.stride = (std::uint64_t{count} + 63) / 64 * 64;
    copy.values = parts.take<T>(copy.stride * dims);
    copy.numbers = parts.take<std::uint32_t>(count);
    if (plan.levels == 0) break;
  }
  const std::uint64_t ranges = std::uint64_t{1} << plan.levels;
  for (std::uint32_t*& first : scratch.first) first = parts.take<std::uint32_t>(ranges + 1);
  OrderLevel<T>& level = scratch.level;
  const std::uint64_t most_ranges = ranges / 2;  // of the levels above the last
  level.searches = parts.take<MiddleSearch<T>>(most_ranges);
  level.known = parts.take<T>(most_ranges * dims);
  level.lists = parts.take<std::uint32_t>(most_ranges * kMostListed);
  level.bins = parts.take<std::uint32_t>(plan.bin_levels == 0 ? 0 : (kOrderBins << plan.bin_levels) / 2);
  level.tickets = parts.take<std::uint32_t>(most_ranges);
  const std::uint64_t start = parts.bytes();
  level.boxes = parts.take<OrderedKey<T>>(most_ranges * 2 * dims);
  level.moved = parts.take<std::uint32_t>(most_ranges * 2);
  level.listed = parts.take<std::uint32_t>(most_ranges);
  level.open = parts.take<std::uint32_t>(1);
  scratch.zeros = memory == nullptr ? nullptr : memory + start;
  scratch.zero_bytes = parts.bytes() - start;
  scratch.bytes = parts.bytes();
  return scratch;
}

/// `Device`: StepDevice, or what stands for it in tests.
template <typename T, typename Device>
class OrderSteps {
 public:
  OrderSteps(Device& device, const OrderTask<T>& task, const OrderPlan& plan, const OrderScratch<T>& scratch,
             const OrderedNodes<T>& nodes)
      : device_(device), task_(task), plan_(plan), scratch_(scratch), nodes_(nodes) {}

  /// Does not wait for the last steps.
  void run() {
    device_.phase("take points");
    launch(take_points<T>, task_.count, task_, scratch_.copies[0]);
    const std::uint32_t ends[] = {0, task_.count + 1};
    device_.write(scratch_.first[0], ends, sizeof ends);
    OrderLevel<T> level = scratch_.level;
    level.dims = task_.dims;
    level.cycles = task_.cycles;
    level.takes_left = task_.takes_left;
    level.out_points = nodes_.point;
    level.out_dims = nodes_.split_dim;
    if (plan_.levels > 0) {
      device_.zero(level.tickets, sizeof(std::uint32_t) << (plan_.levels - 1));
      if (plan_.bin_levels > 0) device_.zero(level.bins, sizeof(std::uint32_t) * kOrderBins << (plan_.bin_levels - 1));
    }
    for (std::uint64_t size = task_.count; level.level < plan_.levels; ++level.level, size /= 2) {
      level.from = scratch_.copies[level.level % 2];
      level.to = scratch_.copies[(level.level + 1) % 2];
      level.first = scratch_.first[level.level % 2];
      level.next_first = scratch_.first[(level.level + 1) % 2];
      level.parts = static_cast<std::uint32_t>((size + kOrderTile - 1) / kOrderTile);
      split_level(level);
    }
    device_.phase("finish");
    const FinishOrder<T> finish{.from = scratch_.copies[plan_.levels % 2],
                                .dims = task_.dims,
                                .level = plan_.levels,
                                .most = plan_.most,
                                .cycles = task_.cycles,
                                .takes_left = task_.takes_left,
                                .first = scratch_.first[plan_.levels % 2],
                                .out_points = nodes_.point,
                                .out_dims = nodes_.split_dim};
    const auto kernel = task_.dims == 2   ? finish_order<T, 2>
                        : task_.dims == 3 ? finish_order<T, 3>
                        : task_.dims == 4 ? finish_order<T, 4>
                                          : finish_order<T, 0>;
    device_.launch(kernel, 1u << plan_.levels, plan_.threads(), plan_.finish_bytes, finish);
    if (nodes_.less != nullptr || nodes_.rows != nullptr) {
      device_.phase("link");
      launch(link_nodes<T>, task_.count, task_, nodes_);
    }
    device_.phase("");
  }

 private:
  template <typename... Parameters, typename... Arguments>
  void launch(void (*kernel)(Parameters...), std::uint64_t threads, const Arguments&... arguments) {
    const std::uint64_t blocks = (threads + kOrderThreads - 1) / kOrderThreads;
    const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, device_.resident_blocks()));
    device_.launch(kernel, most, kOrderThreads, 0, arguments...);
  }

  void split_level(const OrderLevel<T>& level) {
    constexpr std::uint32_t kNarrowings = 2;
    const std::uint32_t ranges = 1u << level.level, blocks = ranges * level.parts;
    constexpr std::size_t kFew = 512;
    device_.phase("boxes");
    device_.zero(scratch_.zeros, scratch_.zero_bytes);
    device_.launch(begin_level<T>, (ranges + kOrderThreads - 1) / kOrderThreads, kOrderThreads, 0, level);
    device_.launch(find_boxes<T>, blocks, kOrderThreads, kFew, level);
    std::uint32_t open = 1;
    while (open != 0) {
      device_.phase("middles");
      for (std::uint32_t i = 0; i < kNarrowings; ++i) {
        device_.launch(narrow_candidates<T>, blocks, kOrderThreads, kOrderBins * sizeof(std::uint32_t) + kFew, level);
      }
      device_.zero(level.open, sizeof open);
      device_.launch(find_middles<T>, blocks, kOrderThreads,
                     kMostListed * (sizeof(std::uint32_t) + sizeof(OrderedKey<T>)) + kFew, level);
      device_.read(&open, level.open, sizeof open);
    }
    device_.phase("moves");
    device_.launch(move_points<T>, blocks, kOrderThreads, move_points_bytes<T>(level.dims), level);
  }

  Device& device_;
  OrderTask<T> task_;
  OrderPlan plan_;
  OrderScratch<T> scratch_;
  OrderedNodes<T> nodes_;
};

}  // namespace kith::cuda
