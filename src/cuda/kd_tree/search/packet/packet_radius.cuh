// Everything within a bound, by packets: how many, then the lists. packet_walk.cuh has the walk.
//
// The second kernel notes which points lie within the bound in shared memory, up to 64 for a query; then the warp looks
// them up, sorts and writes one list after the other. Longer lists are handed on.
#pragma once

#include "cuda/kd_tree/search/packet/packet_walk.cuh"
#include "cuda/queries/found_within.cuh"

namespace kith::cuda {

/// The first kernel: fills RadiusTask::counts.
template <typename T, std::uint32_t kDims>
class PacketCount : PacketWalk<T, kDims, PacketCount<T, kDims>> {
 public:
  using Storage = PacketWalkStorage<T, kDims>;

  __device__ PacketCount(const PacketRadiusTask<T>& task, Storage& storage)
      : Walk(task.radius.tree, task.radius.queries, task.packets_per_node, storage), task_(task) {}

  __device__ __forceinline__ void run(std::uint32_t packet) {
    if (!Walk::load_queries(packet)) return;
    Walk::span_packet();
    Walk::begin_with_own(task_.radius.bound_of(row_));
    Walk::walk();
    const std::uint32_t self = task_.radius.filter.exclude_self ? 1 : 0;  // it is always within
    if (is_there_) task_.radius.counts[row_] = storage_.counts[lane_number()] - self;
  }

 private:
  using Walk = PacketWalk<T, kDims, PacketCount<T, kDims>>;
  friend Walk;
  friend typename Walk::Points;
  static constexpr bool kShrinks = false, kNamesPairedOnly = false, kIsGeneral = false, kSkipsCopies = false;
  using Walk::is_there_, Walk::leaves_, Walk::storage_, Walk::row_;

  __device__ __forceinline__ void work_off(bool is_last) {
    Walk::take_pairs(is_last, [&](std::uint32_t pair) {
      const std::uint32_t found = count_bits(Walk::points_within(pair));
      if (found > 0) atomic_add(&storage_.counts[pair & 31], found);
    });
  }
  /// Once its pairs are worked off a leaf's name is not needed.
  __device__ bool empties_history() {
    work_off(true);
    leaves_ = 0;
    return true;
  }

  const PacketRadiusTask<T>& task_;
};

/// What the second kernel has in shared memory.
template <typename T, std::uint32_t kDims>
struct PacketListStorage : PacketWalkStorage<T, kDims> {
  static constexpr std::uint32_t kMost = 2 * kWarp;  ///< entries of a list

  std::uint16_t names[kMost][kPacketQueries];
};

/// The second kernel: fills the lists.
template <typename T, std::uint32_t kDims>
class PacketList : PacketWalk<T, kDims, PacketList<T, kDims>> {
 public:
  using Storage = PacketListStorage<T, kDims>;

  __device__ PacketList(const PacketRadiusTask<T>& task, Storage& storage)
      : Walk(task.radius.tree, task.radius.queries, task.packets_per_node, storage), task_(task), storage_(storage) {}

  __device__ __forceinline__ void run(std::uint32_t packet) {
    if (!Walk::load_queries(packet)) return;
    const std::uint64_t start = task_.radius.starts[row_];
    const std::uint64_t length = task_.radius.starts[row_ + 1] - start;
    const bool is_long = is_there_ && length + self() > Storage::kMost;
    Walk::hand_on(is_long, task_.failed, task_.failed_count);
    is_there_ = is_there_ && !is_long;
    if (!any_lane(is_there_)) return;
    Walk::span_packet();
    Walk::begin_with_own(task_.radius.bound_of(row_));
    const bool is_searched = Walk::walk();
    Walk::hand_on(is_there_ && !is_searched, task_.failed, task_.failed_count);
    if (!is_searched) return;
    for (std::uint32_t owners = ballot(is_there_); owners != 0; owners &= owners - 1) {
      const std::uint32_t lane = lowest_bit(owners);
      write_list(lane, shuffle(start, lane) - task_.radius.starts_base, shuffle(number_, lane));
    }
  }

