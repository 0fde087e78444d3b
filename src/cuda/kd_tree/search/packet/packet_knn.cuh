// kNN by packets: a warp searches for 32 queries that lie close together, each for a lane.
//
// 1. A radius is guessed that holds somewhat more neighbours than are wanted, from one query of the packet and the
//    points around it.
// 2. The tree is walked once for all, from the packet's own bottom node outward: a lane looks at a node. Each query is
//    then compared with each leaf that the packet reaches; what is near enough becomes a pair.
// 3. Pairs are distributed across lanes, regardless of which query owns them: a lane takes a leaf and a query and
// writes the points within
//    the query's radius into the query's buffer, as 32-bit keys: the leading bits of the distance, then which point. So
//    no lane waits for the query that has the most leaves.
// 4. Buffers are merged into the query's sorted list of keys, which may shrink its radius.
// 5. At the end the keys' points are looked up, and their exact distances and numbers decide.
//
// It is exact, or the query is handed on to a search that is: truncation is monotone, so if the list holds a key beyond
// those that tie with the last wanted one, then every neighbour is in the list. A query whose list ends within such a
// tie is searched once more by collecting points (packet_collect.cuh). It fails if its radius holds too few
// points; a packet fails if it is too large for its radius or reaches too many leaves.
//
// A general search does the same on periodic axes, or finds some of the points only: those of lesser numbers, or those
// that are allowed. The radius of a query grows with the share of the points that it may find. Ties fail.
#pragma once

#include "cuda/kd_tree/search/packet/packet_answer.cuh"
#include "cuda/kd_tree/search/packet/packet_guess.cuh"
#include "cuda/primitives/sorting_network.cuh"

#include <bit>
#include <cfloat>
#include <cmath>

namespace kith::cuda {

template <typename T, std::uint32_t kDims, std::uint32_t kKept, typename Rows, bool kGeneral = false>
class Packet : PacketAnswer<T, kDims, kKept, Rows, kGeneral> {
 public:
  using typename PacketAnswer<T, kDims, kKept, Rows, kGeneral>::Storage;

  __device__ Packet(const PacketTask<T>& task, Storage& storage) : Answer(task, storage) {}

  __device__ __forceinline__ void run(std::uint32_t packet) {
    constexpr bool kCollectsTies = can_collect(kDims) && !kGeneral;
    const std::uint32_t tied_probes = kCollectsTies ? load_fresh(task_.tied_probes) : 0;
    if (!Walk::load_queries(packet)) return;
    if (kCollectsTies && Walk::has_equal_neighbors()) [[unlikely]] {
      if (Walk::most_are_copies() && task_.knn.bound >= T(0)) {
        return Walk::hand_on_to_group(packet, task_.groups, task_.tied, task_.tied_count);
      }
    }
    Walk::span_packet();
    const float guess = guess_radius();
    bool is_searched = guess < FLT_MAX && !Walk::is_larger_than(guess);
    if (kCollectsTies &&
        (guess < FLT_MIN || any_lane(are_many(tied_probes, packet)))) {  // copies of one point, or ties
      const bool has_radius = is_searched && guess >= FLT_MIN && task_.tied_share > 0;
      if (has_radius && is_there_)
        task_.knn.answer.reduced[row_ * task_.knn.k] = static_cast<T>(guess * task_.tied_share);
      return Walk::hand_on_part(has_radius ? packet | kHasRadii : packet, is_there_, task_.tied, task_.tied_count);
    }
    if (is_searched) {
      begin(static_cast<T>(guess));
      is_searched = Walk::walk();
    }
    const bool is_tied = is_searched && is_there_ && ends_in_tie();
    const bool has_answer = is_searched && is_there_ && !is_tied && has_enough();
    if constexpr (kCollectsTies) {
      const std::uint32_t tied = ballot(is_tied);
      if (tied != 0) [[unlikely]]
        hand_on_tied(packet, is_tied, count_bits(tied));
      Walk::hand_on(is_there_ && !has_answer && !is_tied, task_.failed, task_.failed_count);
    } else {
      Walk::hand_on(is_there_ && !has_answer, task_.failed, task_.failed_count);
    }
    if (is_searched) Answer::answer(has_answer);
  }

