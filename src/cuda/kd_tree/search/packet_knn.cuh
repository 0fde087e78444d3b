// kNN by packets: a warp searches for 32 queries that lie close together, each for a lane.
//
// 1. A radius is guessed that holds somewhat more neighbours than are wanted, from one query of the packet and the
//    points around it.
// 2. The tree is walked once for all, from the packet's own bottom node outward: a lane looks at a node. Each query is
//    then compared with each leaf that the packet reaches; what is near enough becomes a pair.
// 3. Pairs are shared out to the lanes, whosever they are: a lane takes a leaf and a query and writes the points within
//    the query's radius into the query's buffer, as 32-bit keys: the leading bits of the distance, then which point. So
//    no lane waits for the query that has the most leaves.
// 4. Buffers are merged into the query's sorted list of keys, which may shrink its radius.
// 5. At the end the keys' points are looked up, and their exact distances and numbers decide.
//
// It is exact, or the query is handed on to a search that is: truncation is monotone, so if the list holds a key beyond
// those that tie with the last wanted one, then every neighbour is in the list. A query whose list ends within such a
// tie is searched once more by collecting points (packet_collect.cuh). It fails if its radius holds too few
// points; a packet fails if it is too large for its radius or reaches too many leaves.
#pragma once

#include "cuda/kd_tree/search/packet_guess.cuh"
#include "cuda/kd_tree/search/packet_walk.cuh"
#include "cuda/kd_tree/search/sorting_network.cuh"

#include <bit>
#include <cfloat>

namespace kith::cuda {

/// What a packet has in shared memory.
template <typename T, std::uint32_t kDims, std::uint32_t kKept>
struct PacketRoom : PacketWalkRoom<T, kDims, leaves_of_keys(kDims)> {
  /// Keys of a query that wait for their merge, which begins when one has more than kNearlyFull: a batch of pairs
  /// brings some dozen more.
  static constexpr std::uint32_t kBuffer = buffered_keys(kKept);
  static constexpr std::uint32_t kNearlyFull = kKept <= 10 ? 18 : kKept <= 18 ? 28 : 40;

  std::uint32_t buffers[kBuffer][kPacketQueries];
};

template <typename T, std::uint32_t kDims, std::uint32_t kKept>
class Packet : PacketWalk<T, kDims, Packet<T, kDims, kKept>, leaves_of_keys(kDims)> {
 public:
  using Room = PacketRoom<T, kDims, kKept>;

  __device__ Packet(const PacketTask<T>& task, Room& room)
      : Walk(task.knn.tree, task.knn.queries, task.packets_per_node, room), task_(task), room_(room) {}

  __device__ __forceinline__ void run(std::uint32_t packet) {
    if (!Walk::load_queries(packet)) return;
    Walk::span_packet();
    const float guess = guess_radius();
    bool is_searched = guess < FLT_MAX && !Walk::is_larger_than(guess);
    if (is_searched) {
      begin(static_cast<T>(guess));
      is_searched = Walk::walk();
    }
    const bool is_tied = is_searched && is_there_ && ends_in_tie();
    const bool has_answer = is_searched && is_there_ && !is_tied && has_enough();
    if constexpr (can_collect(kDims)) {
      Walk::hand_on_part(packet, is_tied, task_.tied, task_.tied_count);
      Walk::hand_on(is_there_ && !has_answer && !is_tied, task_.failed, task_.failed_count);
    } else {
      Walk::hand_on(is_there_ && !has_answer, task_.failed, task_.failed_count);
    }
    if (is_searched) answer(has_answer);
  }

 private:
  using Walk = PacketWalk<T, kDims, Packet<T, kDims, kKept>, leaves_of_keys(kDims)>;
  friend Walk;
  static constexpr bool kShrinks = true, kNamesPairedOnly = kDims == 5;
  using Walk::is_there_, Walk::leaf_, Walk::middle_, Walk::most_, Walk::number_, Walk::pairs_, Walk::query_,
      Walk::radius_, Walk::row_, Walk::tree_;

  static constexpr std::uint32_t kNameMask = (1u << name_bits_of(kDims)) - 1;
  static constexpr std::uint32_t kNoKey = 0x7f800000;  ///< the bits of infinity: beyond every distance
  static constexpr std::uint32_t kMerged = 16;         ///< keys that are merged at a time

