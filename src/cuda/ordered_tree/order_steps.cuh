// The steps by which a GPU builds a balanced tree with one node per point: select and partition, level by level, until
// ranges fit into shared memory.
//
//   step, per level        bytes per point (d dims of T bytes)        2^24 points of 4 dims of f32, at 4 TB/s
//   bins, twice            T read                                     0.03 ms
//   candidates             T read                                     0.02 ms
//   moves                  d T + 4 read and written                   0.17 ms
//
// 11 such levels, and then d T + 4 read and 8 written once. The host waits for one word: whether some range had too
// many candidates for a comparison of all pairs, as with duplicates and outliers.
//
// Memory: two copies of the points, 4 bytes per 16 points, and 10 KiB per range of at least so many points.
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

/// `processors`: of the device, half of which at least have a range in shared memory if there are points enough.
/// `most_points`: of such a range; tests make it small. Levels is 32 if even the fewest do not fit.
template <typename T>
OrderPlan plan_order(std::uint32_t count, std::uint32_t dims, std::uint32_t shared_limit, std::uint32_t processors = 1,
                     std::uint32_t most_points = kMostInBlock) {
  constexpr std::uint32_t kLeast = 1024;  // below it one more level takes longer than a larger range
  OrderPlan plan;
  const auto bytes = [&](std::uint32_t most) { return FinishShared<T>(nullptr, most, dims).bytes; };
  while (2 * plan.most <= most_points && bytes(2 * plan.most) <= shared_limit &&
         (plan.most < kLeast || count / plan.most >= processors / 2)) {
    plan.most *= 2;
  }
  plan.finish_bytes = bytes(plan.most);
  std::uint64_t size = count;
  for (; size > plan.most; size /= 2) {
    if (size > kOrderTile) plan.bin_levels = plan.levels + 1;
    ++plan.levels;
  }
  if (plan.finish_bytes > shared_limit || MoveShared<T>(nullptr, dims).bytes > shared_limit) plan.levels = 32;
  return plan;
}

template <typename T>
struct OrderScratch {
  MovedPoints<T> copies[2];
  std::uint32_t* first[2];
  OrderedKey<T>* boxes[2];
  OrderLevel<T> level;  ///< its other pointers
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
  for (OrderedKey<T>*& boxes : scratch.boxes) boxes = parts.take<OrderedKey<T>>(most_ranges * 2 * dims);
  level.moved = parts.take<std::uint32_t>(most_ranges * 2);
  level.listed = parts.take<std::uint32_t>(most_ranges);
  level.open = parts.take<std::uint32_t>(1);
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
    split_levels();
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

  OrderLevel<T> level_at(std::uint32_t number) const {
    OrderLevel<T> level = scratch_.level;
    level.from = scratch_.copies[number % 2];
    level.to = scratch_.copies[(number + 1) % 2];
    level.first = scratch_.first[number % 2];
    level.next_first = scratch_.first[(number + 1) % 2];
    level.boxes = scratch_.boxes[number % 2];
    level.next_boxes = number + 1 < plan_.levels ? scratch_.boxes[(number + 1) % 2] : nullptr;
    level.dims = task_.dims;
    level.level = number;
    level.cycles = task_.cycles;
    level.takes_left = task_.takes_left;
    level.out_points = nodes_.point;
    level.out_dims = nodes_.split_dim;
    return level;
  }

  /// A kernel for all ranges of a level; a block takes `tile` points.
  void launch_blocks(void (*kernel)(OrderLevel<T>), OrderLevel<T> level, std::uint32_t tile, std::size_t shared) {
    level.tile = tile;
    level.parts = static_cast<std::uint32_t>(((std::uint64_t{task_.count} >> level.level) + tile - 1) / tile);
    device_.launch(kernel, level.parts << level.level, kOrderThreads, shared, level);
  }

  /// Levels follow each other without a word to the host, which then reads whether one of them was not done: that and
  /// all further ones are done step by step.
  void split_levels() {
    if (plan_.levels == 0) return;
    const OrderLevel<T> root = level_at(0);
    device_.phase("boxes");
    device_.zero(root.open, sizeof *root.open);
    device_.zero(root.tickets, sizeof(std::uint32_t) << (plan_.levels - 1));
    if (plan_.bin_levels > 0) device_.zero(root.bins, sizeof(std::uint32_t) * kOrderBins << (plan_.bin_levels - 1));
    device_.zero(root.boxes, 2 * sizeof(T) * task_.dims);
    launch_blocks(find_box<T>, root, kOrderTile, 2 * sizeof(T) * task_.dims);
    for (std::uint32_t number = 0; number < plan_.levels; ++number) {
      begin(level_at(number));
      find_nodes(level_at(number));
      move(level_at(number));
    }
    const auto read_open = [&] {
      std::uint32_t open = 0;
      device_.read(&open, root.open, sizeof open);
      return open;
    };
    const std::uint32_t open = read_open();
    for (std::uint32_t number = open - 1; number < plan_.levels; ++number) {  // none if all are done
      if (number >= open) {
        begin(level_at(number));
        find_nodes(level_at(number));
      }
      while (read_open() != 0) {
        device_.zero(root.open, sizeof open);
        find_nodes(level_at(number));
      }
      move(level_at(number));
    }
  }
  void begin(const OrderLevel<T>& level) {
    device_.phase("boxes");
    device_.launch(begin_level<T>, ((1u << level.level) + kOrderThreads - 1) / kOrderThreads, kOrderThreads, 0, level);
  }
  void find_nodes(const OrderLevel<T>& level) {
    constexpr std::uint32_t kNarrowings = 2;
    constexpr std::size_t kFew = 512;
    // More points per block have fewer bins to add up, if there are blocks enough.
    const std::uint32_t tile = kOrderTile * (task_.count / 4 / kOrderTile > device_.resident_blocks() / 4 ? 4 : 1);
    device_.phase("middles");
    for (std::uint32_t i = 0; i < kNarrowings; ++i) {
      launch_blocks(narrow_candidates<T>, level, tile, kOrderBins * sizeof(std::uint32_t) + kFew);
    }
    launch_blocks(find_middles<T>, level, tile, kMostListed * (sizeof(std::uint32_t) + sizeof(OrderedKey<T>)) + kFew);
  }
  void move(const OrderLevel<T>& level) {
    device_.phase("moves");
    launch_blocks(move_points<T>, level, kOrderTile, MoveShared<T>(nullptr, level.dims).bytes);
  }

  Device& device_;
  OrderTask<T> task_;
  OrderPlan plan_;
  OrderScratch<T> scratch_;
  OrderedNodes<T> nodes_;
};

}  // namespace kith::cuda