 private:
  using Answer = PacketAnswer<T, kDims, kKept, Rows, kGeneral>;
  using typename Answer::Walk;
  friend Walk;
  friend typename Walk::Points;
  static constexpr bool kShrinks = true, kNamesPairedOnly = kDims == 5, kIsGeneral = kGeneral, kSkipsCopies = false;
  using Answer::keys_, Answer::kNameMask, Answer::kNoKey, Answer::storage_, Answer::task_;
  using Walk::is_there_, Walk::leaf_, Walk::middle_, Walk::most_, Walk::number_, Walk::pairs_, Walk::query_, Walk::row_,
      Walk::tree_;
  static constexpr std::uint32_t kMerged = 16;  ///< keys that are merged at a time

  /// Queries whose lists ended in a tie, with the radii that they know.
  __device__ void hand_on_tied(std::uint32_t packet, bool is_tied, std::uint32_t count) {
    Walk::load_chosen();
    if (is_tied) task_.knn.answer.reduced[row_ * task_.knn.k] = Walk::own_radius();
    Walk::hand_on_part(packet | kHasRadii, is_tied, task_.tied, task_.tied_count);
    const bool are_most = count > kWarp / 2 && packet % kPerProbe == 0;
    if (are_most && lane_number() == 0) atomic_add(task_.tied_probes, 1u);
  }

  // --- the radius ---