  // --- the radius ---

  __device__ __forceinline__ float guess_radius() {
    T query[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query[d] = shuffle(query_[d], middle_);
    return radius_of_sample<kGuessRows>(tree_, query, leaf_, task_.guess_levels, task_.expected);
  }

  __device__ void begin(T radius) {
    is_bounded_ = !(radius < task_.knn.bound);
    const T least = is_bounded_ ? task_.knn.bound : radius;
    Walk::begin_with(least, least);
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) keys_[i] = kNoKey;
  }

  /// Names would be lost.
  __device__ bool empties_history() const { return false; }

  // --- pairs ---

  /// Takes the pairs 32 at a time; at last the rest too, and empties the buffers.
  __device__ __forceinline__ void work_off(bool is_last) {
    if (!is_last && pairs_ < kWarp) return;
    const std::uint32_t end = is_last ? pairs_ : pairs_ / kWarp * kWarp,
                        enough_at_end = is_last ? 0 : Room::kNearlyFull;
    std::uint32_t first = 0;
    sync_warp();
    do {
      if (first < end) collect(first);
      first += kWarp;
      const std::uint32_t enough = first < end ? Room::kNearlyFull : enough_at_end;
      while (any_lane(room_.counts[lane_number()] > enough)) merge();
    } while (first < end);
    Walk::keep_pairs_from(end);
  }

  /// The keys of 32 pairs from number `first` on go to their buffers. Where one is too short, its pairs are taken once
  /// more, of each query one at a time, for which there is room.
  __device__ __forceinline__ void collect(std::uint32_t first) {
    const bool has_pair = first + lane_number() < pairs_;
    const std::uint32_t before = room_.counts[lane_number()];
    sync_warp();
    if (has_pair) put_into_buffer(room_.pairs[first + lane_number()]);
    sync_warp();
    const std::uint32_t overfull = ballot(room_.counts[lane_number()] > Room::kBuffer);
    if (overfull == 0) [[likely]]
      return;
    if ((overfull >> lane_number() & 1) != 0) room_.counts[lane_number()] = before;
    sync_warp();
    const std::uint32_t pair = room_.pairs[has_pair ? first + lane_number() : first];
    bool is_open = has_pair && (overfull >> (pair & 31) & 1) != 0;
    while (any_lane(is_open)) {
      while (any_lane(room_.counts[lane_number()] + most_ > Room::kBuffer)) merge();
      const std::uint32_t rivals = match_lanes(is_open ? pair & 31 : kPacketQueries + lane_number());
      if (is_open && lowest_bit(rivals) == lane_number()) {
        put_into_buffer(pair);
        is_open = false;
      }
      sync_warp();
    }
  }

  __device__ std::uint32_t key_of(T distance, std::uint32_t name) const {
    return (std::bit_cast<std::uint32_t>(toward_zero(distance)) & ~kNameMask) | name;
  }
  /// No distance with this key, but for the name, is above it.
  __device__ T most_of_key(std::uint32_t key) const {
    if constexpr (sizeof(T) == 4) return std::bit_cast<T>(key | kNameMask);
    return static_cast<T>(std::bit_cast<float>((key | kNameMask) + 1));
  }

  /// The keys of the points of a pair's leaf within the radius of its query, until there is no room for them: these are
  /// only counted.
  __device__ __forceinline__ void put_into_buffer(std::uint32_t pair) {
    const std::uint32_t asking = pair & 31;
    const std::uint32_t buffer = shared_address(&room_.buffers[0][asking]);
    constexpr std::uint32_t kRowBytes = sizeof(room_.buffers[0]);
    std::uint32_t* const counter = &room_.counts[asking];
    // All lanes ask for room, some for none: that is faster than to part.
    Walk::measure_points(
        pair, [&](const T(&chains)[Walk::kAtOnce], std::uint32_t name, const bool(&is_found)[Walk::kAtOnce]) {
          std::uint32_t found = 0;
#pragma unroll
          for (std::uint32_t j = 0; j < Walk::kAtOnce; ++j) found = add_if(is_found[j], found, 1);
          const std::uint32_t at = atomic_add(counter, found);
          if (at + found > Room::kBuffer) return false;
          std::uint32_t to = buffer + at * kRowBytes;
#pragma unroll
          for (std::uint32_t j = 0; j < Walk::kAtOnce; ++j) {
            if (is_found[j]) *at_shared<std::uint32_t>(to) = key_of(chains[j], name + j);
            if (j + 1 < Walk::kAtOnce) to = add_if(is_found[j], to, kRowBytes);
          }
          return true;
        });
  }

