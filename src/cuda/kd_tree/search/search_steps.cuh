// The kernels of each search and how they follow each other. `launch(kernel, blocks, threads, shared bytes,
// arguments...)` puts one into a stream, or runs it on the host in tests.
#pragma once

#include "cuda/kd_tree/search/warp/box.cuh"
#include "cuda/kd_tree/search/warp/knn.cuh"
#include "cuda/kd_tree/search/packet/packet_collect.cuh"
#include "cuda/kd_tree/search/packet/packet_knn.cuh"
#include "cuda/kd_tree/search/packet/packet_radius.cuh"
#include "cuda/kd_tree/search/packet/packet_self.cuh"
#include "cuda/kd_tree/search/packet/query_order.cuh"
#include "cuda/kd_tree/search/warp/radius.cuh"
#include "cuda/primitives/sums_before.cuh"
#include "cuda/kd_tree/search/knn_bytes.hpp"
#include "cuda/kd_tree/search/search_dims.hpp"
#include "cuda/queries/warps_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace kith::cuda {

template <typename T>
std::uint32_t bytes_without_list(const SearchTree<T>& tree) {
  return WarpStorage<T>(tree.dims, 0).bytes;
}

/// `scratch` has plan.scratch_bytes.
template <typename T, typename Launch>
void launch_knn_steps(const KnnTask<T>& task, const ListsPlan& plan, std::byte* scratch, Launch&& launch) {
  if (task.queries.count == 0 || task.k == 0) return;
  const ListMemory<T> lists{plan.capacity, plan.is_shared ? nullptr : reinterpret_cast<Candidate<T>*>(scratch)};
  visit_knn_dims(task.tree, task.metric, [&](auto dims) {
    if (plan.capacity == 0) {
      launch(knn_by_warps<T, dims.value, NearestInLanes>, plan.warps.blocks, plan.warps.warps_per_block * 32,
             plan.warps.shared_bytes, task, lists);
    } else {
      launch(knn_by_warps<T, dims.value, NearestInMemory>, plan.warps.blocks, plan.warps.warps_per_block * 32,
             plan.warps.shared_bytes, task, lists);
    }
  });
}

/// The clean-up of a search by packets: a warp for each query that failed; how many they are the device knows.
template <typename T, typename Launch>
void launch_failed_steps(const PacketTask<T>& packets, const SearchLimits& limits, Launch&& launch) {
  constexpr std::uint32_t kBlocksPerProcessor = 16;
  KnnTask<T> task = packets.knn;
  task.queries.chosen = packets.failed;
  task.queries.chosen_count = packets.failed_count;
  ListsPlan plan = plan_knn(task.tree, task.queries.count, task.k, limits);
  plan.warps.blocks = std::min(plan.warps.blocks, limits.processors * kBlocksPerProcessor);
  launch_knn_steps(task, plan, nullptr, launch);
}

/// The tree, with its points packed for packets at `packed`, which has room for packed_bytes.
template <typename T, typename Launch>
SearchTree<T> launch_pack_steps(SearchTree<T> tree, std::byte* packed, Launch&& launch) {
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  const std::uint64_t blocks = (tree.geometry.points + kPackedBehind + kSearchThreads - 1) / kSearchThreads;
  visit_key_dims(tree.dims, [&](auto dims) {
    launch(pack_points<T, dims.value>, static_cast<std::uint32_t>(std::min(blocks, kMostBlocks)), kSearchThreads,
           std::size_t{0}, tree, packed);
  });
  tree.packed = packed;
  tree.most_per_leaf = static_cast<std::uint32_t>(tree.geometry.most_per_leaf());
  tree.wide = WideTree(tree.geometry.levels);
  return tree;
}

/// kNN by packets that collect points for such lists.
template <CollectedLists kLists, std::uint32_t kDims, typename T, typename Launch>
void launch_collecting_of(const PacketTask<T>& task, Launch&& launch, std::uint32_t most_blocks) {
  constexpr std::uint32_t kSharedBytes = 48 << 10;
  using Storage = typename CollectingPacket<T, kDims, kLists>::Storage;
  const CollectLayout layout(sizeof(Storage), offsetof(Storage, boxes), sizeof(T), task.capacity,
                             kLists != CollectedLists::long_ones);
  const std::uint32_t warps = kPacketWarps * layout.bytes <= kSharedBytes ? kPacketWarps : 1;
  launch(knn_by_collecting<T, kDims, kLists>, std::min((task.packets + warps - 1) / warps, most_blocks), warps * kWarp,
         std::size_t{warps} * layout.bytes, task, layout);
}
template <typename T, std::uint32_t kDims, typename Launch>
void launch_collecting(const PacketTask<T>& task, Launch&& launch, std::uint32_t most_blocks = 0x7fffffff) {
  if (task.parts == nullptr) {
    launch_collecting_of<CollectedLists::long_ones, kDims>(task, launch, most_blocks);
  } else if (task.knn.k <= kMostInLanes) {
    launch_collecting_of<CollectedLists::short_tied, kDims>(task, launch, most_blocks);
  } else {
    launch_collecting_of<CollectedLists::long_tied, kDims>(task, launch, most_blocks);
  }
}

