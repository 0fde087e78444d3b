// The bottom of the tree: a block takes a range that fits into shared memory and splits all ranges of a level at the
// same time. Their points are counted in bins over the split side, which gives the places of all of them but those of
// the bin with the node: these are few, and sorted by the super-key. Ranges of a few points are sorted by counting, for
// each point, how many come before it.
//
// Coordinates stay where they are, in slots; only the numbers of slots move.
#pragma once

#include "cuda/ordered_tree/begin_level.cuh"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

template <typename T>
struct FinishOrder {
  MovedPoints<T> from;
  std::uint32_t dims = 0;
  std::uint32_t level = 0;
  std::uint32_t most = 0;  ///< points of a range at most; a power of two, at least kWarp
  bool cycles = false;
  bool takes_left = false;
  const std::uint32_t* first = nullptr;  ///< as in OrderLevel
  std::uint32_t* out_points = nullptr;
  std::uint32_t* out_dims = nullptr;
};

inline constexpr std::uint32_t kMostInBlock = 8192;
/// Places that a thread looks after.
inline constexpr std::uint32_t kPlacesPerThread = 8;
/// Ranges of so many points are sorted by counting.
inline constexpr std::uint32_t kFewInRange = 8;

/// What a block has in shared memory.
template <typename T>
struct FinishShared {
  T* values;             ///< [dimension][slot]
  OrderedKey<T>* boxes;  ///< [range][complement of the least, greatest][dimension]; begin as 0
  std::uint32_t* bins;   ///< [range][bin]: points, then those before it; and one more. Begin as 0
  std::uint32_t* warp_sums;
  std::uint32_t* crowd;      ///< points of the fullest bin that has a node
  std::uint16_t* order;      ///< [place]: slots
  std::uint32_t* ends;       ///< [range]: its first place, and in the upper half its last
  std::uint16_t* split_dim;  ///< [range]
  std::uint16_t* cuts;       ///< [range]: first and last place of the bin that has its node
  std::size_t bytes;

  __host__ __device__ FinishShared(std::byte* memory, std::uint32_t most, std::uint32_t dims) {
    const std::uint32_t ranges = most / kFewInRange;
    std::size_t used = 0;
    const auto take = [&](std::size_t size) {
      std::byte* const at = memory + used;
      used += (size + 15) / 16 * 16;
      return at;
    };
    values = reinterpret_cast<T*>(take(std::size_t{most} * dims * sizeof(T)));
    boxes = reinterpret_cast<OrderedKey<T>*>(take(std::size_t{ranges} * 2 * dims * sizeof(T)));
    bins = reinterpret_cast<std::uint32_t*>(take((std::size_t{most} + 1) * 4));
    warp_sums = reinterpret_cast<std::uint32_t*>(take(kWarp * 4));
    crowd = reinterpret_cast<std::uint32_t*>(take(4));
    ends = reinterpret_cast<std::uint32_t*>(take(std::size_t{ranges} * 4));
    order = reinterpret_cast<std::uint16_t*>(take(std::size_t{most} * 2));
    split_dim = reinterpret_cast<std::uint16_t*>(take(std::size_t{ranges} * 2));
    cuts = reinterpret_cast<std::uint16_t*>(take(std::size_t{ranges} * 4));
    bytes = used;
  }
};

/// Whether slot x comes before slot y where component 0 does not tell.
template <typename T>
KITH_NOINLINE __device__ bool precedes_equal(const T* values, const std::uint32_t* numbers, std::uint32_t most,
                                             std::uint32_t dims, std::uint32_t x, std::uint32_t y, std::uint32_t d) {
  for (std::uint32_t c = 1; c < dims; ++c) {
    const std::uint32_t axis = d + c < dims ? d + c : d + c - dims;
    const T a = values[axis * most + x], b = values[axis * most + y];
    if (a != b) return a < b;
  }
  return numbers[x] < numbers[y];
}

