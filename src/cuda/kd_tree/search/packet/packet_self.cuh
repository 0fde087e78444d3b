// The nearest neighbour of each point among all, itself included, by packets: the point itself, or an equal one with a
// lesser number.
//
// The radius is 0, so no list is needed: a query is paired with its own leaf and with those whose boxes touch it, and
// the least number of the points at no distance is the answer. packet_walk.cuh has the walk.
#pragma once

#include "cuda/kd_tree/search/packet/packet_walk.cuh"
#include "cuda/queries/put_answer.cuh"

namespace kith::cuda {

template <typename T, std::uint32_t kDims>
class PacketSelf : PacketWalk<T, kDims, PacketSelf<T, kDims>> {
 public:
  using Storage = PacketWalkStorage<T, kDims>;

  __device__ PacketSelf(const PacketTask<T>& task, Storage& storage)
      : Walk(task.knn.tree, task.knn.queries, task.packets_per_node, storage), task_(task) {}

  __device__ __forceinline__ void run(std::uint32_t packet) {
    if (!Walk::load_queries(packet)) return;
    Walk::span_packet();
    Walk::begin_with(T(0), T(0));
    storage_.counts[lane_number()] = kNoPoint;  // the least number so far
    const bool is_searched = Walk::walk();
    Walk::hand_on(is_there_ && !is_searched, task_.failed, task_.failed_count);
    if (is_there_ && is_searched) put_answer(task_.knn.answer, row_, storage_.counts[lane_number()], T(0));
  }

 private:
  using Walk = PacketWalk<T, kDims, PacketSelf<T, kDims>>;
  friend Walk;
  friend typename Walk::Points;
  static constexpr bool kShrinks = false, kNamesPairedOnly = true, kIsGeneral = false, kSkipsCopies = false;
  using Walk::is_there_, Walk::query_, Walk::storage_, Walk::row_;

  __device__ __forceinline__ void work_off(bool is_last) {
    Walk::take_pairs(is_last, [&](std::uint32_t pair) {
      for (std::uint32_t within = Walk::points_within(pair); within != 0; within &= within - 1) {
        atomic_min(&storage_.counts[pair & 31], Walk::look_up(Walk::first_name(pair, within), query_).index);
      }
    });
  }
  /// Equal points fill many leaves: a search with an order among those is better.
  __device__ bool empties_history() const { return false; }

  const PacketTask<T>& task_;
};

/// As packet_blocks in packet_knn.cuh, as far as a multiprocessor takes so many.
template <typename T>
inline constexpr std::uint32_t kSelfBlocks = sizeof(T) == 8             ? 12
                                             : kMostResidentBlocks < 18 ? kMostResidentBlocks
                                                                        : 18;

template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kPacketWarps* kWarp, kSelfBlocks<T>)
    self_by_packets(const __grid_constant__ PacketTask<T> task) {
  auto& storage = reinterpret_cast<PacketWalkStorage<T, kDims>*>(shared_memory())[warp_number()];
  for (auto packet = static_cast<std::uint32_t>(search_warp()); packet < task.packets;
       packet += static_cast<std::uint32_t>(search_warps())) {
    PacketSelf<T, kDims>(task, storage).run(packet);
  }
}

}  // namespace kith::cuda