/// Calls f(std::integral_constant<std::uint32_t, K>{}) with the length of the lists of keys; false if there are none.
template <typename T, typename F>
bool visit_kept_keys(const PacketTask<T>& task, F&& f) {
  switch (kept_keys<T>(task.wanted, task.knn.tree)) {
    case 10:
      f(std::integral_constant<std::uint32_t, 10>{});
      return true;
    case 18:
      f(std::integral_constant<std::uint32_t, 18>{});
      return true;
    case 34:
      if constexpr (kMostByKeys < T >> 16) f(std::integral_constant<std::uint32_t, 34>{});
      return true;
    default:
      return false;
  }
}

/// General packets, which need no other kernels. In a file of their own, so that they are compiled beside the others.
template <typename T, typename Launch>
void launch_general_packets(const PacketTask<T>& task, Launch&& launch) {
  const std::uint32_t blocks = (task.packets + kPacketWarps - 1) / kPacketWarps;
  visit_key_dims(task.knn.tree.dims, [&](auto dims) {
    visit_kept_keys<T>(task, [&](auto kept) {
      launch(knn_by_packets<T, dims.value, kept.value, ReportedRows<T>, true>, blocks, kPacketWarps * kWarp,
             kPacketWarps * sizeof(GeneralPacketStorage<T, dims.value, kept.value>), task);
    });
  });
}

template <typename T, std::uint32_t kDims, typename Launch>
void launch_packets_of_dims(const PacketTask<T>& task, const SearchLimits& limits, Launch&& launch) {
  const std::uint32_t blocks = (task.packets + kPacketWarps - 1) / kPacketWarps;
  if constexpr (can_collect(kDims)) {
    if (task.finds_itself) {
      return launch(self_by_packets<T, kDims>, blocks, kPacketWarps * kWarp,
                    kPacketWarps * sizeof(PacketWalkStorage<T, kDims>), task);
    }
  }
  const bool has_keys = visit_kept_keys<T>(task, [&](auto kept) {
    const auto run_for = [&](auto kernel) {
      launch(kernel, blocks, kPacketWarps * kWarp, kPacketWarps * sizeof(PacketStorage<T, kDims, kept.value>), task);
    };
    if (task.knn.answer.is_reported) {
      run_for(knn_by_packets<T, kDims, kept.value, ReportedRows<T>>);
    } else {
      run_for(knn_by_packets<T, kDims, kept.value, ReducedRows<T>>);
    }
  });
  if constexpr (can_collect(kDims)) {
    if (!has_keys) return launch_collecting<T, kDims>(task, launch);
    constexpr std::uint32_t kBlocksPerProcessor = 16;  // their number is not known yet
    launch_collecting<T, kDims>(task_of_tied(task), launch, limits.processors * kBlocksPerProcessor);
  }
}

/// kNN by packets; `scratch` has PacketScratch::words words, the first ones zero. Only if packets_pay, and of a
/// tree whose points are packed. `launch_general` launches general packets.
template <typename T, typename Launch, typename General>
void launch_packet_steps(const KnnTask<T>& knn, std::uint32_t* scratch, const SearchLimits& limits, Launch&& launch,
                         const General& launch_general) {
  const PacketTask<T> task = packet_task(knn, scratch);
  if (is_general(knn.metric, knn.filter)) {
    launch_general(task);
  } else {
    visit_key_dims(knn.tree.dims, [&](auto dims) { launch_packets_of_dims<T, dims.value>(task, limits, launch); });
  }
  launch_failed_steps(task, limits, launch);
}

template <typename T, typename Launch>
void launch_count_steps(const RadiusTask<T>& task, Launch&& launch) {
  if (task.queries.count == 0) return;
  const WarpsPlan plan = plan_warps(task.queries.count, bytes_without_list(task.tree));
  visit_search_dims(task.tree, task.metric, [&](auto dims) {
    launch(count_by_warps<T, dims.value>, plan.blocks, plan.warps_per_block * 32, plan.shared_bytes, task);
  });
}