/// A block and its points.
template <typename T, std::uint32_t kDims>
class FinishBlock {
  using Key = OrderedKey<T>;
  static constexpr std::uint32_t kNone = 0xffff;  ///< in place of a range

 public:
  __device__ FinishBlock(const FinishOrder<T>& task, std::uint32_t begin, std::uint32_t count)
      : task_(task),
        shared_(shared_memory(), task.most, kDims == 0 ? task.dims : kDims),
        dims_(kDims == 0 ? task.dims : kDims),
        most_(task.most),
        begin_(begin),
        count_(count),
        level_(task.level) {}

  __device__ void run() {
    for (std::uint32_t i = thread_number(); i < count_; i += threads_per_block()) {
#pragma unroll
      for (std::uint32_t d = 0; d < dims_; ++d)
        copy_to_shared(&shared_.values[d * most_ + i], &task_.from.at(begin_ + i, d));
      shared_.order[i] = static_cast<std::uint16_t>(i);
    }
    for_each_place([&](std::uint32_t i, std::uint32_t p) { at_[i] = p < count_ ? 0 : kNone; });
    clear();
    wait_for_copies();
    sync_block();
    std::uint32_t size = count_;  // of the largest range
    for (; size > kFewInRange; size /= 2, ++level_, ++depth_) split_by_bins();
    for_each_place([&](std::uint32_t i, std::uint32_t) {
      if (is_open(i)) at_[i] = ends_of(range(i));
    });
    for (; size > 0; size /= 2, ++level_) split_by_ranks();
    for_each_place([&](std::uint32_t i, std::uint32_t p) {
      if (p >= count_) return;
      task_.out_points[begin_ + p] = task_.from.numbers[begin_ + shared_.order[p]];
      task_.out_dims[begin_ + p] = at_[i] >> 16;
    });
  }

 private:
  template <typename Visit>
  __device__ void for_each_place(Visit&& visit) {
#pragma unroll
    for (std::uint32_t i = 0; i < kPlacesPerThread; ++i) visit(i, i * threads_per_block() + thread_number());
  }
  /// The number of the range that place i is in.
  __device__ std::uint32_t range(std::uint32_t i) const { return at_[i] & kNone; }
  /// Whether it is in a range, and not that of a node or behind the last.
  __device__ bool is_open(std::uint32_t i) const { return range(i) != kNone; }
  __device__ std::uint32_t closed(std::uint32_t dim) const { return kNone | dim << 16; }
  __device__ std::uint32_t first(std::uint32_t ends) const { return ends & 0xffff; }
  __device__ std::uint32_t last(std::uint32_t ends) const { return ends >> 16; }
  __device__ std::uint32_t middle(std::uint32_t ends) const {
    return middle_of(first(ends), last(ends), task_.takes_left);
  }
  /// The half of a range.
  __device__ std::uint32_t half_of(std::uint32_t ends, bool is_right) const {
    return is_right ? (middle(ends) + 1) | (ends & 0xffff0000) : first(ends) | middle(ends) << 16;
  }
  /// The ends of a range by its number: its bits say which halves it is in.
  __device__ std::uint32_t ends_of(std::uint32_t range) const {
    std::uint32_t ends = count_ << 16;
    for (std::uint32_t bit = depth_; bit-- > 0;) ends = half_of(ends, (range >> bit & 1) != 0);
    return ends;
  }
  /// Bins of a range.
  __device__ std::uint32_t bins() const { return most_ >> depth_; }
  __device__ T value(std::uint32_t slot, std::uint32_t d) const { return shared_.values[d * most_ + slot]; }

