// The answers of a packet: the points of each query's list of keys are looked up, and their exact distances and numbers
// decide about the order. Short lists by a lane each, longer ones by the warp, an entry for a lane: that takes no
// registers, and the warp writes rows together.
#pragma once

#include "cuda/kd_tree/search/packet/exact_entry.cuh"
#include "cuda/kd_tree/search/packet/packet_walk.cuh"
#include "cuda/primitives/sorting_network.cuh"
#include "cuda/queries/put_answer.cuh"

#include <bit>
#include <limits>
#include <type_traits>

namespace kith::cuda {

/// What a packet has in shared memory.
template <typename T, std::uint32_t kDims, std::uint32_t kKept>
struct PacketStorage : PacketWalkStorage<T, kDims, leaves_of_keys(kDims)> {
  /// Keys of a query that wait for their merge, which begins when one has more than kNearlyFull: a batch of pairs
  /// brings some dozen more. In 5 dims soon: a smaller radius spares many leaves.
  static constexpr std::uint32_t kBuffer = buffered_keys(kKept, kDims);
  static constexpr std::uint32_t kNearlyFull = kDims == 5 ? kKept / 2 + 2 : kKept <= 10 ? 18 : kKept <= 18 ? 26 : 38;
  static constexpr std::uint32_t kSpare = 4;  ///< as many as are put down together
  static_assert(kBuffer >= most_per_leaf_of(kDims) || kKept <= 10);

  /// The last rows have a column for each lane, for what it finds no room for.
  std::uint32_t buffers[kBuffer + kSpare][kPacketQueries];
};

/// The same if the search is general.
template <typename T, std::uint32_t kDims, std::uint32_t kKept>
struct GeneralPacketStorage : PacketStorage<T, kDims, kKept> {
  std::uint32_t ends[kPacketQueries];  ///< a query finds only points below this number
};

template <typename T, std::uint32_t kDims, std::uint32_t kKept, typename Rows, bool kGeneral>
class Packet;  // packet_knn.cuh

/// `Rows` are those of put_answer.cuh: a kernel for each form of the answer, because more code than it needs slows the
/// whole search down.
template <typename T, std::uint32_t kDims, std::uint32_t kKept, typename Rows, bool kGeneral>
class PacketAnswer : protected PacketWalk<T, kDims, Packet<T, kDims, kKept, Rows, kGeneral>, leaves_of_keys(kDims)> {
 protected:
  using Walk = PacketWalk<T, kDims, Packet<T, kDims, kKept, Rows, kGeneral>, leaves_of_keys(kDims)>;
  using Storage = std::conditional_t<kGeneral, GeneralPacketStorage<T, kDims, kKept>, PacketStorage<T, kDims, kKept>>;
  using Walk::below_, Walk::number_, Walk::query_, Walk::row_, Walk::tree_;

  __device__ PacketAnswer(const PacketTask<T>& task, Storage& storage)
      : Walk(task.knn.tree, task.knn.queries, task.packets_per_node, storage), task_(task), storage_(storage) {}

  static constexpr std::uint32_t kNameMask = (1u << name_bits_of(kDims)) - 1;
  static constexpr std::uint32_t kNoKey = 0x7f800000;  ///< the bits of infinity: beyond every distance; has name 0
  /// Whether two keys differ in more than their names.
  __device__ static bool differ(std::uint32_t a, std::uint32_t b) { return (a ^ b) > kNameMask; }

  /// The key at a place, one of those that a list of this length is asked for (kept_keys).
  __device__ std::uint32_t key_at(std::uint32_t place) const {
    constexpr std::uint32_t kFirst = kKept > 18 ? 16 : 0, kPlaces = std::bit_floor(kKept) - kFirst;
    std::uint32_t keys[kPlaces];
#pragma unroll
    for (std::uint32_t i = 0; i < kPlaces; ++i) keys[i] = keys_[kFirst + i];
#pragma unroll
    for (std::uint32_t bit = 1; bit < kPlaces; bit *= 2) {
#pragma unroll
      for (std::uint32_t i = 0; i < kPlaces; i += 2 * bit) keys[i] = (place & bit) != 0 ? keys[i + bit] : keys[i];
    }
    return keys[0];
  }

  __device__ __forceinline__ void answer(bool has_answer) {
    Walk::load_chosen();
    if constexpr (kKept <= kWarp / 2 + 2) {
      answer_in_lanes(has_answer);
    } else {
      answer_by_warp(has_answer);
    }
  }