  __device__ __forceinline__ float guess_radius() {
    T query[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query[d] = shuffle(query_[d], middle_);
    if constexpr (kGeneral) {
      return radius_of_sample<kGuessRows>(tree_, query, leaf_, task_.guess_levels, task_.expected,
                                          AllowedOfSample{task_.knn.filter.allowed});
    } else {
      return radius_of_sample<kGuessRows>(tree_, query, leaf_, task_.guess_levels, task_.expected);
    }
  }
  /// Counts what a general search allows.
  struct AllowedOfSample {
    static constexpr bool kNeedsNumber = true;
    const std::uint64_t* allowed;
    __device__ bool operator()(std::uint32_t number) const {
      return allowed == nullptr || (allowed[number / 64] >> (number % 64) & 1) != 0;
    }
  };

  __device__ void begin(T radius) {
    if constexpr (kGeneral) radius = begin_general(radius);
    is_bounded_ = !(radius < task_.knn.bound);
    const T least = is_bounded_ ? task_.knn.bound : radius;
    if constexpr (kGeneral) {
      Walk::begin_with_own(least);
    } else {
      Walk::begin_with(least, least);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) keys_[i] = kNoKey;
  }

  /// Names would be lost.
  __device__ bool empties_history() const { return false; }

  /// Every so many packets are searched in any case, to see whether most queries end in a tie. Where they do, others
  /// are handed on without a try: on a grid, or among copies.
  static constexpr std::uint32_t kPerProbe = 8;
  /// Of the packets before, as far as they are done: any value is right.
  __device__ static bool are_many(std::uint32_t tied_probes, std::uint32_t packet) {
    constexpr std::uint32_t kFewest = 32;
    return packet % kPerProbe != 0 && tied_probes >= kFewest && 2 * tied_probes > packet / kPerProbe;
  }

  // --- a general search ---

  /// Notes which points this lane's query may find. Returns its radius, from one that holds enough of all points.
  __device__ T begin_general(T radius) {
    constexpr float kMostGrowth = 16;
    Walk::set_lengths(task_.knn.metric.lengths);
    const auto points = static_cast<std::uint32_t>(tree_.geometry.points);
    const std::uint32_t end = lesser_of(task_.knn.filter.end(number_, row_), points);
    storage_.ends[lane_number()] = end;
    const float share = static_cast<float>(points) / static_cast<float>(end > 0 ? end : 1);
    // Those that may find but a few would make the packet walk far: they fail.
    if (share > kMostGrowth) return T(-1);
    return end == points ? radius : radius * static_cast<T>(std::exp2(std::log2(share) * (2.0f / kDims)));
  }
  __device__ static std::uint32_t lesser_of(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

  __device__ bool is_filtered() const {
    const SearchFilter& filter = task_.knn.filter;
    return filter.earlier_only || filter.below != nullptr || filter.allowed != nullptr;
  }
  __device__ bool admits(std::uint32_t owner, std::uint32_t number) const {
    return number < storage_.ends[owner] && AllowedOfSample{task_.knn.filter.allowed}(number);
  }

  // --- pairs ---

  /// Takes the pairs 32 at a time; at last the rest too, and empties the buffers.
  __device__ __forceinline__ void work_off(bool is_last) {
    if (!is_last && pairs_ < kWarp) return;
    const std::uint32_t end = is_last ? pairs_ : pairs_ / kWarp * kWarp;
    std::uint32_t first = 0;
    sync_warp();
    do {
      collect(first, end, is_last && first + kWarp >= end ? 0 : Storage::kNearlyFull);
      first += kWarp;
    } while (first < end);
    Walk::keep_pairs_from(end);
  }

  /// The keys of 32 pairs from number `first` on go to their buffers, which are merged until none has more than
  /// `enough`. Where one is too short, its pairs are taken once more, of each query one at a time, for which there is
  /// room.
  __device__ __forceinline__ void collect(std::uint32_t first, std::uint32_t end, std::uint32_t enough) {
    bool is_open = first + lane_number() < end, is_taken = is_open, is_retaken = false;
    do {
      const std::uint32_t before = storage_.counts[lane_number()];
      sync_warp();
      if (is_taken) put_into_buffer(storage_.pairs[first + lane_number()]);
      sync_warp();
      std::uint32_t most = enough;
      const std::uint32_t overfull = ballot(storage_.counts[lane_number()] > Storage::kBuffer);
      if (overfull != 0 || is_retaken) [[unlikely]] {
        if ((overfull >> lane_number() & 1) != 0) storage_.counts[lane_number()] = before;
        sync_warp();
        const std::uint32_t pair = storage_.pairs[is_open ? first + lane_number() : first];
        is_open = is_open && (overfull != 0 ? (overfull >> (pair & 31) & 1) != 0 : !is_taken);
        is_retaken = any_lane(is_open);
        if (is_retaken) most = Storage::kBuffer - most_;
        const std::uint32_t rivals = match_lanes(is_open ? pair & 31 : kPacketQueries + lane_number());
        is_taken = is_open && lowest_bit(rivals) == lane_number();
      }
      while (any_lane(storage_.counts[lane_number()] > most)) merge();
    } while (is_retaken);
  }

  __device__ std::uint32_t key_of(T distance, std::uint32_t name) const {
    return (std::bit_cast<std::uint32_t>(toward_zero(distance)) & ~kNameMask) | name;
  }
  /// No distance with this key, but for the name, is above it.
  __device__ T most_of_key(std::uint32_t key) const {
    if constexpr (sizeof(T) == 4) return std::bit_cast<T>(key | kNameMask);
    return static_cast<T>(std::bit_cast<float>((key | kNameMask) + 1));
  }

  /// The keys of the points of a pair's leaf within the radius of its query; those for which there is no room are only
  /// counted.
  __device__ __forceinline__ void put_into_buffer(std::uint32_t pair) {
    const std::uint32_t owner = pair & 31;
    const std::uint32_t buffer = shared_address(&storage_.buffers[0][owner]);
    const std::uint32_t too_many = shared_address(&storage_.buffers[Storage::kBuffer][lane_number()]);
    static_assert(Storage::kSpare >= Walk::kAtOnce);
    constexpr std::uint32_t kRowBytes = sizeof(storage_.buffers[0]);
    std::uint32_t* const counter = &storage_.counts[owner];
    // All lanes ask for room, some for none: that is faster than to part.
    Walk::measure_points(
        pair, [&](const T(&reduced)[Walk::kAtOnce], std::uint32_t name, const bool(&is_found)[Walk::kAtOnce]) {
          const std::uint32_t found = Walk::count_found(is_found), at = atomic_add(counter, found);
          std::uint32_t to = at + found > Storage::kBuffer ? too_many : buffer + at * kRowBytes;
#pragma unroll
          for (std::uint32_t j = 0; j < Walk::kAtOnce; ++j) {
            if (is_found[j]) *at_shared<std::uint32_t>(to) = key_of(reduced[j], name + j);
            if (j + 1 < Walk::kAtOnce) to = add_if(is_found[j], to, kRowBytes);
          }
        });
  }

  /// Up to 16 keys of each buffer go into the list; a full list shrinks the radius.
  __device__ __forceinline__ void merge() {
    const std::uint32_t waiting = storage_.counts[lane_number()];
    std::uint32_t fresh[kMerged];
#pragma unroll
    for (std::uint32_t i = 0; i < kMerged; ++i) {
      fresh[i] = i < waiting ? storage_.buffers[waiting - 1 - i][lane_number()] : kNoKey;
    }
    storage_.counts[lane_number()] = waiting > kMerged ? waiting - kMerged : 0;
    sort_in_registers(fresh);
    if (any_lane(keys_[0] < kNoKey)) {
      merge_in_registers(keys_, fresh);
    } else {
#pragma unroll
      for (std::uint32_t i = 0; i < kKept && i < kMerged; ++i) keys_[i] = fresh[i];
    }
    const std::uint32_t last = Answer::key_at(task_.wanted - 1);
    if (last < kNoKey) {
      const T most = most_of_key(last);
      if (most < Walk::own_radius()) Walk::own_radius() = most;
    }
    sync_warp();
  }

  // --- the answer ---

  /// All that are wanted, or all within the bound: else the radius was too small.
  __device__ bool has_enough() const { return is_bounded_ || Answer::key_at(task_.wanted - 1) < kNoKey; }
  /// Whether what fell out of the list may come before what is in it.
  __device__ bool ends_in_tie() const {
    const std::uint32_t last = Answer::key_at(task_.wanted - 1);
    return last < kNoKey && !Answer::differ(keys_[kKept - 1], last);
  }

  bool is_bounded_ = false;  ///< by the search's own bound, not by a guess
};

/// Blocks that a processor should have room for, which bounds the registers of a thread: as many as spill none.
template <typename T>
constexpr std::uint32_t packet_blocks(std::uint32_t kept, std::uint32_t dims) {
  if (dims == 5) return kept <= 10 ? 9 : 8;
  if (sizeof(T) == 4) return kept <= 10 ? 14 : kept <= 18 && dims == 3 ? 12 : 10;
  return kept <= 10 ? 10 : 8;
}

template <typename T, std::uint32_t kDims, std::uint32_t kKept, typename Rows, bool kGeneral = false>
__global__ void __launch_bounds__(kPacketWarps* kWarp, packet_blocks<T>(kKept, kDims) - (kGeneral ? 2 : 0))
    knn_by_packets(const __grid_constant__ PacketTask<T> task) {
  using Storage = typename Packet<T, kDims, kKept, Rows, kGeneral>::Storage;
  Storage& storage = reinterpret_cast<Storage*>(shared_memory())[warp_number()];
  for (auto packet = static_cast<std::uint32_t>(search_warp()); packet < task.packets;
       packet += static_cast<std::uint32_t>(search_warps())) {
    Packet<T, kDims, kKept, Rows, kGeneral>(task, storage).run(packet);
  }
}

}  // namespace kith::cuda