  /// The order by the super-key of dimension d.
  __device__ bool precedes(std::uint32_t x, std::uint32_t y, std::uint32_t d) const {
    const T a = value(x, d), b = value(y, d);
    return a < b || (a == b && precedes_equal(shared_.values, task_.from.numbers + begin_, most_, dims_, x, y, d));
  }
  /// Bins, and the boxes of the next level if it has any.
  __device__ void clear() {
    for (std::uint32_t i = thread_number(); i < most_; i += threads_per_block()) shared_.bins[i] = 0;
    for (std::uint32_t i = thread_number(); i < most_ / kFewInRange * 2 * dims_; i += threads_per_block()) {
      shared_.boxes[i] = 0;
    }
    if (thread_number() == 0) *shared_.crowd = 0;
  }

  /// The ranges of a warp's places one after the other: mostly one or two.
  __device__ void find_boxes() {
    for_each_place([&](std::uint32_t i, std::uint32_t p) {
      const std::uint32_t slot = is_open(i) ? shared_.order[p] : 0;
      for (std::uint32_t rest = ballot(is_open(i)); rest != 0;) {
        const std::uint32_t chosen = shuffle(range(i), lowest_bit(rest));
        const bool is_of_range = range(i) == chosen;
        rest &= ~ballot(is_of_range);
        Key* const box = shared_.boxes + chosen * 2 * dims_;
#pragma unroll
        for (std::uint32_t d = 0; d < dims_; ++d) {
          if (task_.cycles && d != level_ % dims_) continue;
          const Key key = ordered_key(value(slot, d));
          const Key least = max_of_warp(is_of_range ? static_cast<Key>(~key) : Key{0});
          const Key greatest = max_of_warp(is_of_range ? key : Key{0});
          if (lane_number() == 0) {
            atomic_max(&box[d], least);
            atomic_max(&box[dims_ + d], greatest);
          }
        }
      }
    });
  }

  /// How far a coordinate is from where bins begin.
  __device__ T offset(T x, Key low) const {
    return by_keys_ ? static_cast<T>(ordered_key(x) - low) : x - std::bit_cast<T>(low);
  }

  /// A thread per range: its ends, its dimension, and in the place of its box where bins begin and how many there are
  /// per unit.
  __device__ void choose_dims() {
    for (std::uint32_t range = thread_number(); range < 1u << depth_; range += threads_per_block()) {
      Key* const box = shared_.boxes + range * 2 * dims_;
      const auto lower = [&](std::uint32_t d) { return value_of_key<T>(static_cast<Key>(~box[d])); };
      const auto upper = [&](std::uint32_t d) { return value_of_key<T>(box[dims_ + d]); };
      const std::uint32_t dim = task_.cycles ? level_ % dims_ : widest_side<T>(dims_, lower, upper);
      const Key low = by_keys_ ? static_cast<Key>(~box[dim]) : std::bit_cast<Key>(lower(dim));
      const T scale = static_cast<T>(bins()) / offset(upper(dim), low);
      shared_.ends[range] = ends_of(range);
      shared_.split_dim[range] = static_cast<std::uint16_t>(dim);
      box[0] = low;
      box[1] = std::bit_cast<Key>(scale);
    }
  }

  /// A bin may be any number of points, but bins are in the order of the values: whatever overflows or is no number on
  /// the way is monotone still.
  __device__ void count_points() {
    for_each_place([&](std::uint32_t i, std::uint32_t p) {
      if (!is_open(i)) return;
      const std::uint32_t own = range(i), slot = shared_.order[p];
      const Key* const box = shared_.boxes + own * 2 * dims_;
      const T scale = std::bit_cast<T>(box[1]);
      const std::uint32_t found = to_unsigned(offset(value(slot, shared_.split_dim[own]), box[0]) * scale);
      const std::uint32_t bin = own * bins() + (found < bins() ? found : bins() - 1);
      at_[i] = own | slot << 16;
      to_[i] = bin << 16 | atomic_add(&shared_.bins[bin], 1u);
    });
  }