 private:
  /// The point of a key, as seen from a query.
  __device__ __forceinline__ Candidate<T> candidate_of(std::uint32_t key, const T (&query)[kDims]) const {
    Candidate<T> candidate = Walk::look_up(key & kNameMask, query);
    if (key >= kNoKey) candidate = {std::numeric_limits<T>::infinity(), missing()};
    return candidate;
  }
  /// The number of a neighbour that is not there: after all points.
  __device__ std::uint32_t missing() const { return static_cast<std::uint32_t>(tree_.geometry.points); }

  // --- a list for each lane ---

  __device__ __forceinline__ void answer_in_lanes(bool has_answer) {
    ExactEntry<T> found[kKept];
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) {
      found[i] = ExactEntry<T>(candidate_of(keys_[i], query_));
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
    if (task_.knn.k % kPutTogether == 0 && task_.knn.answer.lies_well()) {
      if (has_answer) write_together(found);
    } else {
      write_rows(found, has_answer);
    }
  }

  /// Those behind it move up; the list has one more than is wanted.
  __device__ void leave_out_self(ExactEntry<T> (&found)[kKept]) const {
    bool is_past = false;
#pragma unroll
    for (std::uint32_t i = 0; i + 1 < kKept; ++i) {
      is_past = is_past || found[i].candidate().index == number_;
      if (is_past) found[i] = found[i + 1];
    }
  }

  /// A few entries at a time.
  __device__ __forceinline__ void write_together(const ExactEntry<T> (&found)[kKept]) const {
    const Rows row(task_.knn.answer, row_ * task_.knn.k);
#pragma unroll
    for (std::uint32_t first = 0; first + kPutTogether <= kKept; first += kPutTogether) {
      if (first >= task_.knn.k) break;
      std::uint32_t numbers[kPutTogether];
      T reduced[kPutTogether];
#pragma unroll
      for (std::uint32_t i = 0; i < kPutTogether; ++i) {
        numbers[i] = found[first + i].candidate().index;
        reduced[i] = found[first + i].candidate().distance;
      }
      row.put_together(first, numbers, reduced);
    }
  }

  /// Through shared memory, so that the lanes write a row together.
  __device__ void write_rows(const ExactEntry<T> (&found)[kKept], bool has_answer) {
    const Rows rows(task_.knn.answer, 0);
    write_column<std::uint32_t>(
        has_answer, [&](std::uint32_t i) { return found[i].candidate().index; },
        [&](std::uint64_t at, std::uint32_t number) { rows.put_number(at, number); });
    write_column<T>(
        has_answer, [&](std::uint32_t i) { return found[i].candidate().distance; },
        [&](std::uint64_t at, T each) { rows.put_reduced(at, each); });
  }
  template <typename V, typename Entry, typename Put>
  __device__ __forceinline__ void write_column(bool has_answer, const Entry& entry, const Put& put) {
    constexpr std::uint32_t kStride = kKept + 1;  // odd: no two lanes in one bank
    constexpr std::uint32_t kRows = kPacketQueries * kStride * sizeof(V) <= sizeof(storage_.buffers) ? 32 : 16;
    static_assert(kRows * kStride * sizeof(V) <= sizeof(storage_.buffers));
    V* stage = reinterpret_cast<V*>(storage_.buffers);
    const std::uint32_t k = task_.knn.k;
#pragma unroll 1
    for (std::uint32_t first = 0; first < kPacketQueries; first += kRows) {
      sync_warp();
      if (lane_number() - first < kRows) {
#pragma unroll
        for (std::uint32_t i = 0; i < kKept; ++i) stage[(lane_number() - first) * kStride + i] = entry(i);
      }
      sync_warp();
      std::uint32_t owners = ballot(has_answer && lane_number() - first < kRows);
      for (; owners != 0; owners &= owners - 1) {
        const std::uint32_t lane = lowest_bit(owners);
        const std::uint64_t row = shuffle(row_, lane);
        if (lane_number() < k) put(row * k + lane_number(), stage[(lane - first) * kStride + lane_number()]);
      }
    }
  }

  // --- an entry for each lane ---