template <typename T, typename Launch>
void launch_list_steps(const RadiusTask<T>& task, Launch&& launch, std::uint32_t most_blocks = 0x7fffffff) {
  if (task.queries.count == 0) return;
  const WarpsPlan plan = plan_warps(task.queries.count, bytes_without_list(task.tree), most_blocks);
  visit_search_dims(task.tree, task.metric, [&](auto dims) {
    launch(list_by_warps<T, dims.value>, plan.blocks, plan.warps_per_block * 32, plan.shared_bytes, task);
  });
}

/// The same as launch_count_steps by packets. Only if packets_pay, and of a tree whose points are packed.
template <typename T, typename Launch>
void launch_packet_count_steps(const RadiusTask<T>& radius, Launch&& launch) {
  const PacketRadiusTask<T> task = packet_radius_task(radius, nullptr);
  const std::uint32_t blocks = (task.packets + kPacketWarps - 1) / kPacketWarps;
  visit_packet_dims(radius.tree.dims, [&](auto dims) {
    launch(count_by_packets<T, dims.value>, blocks, kPacketWarps * kWarp,
           kPacketWarps * sizeof(PacketWalkStorage<T, dims.value>), task);
  });
}

/// And of launch_list_steps; `scratch` has a word per query and one more, which is zero.
template <typename T, typename Launch>
void launch_packet_list_steps(const RadiusTask<T>& radius, std::uint32_t* scratch, const SearchLimits& limits,
                              Launch&& launch) {
  constexpr std::uint32_t kBlocksPerProcessor = 16;
  const PacketRadiusTask<T> task = packet_radius_task(radius, scratch);
  const std::uint32_t blocks = (task.packets + kPacketWarps - 1) / kPacketWarps;
  visit_packet_dims(radius.tree.dims, [&](auto dims) {
    launch(list_by_packets<T, dims.value>, blocks, kPacketWarps * kWarp,
           kPacketWarps * sizeof(PacketListStorage<T, dims.value>), task);
  });
  RadiusTask<T> failed = radius;
  failed.queries.chosen = task.failed;
  failed.queries.chosen_count = task.failed_count;
  launch_list_steps(failed, launch, limits.processors * kBlocksPerProcessor);
}

template <typename T, typename Launch>
void launch_box_steps(const BoxTask<T>& task, bool writes, Launch&& launch) {
  if (task.count == 0) return;
  const WarpsPlan plan = plan_warps(task.count, 0);
  if (writes) {
    launch(boxes_by_warps<T, true>, plan.blocks, plan.warps_per_block * 32, std::size_t{0}, task);
  } else {
    launch(boxes_by_warps<T, false>, plan.blocks, plan.warps_per_block * 32, std::size_t{0}, task);
  }
}

/// `scratch` has OrderLayout::words words, those before `sums_at` zero; `order` gets the rows by leaf.
template <typename T, typename Launch>
void launch_order_steps(const SearchTree<T>& tree, const T* rows, std::uint64_t row_stride, std::uint64_t count,
                        std::uint32_t* scratch, std::uint32_t* order, Launch&& launch) {
  if (count == 0) return;
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  const std::uint64_t leaves = tree.geometry.leaves();
  const OrderLayout layout(leaves, count);
  std::uint32_t* counts = scratch + layout.counts_at;
  std::uint32_t* leaf_of = scratch + layout.leaves_at;
  const auto blocks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>((count + kSearchThreads - 1) / kSearchThreads, kMostBlocks));
  launch(count_in_leaves<T>, blocks, kSearchThreads, std::size_t{0}, tree, rows, row_stride, count, leaf_of, counts);
  launch_sums_before(static_cast<const std::uint32_t*>(counts), leaves, scratch + layout.sums_at, counts, false,
                     launch);
  launch(order_by_leaf<std::uint32_t>, blocks, kSearchThreads, std::size_t{0},
         static_cast<const std::uint32_t*>(leaf_of), count, counts, order);
}

/// `chosen_count` begins as 0.
template <typename T, typename Launch>
void launch_choose_steps(const SearchTree<T>& tree, std::uint32_t first, std::uint32_t end, std::uint32_t* chosen,
                         std::uint32_t* chosen_count, Launch&& launch) {
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  const auto blocks = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((tree.geometry.leaves() * kWarp + kSearchThreads - 1) / kSearchThreads, kMostBlocks));
  launch(choose_places<T>, blocks, kSearchThreads, std::size_t{0}, tree, first, end, chosen, chosen_count);
}

}  // namespace kith::cuda