  /// A thread has kPlacesPerThread bins, too.
  __device__ void sum_bins() {
    struct alignas(16) Four {
      std::uint32_t at[4];
    };
    constexpr std::uint32_t kFours = kPlacesPerThread / 4;
    static_assert(kWarp % kPlacesPerThread == 0 && kMostInBlock / kPlacesPerThread <= kWarp * kWarp);
    const bool has_bins = thread_number() < most_ / kPlacesPerThread;
    Four* const bins = reinterpret_cast<Four*>(shared_.bins) + thread_number() * kFours;
    Four own[kFours]{};
    std::uint32_t sum = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kFours; ++i) {
      if (has_bins) own[i] = bins[i];
      for (const std::uint32_t points : own[i].at) sum += points;
    }
    std::uint32_t through = sum;
#pragma unroll
    for (std::uint32_t delta = 1; delta < kWarp; delta *= 2) {
      const std::uint32_t other = shuffle_up(through, delta);
      if (lane_number() >= delta) through += other;
    }
    if (lane_number() == kWarp - 1) shared_.warp_sums[warp_number()] = through;
    sync_block();
    std::uint32_t before = sum_of_warp(lane_number() < warp_number() ? shared_.warp_sums[lane_number()] : 0);
    before += through - sum;
#pragma unroll
    for (std::uint32_t i = 0; i < kFours; ++i) {
      for (std::uint32_t& points : own[i].at) {
        const std::uint32_t here = points;
        points = before;
        before += here;
      }
      if (has_bins) bins[i] = own[i];
    }
    if (thread_number() == most_ / kPlacesPerThread - 1) shared_.bins[most_] = before;
  }

  __device__ void move_slots() {
    for_each_place([&](std::uint32_t i, std::uint32_t) {
      if (!is_open(i)) return;
      const std::uint32_t own = range(i), bin = to_[i] >> 16, rank = to_[i] & 0xffff, ends = shared_.ends[own];
      const std::uint32_t shift = first(ends) - shared_.bins[own * bins()];  // modulo 2^32
      const std::uint32_t begin = shift + shared_.bins[bin], end = shift + shared_.bins[bin + 1];
      shared_.order[begin + rank] = static_cast<std::uint16_t>(at_[i] >> 16);
      if (rank != 0 || middle(ends) < begin || middle(ends) >= end) return;
      shared_.cuts[2 * own] = static_cast<std::uint16_t>(begin);
      shared_.cuts[2 * own + 1] = static_cast<std::uint16_t>(end);
      atomic_max(shared_.crowd, end - begin);
    });
  }

  /// A thread per range sorts the slots of its cut.
  __device__ void sort_small_cuts() {
    for (std::uint32_t range = thread_number(); range < 1u << depth_; range += threads_per_block()) {
      const std::uint32_t begin = shared_.cuts[2 * range], end = shared_.cuts[2 * range + 1];
      const std::uint32_t dim = shared_.split_dim[range];
      for (std::uint32_t next = begin + 1; next < end; ++next) {  // into those before it
        const std::uint16_t slot = shared_.order[next];
        std::uint32_t to = next;
        for (; to > begin && precedes(slot, shared_.order[to - 1], dim); --to)
          shared_.order[to] = shared_.order[to - 1];
        shared_.order[to] = slot;
      }
    }
  }

  /// All cuts at the same time: bitonic, all exchanges in one direction, so that any number of slots will do.
  __device__ void sort_large_cuts(std::uint32_t crowd) {
    for (std::uint32_t size = 2; size / 2 < crowd; size *= 2) {
      for (std::uint32_t stride = size / 2; stride > 0; stride /= 2) {
        for_each_place([&](std::uint32_t i, std::uint32_t p) {
          if (!is_open(i)) return;
          const std::uint32_t begin = shared_.cuts[2 * range(i)], end = shared_.cuts[2 * range(i) + 1];
          if (p < begin || p >= end || ((p - begin) & stride) != 0) return;
          const std::uint32_t other = begin + ((p - begin) ^ (stride == size / 2 ? size - 1 : stride));
          if (other >= end) return;
          const std::uint16_t x = shared_.order[p], y = shared_.order[other];
          if (!precedes(y, x, shared_.split_dim[range(i)])) return;
          shared_.order[p] = y;
          shared_.order[other] = x;
        });
        sync_block();
      }
    }
  }

  /// The block is synchronised before and after, as below.
  __device__ void split_by_bins() {
    constexpr std::uint32_t kMostSortedByThread = 8, kManyInBin = 64;
    find_boxes();
    sync_block();
    choose_dims();
    sync_block();
    count_points();
    sync_block();
    sum_bins();
    sync_block();
    move_slots();
    sync_block();
    const std::uint32_t crowd = *shared_.crowd;
    if (crowd > kMostSortedByThread) {
      sort_large_cuts(crowd);
      if (crowd > kManyInBin) by_keys_ = !by_keys_;
    } else {
      sort_small_cuts();
      sync_block();
    }
    for_each_place([&](std::uint32_t i, std::uint32_t p) {
      if (!is_open(i)) return;
      const std::uint32_t own = range(i), node = middle(shared_.ends[own]);
      at_[i] = p == node ? closed(shared_.split_dim[own]) : 2 * own + (p > node ? 1 : 0);
    });
    clear();
    sync_block();
  }

  /// The widest side of a range of few points.
  __device__ std::uint32_t widest_of_few(std::uint32_t ends) const {
    std::uint32_t widest = 0;
    T most = 0;
#pragma unroll
    for (std::uint32_t d = 0; d < dims_; ++d) {
      T low = value(shared_.order[first(ends)], d), high = low;
      for (std::uint32_t p = first(ends) + 1; p < last(ends); ++p) {
        const T x = value(shared_.order[p], d);
        low = lesser(low, x);
        high = greater(high, x);
      }
      if (high - low > most) {
        most = high - low;
        widest = d;
      }
    }
    return widest;
  }

  __device__ void split_by_ranks() {
    for_each_place([&](std::uint32_t i, std::uint32_t p) {
      to_[i] = kNone;
      if (!is_open(i)) return;
      const std::uint32_t ends = at_[i], slot = shared_.order[p], node = middle(ends);
      const std::uint32_t dim = task_.cycles ? level_ % dims_ : widest_of_few(ends);
      std::uint32_t to = first(ends);
      for (std::uint32_t other = first(ends); other < last(ends); ++other) {
        if (other != p && precedes(shared_.order[other], slot, dim)) ++to;
      }
      to_[i] = to << 16 | slot;
      at_[i] = p == node ? closed(dim) : half_of(ends, p > node);
    });
    sync_block();
    for_each_place([&](std::uint32_t i, std::uint32_t) {
      if (to_[i] != kNone) shared_.order[to_[i] >> 16] = static_cast<std::uint16_t>(to_[i] & 0xffff);
    });
    sync_block();
  }

  const FinishOrder<T>& task_;
  const FinishShared<T> shared_;
  const std::uint32_t dims_, most_, begin_, count_;
  std::uint32_t level_, depth_ = 0;
  bool by_keys_ = false;  ///< bins are of equal width in ordered keys: for coordinates of many orders of magnitude
  // Of each place of this thread. at_: while ranges are large, the number of its range, later the ends of that; in the
  // upper half also the slot, or what the node at this place splits. to_: where the slot goes to.
  std::uint32_t at_[kPlacesPerThread], to_[kPlacesPerThread];
};

/// A block per range. kDims is 0 where dims are known at run time only.
template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kMostInBlock / kPlacesPerThread) finish_order(FinishOrder<T> task) {
  const std::uint32_t begin = task.first[block_number()], count = task.first[block_number() + 1] - 1 - begin;
  if (count > 0) FinishBlock<T, kDims>(task, begin, count).run();
}

}  // namespace kith::cuda