 private:
  using Walk = PacketWalk<T, kDims, PacketList<T, kDims>>;
  friend Walk;
  friend typename Walk::Points;
  static constexpr bool kShrinks = false, kNamesPairedOnly = false, kIsGeneral = false, kSkipsCopies = false;
  using Walk::is_there_, Walk::number_, Walk::row_;

  __device__ std::uint32_t self() const { return task_.radius.filter.exclude_self ? 1 : 0; }

  __device__ __forceinline__ void work_off(bool is_last) {
    Walk::take_pairs(is_last, [&](std::uint32_t pair) {
      const std::uint32_t owner = pair & 31;
      std::uint32_t within = Walk::points_within(pair);
      if (within == 0) return;
      std::uint32_t at = atomic_add(&storage_.counts[owner], count_bits(within));
      for (; within != 0; within &= within - 1, ++at) storage_.names[at][owner] = Walk::first_name(pair, within);
    });
  }
  /// Names would be lost.
  __device__ bool empties_history() const { return false; }

  __device__ void write_list(std::uint32_t lane, std::uint64_t start, std::uint32_t number) {
    const std::uint32_t count = storage_.counts[lane];
    T query[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query[d] = storage_.queries[d][lane];
    Candidate<T> low = candidate(lane, lane_number(), count, query, number);
    sort_in_lanes(low);
    write_entry(start, lane_number(), low, count <= kWarp);
    if (count <= kWarp) return;
    Candidate<T> high = candidate(lane, lane_number() + kWarp, count, query, number);
    sort_in_lanes(high);
    const Candidate<T> mirrored = from_lane(high, kWarp - 1 - lane_number());
    const bool is_less = mirrored < low;
    high = is_less ? low : mirrored;
    low = is_less ? mirrored : low;
#pragma unroll
    for (std::uint32_t stride = kWarp / 2; stride > 0; stride /= 2) {
      exchange_with(low, stride, (lane_number() & stride) == 0);
      exchange_with(high, stride, (lane_number() & stride) == 0);
    }
    write_entry(start, lane_number(), low, true);
    write_entry(start, lane_number() + kWarp, high, true);
  }

  /// The query itself, if it does not count, comes after all others.
  __device__ Candidate<T> candidate(std::uint32_t lane, std::uint32_t at, std::uint32_t count, const T (&query)[kDims],
                                    std::uint32_t number) const {
    if (at >= count) return last_candidate<T>();
    const Candidate<T> found = Walk::look_up(storage_.names[at][lane], query);
    return task_.radius.filter.exclude_self && found.index == number ? last_candidate<T>() : found;
  }
  __device__ void write_entry(std::uint64_t start, std::uint32_t place, const Candidate<T>& found,
                              bool is_written) const {
    if (!is_written || found.index == kNoPoint) return;
    const T reported = task_.radius.takes_roots ? core::square_root(found.distance) : found.distance;
    ListEntries<T>(task_.radius, start).put(place, {reported, found.index});
  }

  const PacketRadiusTask<T>& task_;
  Storage& storage_;
};

template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kPacketWarps* kWarp, sizeof(T) == 4 ? 16 : 12)
    count_by_packets(const __grid_constant__ PacketRadiusTask<T> task) {
  auto& storage = reinterpret_cast<PacketWalkStorage<T, kDims>*>(shared_memory())[warp_number()];
  for (std::uint64_t packet = search_warp(); packet < task.packets; packet += search_warps()) {
    PacketCount<T, kDims>(task, storage).run(static_cast<std::uint32_t>(packet));
  }
}

template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kPacketWarps* kWarp, sizeof(T) == 4 ? 14 : 12)
    list_by_packets(const __grid_constant__ PacketRadiusTask<T> task) {
  auto& storage = reinterpret_cast<PacketListStorage<T, kDims>*>(shared_memory())[warp_number()];
  for (std::uint64_t packet = search_warp(); packet < task.packets; packet += search_warps()) {
    PacketList<T, kDims>(task, storage).run(static_cast<std::uint32_t>(packet));
  }
}

}  // namespace kith::cuda