  /// Up to 16 keys of each buffer go into the list; a full list shrinks the radius.
  __device__ __forceinline__ void merge() {
    const std::uint32_t waiting = room_.counts[lane_number()];
    std::uint32_t fresh[kMerged];
#pragma unroll
    for (std::uint32_t i = 0; i < kMerged; ++i) {
      fresh[i] = i < waiting ? room_.buffers[waiting - 1 - i][lane_number()] : kNoKey;
    }
    room_.counts[lane_number()] = waiting > kMerged ? waiting - kMerged : 0;
    sort_in_registers(fresh);
    merge_in_registers(keys_, fresh);
    const std::uint32_t last = key_at(task_.wanted - 1);
    if (last < kNoKey) {
      const T most = most_of_key(last);
      if (most < radius_) {
        radius_ = most;
        room_.queries[kDims][lane_number()] = most;
      }
    }
    sync_warp();
  }

  __device__ std::uint32_t key_at(std::uint32_t place) const {
    std::uint32_t key = keys_[0];
#pragma unroll
    for (std::uint32_t i = 1; i < kKept; ++i) key = i == place ? keys_[i] : key;
    return key;
  }

  // --- the answer ---

  /// All that are wanted, or all within the bound: else the radius was too small.
  __device__ bool has_enough() const { return is_bounded_ || key_at(task_.wanted - 1) < kNoKey; }
  /// Whether what fell out of the list may come before what is in it.
  __device__ bool ends_in_tie() const {
    const std::uint32_t last = key_at(task_.wanted - 1);
    return last < kNoKey && (keys_[kKept - 1] & ~kNameMask) == (last & ~kNameMask);
  }

  __device__ std::uint32_t number_or_missing(const Candidate<T>& candidate) const {
    return candidate.index == kNoNumber ? static_cast<std::uint32_t>(tree_.geometry.points) : candidate.index;
  }