  __device__ __forceinline__ void answer_by_warp(bool has_answer) {
    sync_warp();
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) staged_key(lane_number(), i) = keys_[i];
    sync_warp();
    // First the lists in which an entry that has no lane may be a neighbour.
    std::uint32_t owners =
        ballot(has_answer && !differ(key_at(task_.wanted - 1), keys_[kWarp]) && keys_[kWarp] < kNoKey);
    for (; owners != 0; owners &= owners - 1) resolve_end(lowest_bit(owners));
    for (owners = ballot(has_answer); owners != 0;) {
      constexpr std::uint32_t kPair = 2;  // what they read is on its way at the same time
      std::uint32_t lanes[kPair];
      Entry entries[kPair];
#pragma unroll
      for (std::uint32_t i = 0; i < kPair; ++i) {  // the last one twice, if their number is odd
        lanes[i] = owners != 0 ? lowest_bit(owners) : lanes[0];
        owners &= owners - 1;
        entries[i] = look_up_entry(lanes[i], lane_number());
      }
#pragma unroll
      for (std::uint32_t i = 0; i < kPair; ++i) {
        sort_entries(entries[i]);
        write_entry(lanes[i], entries[i].candidate);
      }
    }
  }

  struct Entry {
    std::uint32_t key;
    Candidate<T> candidate;
  };

  /// In the buffers, which are empty now: the lanes of a list, and the lists of a lane, lie in different banks.
  __device__ std::uint32_t& staged_key(std::uint32_t owner, std::uint32_t place) {
    constexpr std::uint32_t kStride = kPacketQueries + 1;
    static_assert(kKept * kStride <= sizeof(storage_.buffers) / sizeof(std::uint32_t));
    return (&storage_.buffers[0][0])[place * kStride + owner];
  }
  __device__ __forceinline__ Entry look_up_entry(std::uint32_t owner, std::uint32_t place) {
    T query[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query[d] = storage_.queries[d][owner];
    const std::uint32_t key = staged_key(owner, place);
    return {key, candidate_of(key, query)};
  }

  /// Sorted already but for keys that were equal before truncation: neighbours change places, as many pairs at a time
  /// as do not overlap.
  __device__ __forceinline__ void sort_entries(Entry& entry) const {
    for (;;) {
      const Candidate<T> before = from_lane_before(entry.candidate);
      const std::uint32_t wrong = ballot(ExactEntry<T>(entry.candidate) < ExactEntry<T>(before));
      if (wrong == 0) return;
      // Every second one of a run of bits, from its first: a sum carries through the runs that begin at an even place.
      constexpr std::uint32_t kEven = 0x55555555;
      const std::uint32_t from_even = wrong & ~(wrong + (wrong & ~(wrong << 1) & kEven));
      const std::uint32_t chosen = (from_even & kEven) | (wrong & ~from_even & ~kEven);
      const std::uint32_t from = lane_number() + (chosen >> 1 >> lane_number() & 1) - (chosen >> lane_number() & 1);
      entry.candidate = from_lane(entry.candidate, from);
      entry.key = shuffle(entry.key, from);
    }
  }

  /// The keys of a list that has more than the warp has lanes, so that none of the first ones comes after the last
  /// ones: these sink, then the first ones rise, and what they have pushed out sinks again.
  __device__ void resolve_end(std::uint32_t owner) {
#pragma unroll 1
    for (std::uint32_t round = 0; round < 3; ++round) {
      const std::uint32_t place = (round == 1 ? 0 : kKept - kWarp) + lane_number();
      Entry entry = look_up_entry(owner, place);
      sort_entries(entry);
      staged_key(owner, place) = entry.key;
      sync_warp();
    }
  }

  __device__ __forceinline__ void write_entry(std::uint32_t owner, const Candidate<T>& candidate) const {
    const std::uint32_t k = task_.knn.k;
    std::uint32_t place = lane_number();
    bool is_written = place < k;
    if (task_.knn.filter.exclude_self) {
      const std::uint32_t self = ballot(candidate.index == shuffle(number_, owner));
      place -= count_bits(self & below_);  // those behind it move up
      is_written = place < k && (self >> lane_number() & 1) == 0;
    }
    const std::uint64_t at = shuffle(row_, owner) * k + place;
    if (is_written) Rows(task_.knn.answer, 0).put(at, candidate.index, candidate.distance);
  }

 protected:
  const PacketTask<T>& task_;
  Storage& storage_;
  std::uint32_t keys_[kKept];  ///< of this lane's query, ascending
};

}  // namespace kith::cuda