  /// Looks the points up, sorts them by what they really are, and writes the rows.
  __device__ __forceinline__ void answer(bool has_answer) {
    Walk::load_chosen();
    Candidate<T> found[kKept];
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) {
      found[i] = last_candidate<T>();
      if (has_answer && keys_[i] < kNoKey) found[i] = Walk::look_up(keys_[i] & kNameMask, query_);
      if (i % 6 == 5) sync_warp();  // not all at once: there are no registers for that
    }
    // Sorted already but for keys that were equal before truncation: a round or two.
    for (;;) {
      bool is_sorted = true;
#pragma unroll
      for (std::uint32_t i = 0; i + 1 < kKept; ++i) is_sorted = is_sorted && !(found[i + 1] < found[i]);
      if (!any_lane(!is_sorted)) break;
#pragma unroll
      for (std::uint32_t i = 0; i + 1 < kKept; i += 2) put_in_order(found[i], found[i + 1]);
#pragma unroll
      for (std::uint32_t i = 1; i + 1 < kKept; i += 2) put_in_order(found[i], found[i + 1]);
    }
    if (task_.knn.filter.exclude_self) leave_out_self(found);
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) found[i].index = number_or_missing(found[i]);
    if (kKept <= 18 && task_.knn.k % 4 == 0) {
      if (has_answer) write_vectors(found);
    } else {
      write_rows(found, has_answer);
    }
  }

  __device__ static void put_in_order(Candidate<T>& a, Candidate<T>& b) {
    if (b < a) {
      const Candidate<T> lesser_one = b;
      b = a;
      a = lesser_one;
    }
  }

  /// Those behind it move up; the list has one more than is wanted.
  __device__ void leave_out_self(Candidate<T> (&found)[kKept]) const {
    bool is_past = false;
#pragma unroll
    for (std::uint32_t i = 0; i + 1 < kKept; ++i) {
      is_past = is_past || found[i].index == number_;
      if (is_past) found[i] = found[i + 1];
    }
  }

  /// Four entries at a time.
  __device__ void write_vectors(const Candidate<T> (&found)[kKept]) const {
    struct alignas(16) Numbers {
      std::uint32_t values[4];
    };
    struct alignas(16) Chains {
      T values[16 / sizeof(T)];
    };
    const std::uint32_t k = task_.knn.k;
    std::uint32_t* indices = task_.knn.indices + row_ * k;
    T* chains = task_.knn.chains + row_ * k;
#pragma unroll
    for (std::uint32_t i = 0; i + 4 <= kKept; i += 4) {
      if (i >= k) break;
      *reinterpret_cast<Numbers*>(indices +
                                  i) = {{found[i].index, found[i + 1].index, found[i + 2].index, found[i + 3].index}};
      if constexpr (sizeof(T) == 4) {
        *reinterpret_cast<Chains*>(chains + i) = {
            {found[i].distance, found[i + 1].distance, found[i + 2].distance, found[i + 3].distance}};
      } else {
        *reinterpret_cast<Chains*>(chains + i) = {{found[i].distance, found[i + 1].distance}};
        *reinterpret_cast<Chains*>(chains + i + 2) = {{found[i + 2].distance, found[i + 3].distance}};
      }
    }
  }

  /// Through shared memory, so that the lanes write a row together.
  __device__ void write_rows(const Candidate<T> (&found)[kKept], bool has_answer) {
    write_column(task_.knn.indices, has_answer, [&](std::uint32_t i) { return found[i].index; });
    write_column(task_.knn.chains, has_answer, [&](std::uint32_t i) { return found[i].distance; });
  }
  template <typename V, typename Entry>
  __device__ __forceinline__ void write_column(V* column, bool has_answer, const Entry& entry) {
    constexpr std::uint32_t kStride = kKept + 1;  // odd: no two lanes in one bank
    constexpr std::uint32_t kRows = kPacketQueries * kStride * sizeof(V) <= sizeof(room_.buffers) ? 32 : 16;
    static_assert(kRows * kStride * sizeof(V) <= sizeof(room_.buffers));
    V* stage = reinterpret_cast<V*>(room_.buffers);
    const std::uint32_t k = task_.knn.k;
#pragma unroll 1
    for (std::uint32_t first = 0; first < kPacketQueries; first += kRows) {
      sync_warp();
      if (lane_number() - first < kRows) {
#pragma unroll
        for (std::uint32_t i = 0; i < kKept; ++i) stage[(lane_number() - first) * kStride + i] = entry(i);
      }
      sync_warp();
      std::uint32_t asking = ballot(has_answer && lane_number() - first < kRows);
      for (; asking != 0; asking &= asking - 1) {
        const std::uint32_t lane = lowest_bit(asking);
        const std::uint64_t row = shuffle(row_, lane);
        if (lane_number() < k) column[row * k + lane_number()] = stage[(lane - first) * kStride + lane_number()];
      }
    }
  }

  const PacketTask<T>& task_;
  Room& room_;
  bool is_bounded_ = false;    ///< by the search's own bound, not by a guess
  std::uint32_t keys_[kKept];  ///< of this lane's query
};

/// Blocks that a processor should have room for, which bounds the registers of a thread.
template <typename T>
constexpr std::uint32_t packet_blocks(std::uint32_t kept) {
  if (sizeof(T) == 4) return kept <= 10 ? 14 : kept <= 18 ? 10 : 8;
  return kept <= 10 ? 10 : 8;
}

template <typename T, std::uint32_t kDims, std::uint32_t kKept>
__global__ void __launch_bounds__(kPacketWarps* kWarp, packet_blocks<T>(kKept))
    knn_by_packets(const __grid_constant__ PacketTask<T> task) {
  using Room = PacketRoom<T, kDims, kKept>;
  Room& room = reinterpret_cast<Room*>(shared_memory())[warp_number()];
  for (std::uint64_t packet = search_warp(); packet < task.packets; packet += search_warps()) {
    Packet<T, kDims, kKept>(task, room).run(static_cast<std::uint32_t>(packet));
  }
}

}  // namespace kith::cuda
