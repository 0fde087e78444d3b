// The bottom of the tree: a block takes a range that fits into shared memory and splits all ranges of a level at the
// same time. Their points are counted in bins over the split side, which gives the places of all of them but those of
// the bin with the node. If these are many, they are counted in bins once more, by the first component of the super-key
// that is not the same for all; a few are sorted. Below ranges of a few points, a thread sorts what is left of each.
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
/// So many points are sorted by one thread.
inline constexpr std::uint32_t kFewInRange = 8;

/// What a block has in shared memory. Ranges are those of more than kFewInRange points.
template <typename T>
struct FinishShared {
  T* values;             ///< [dimension][slot]
  OrderedKey<T>* boxes;  ///< [range][complement of the least, greatest][dimension, and the number]; begin as 0
  std::uint32_t* bins;   ///< [range][bin]: points, then those before it; and one more. Begin as 0
  std::uint32_t* warp_sums;
  std::uint32_t* crowd;      ///< points of the fullest bin that has a node
  std::uint32_t* cuts;       ///< [range][turn]: the places of the points that may be the node
  std::uint16_t* order;      ///< [place]: slots
  std::uint16_t* node;       ///< [range]: its place
  std::uint16_t* split_dim;  ///< [range]
  std::uint16_t* component;  ///< [range]: a dimension, or dims for the number: what bins are over
  std::size_t bytes;

  __host__ __device__ FinishShared(std::byte* memory, std::uint32_t most, std::uint32_t dims) {
    const std::size_t ranges = most / kFewInRange / 2;
    std::size_t used = 0;
    const auto take = [&](std::size_t size) {
      std::byte* const at = memory + used;
      used += (size + 15) / 16 * 16;
      return at;
    };
    values = reinterpret_cast<T*>(take(std::size_t{most} * dims * sizeof(T)));
    boxes = reinterpret_cast<OrderedKey<T>*>(take(ranges * 2 * (dims + 1) * sizeof(T)));
    bins = reinterpret_cast<std::uint32_t*>(take((std::size_t{most} + 1) * 4));
    warp_sums = reinterpret_cast<std::uint32_t*>(take(kWarp * 4));
    crowd = reinterpret_cast<std::uint32_t*>(take(4));
    cuts = reinterpret_cast<std::uint32_t*>(take(ranges * 8));
    order = reinterpret_cast<std::uint16_t*>(take(std::size_t{most} * 2));
    node = reinterpret_cast<std::uint16_t*>(take(ranges * 2));
    split_dim = reinterpret_cast<std::uint16_t*>(take(ranges * 2));
    component = reinterpret_cast<std::uint16_t*>(take(ranges * 2));
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
    wait_for_copies();
    std::uint32_t size = count_;  // of the largest range
    for (; size > kFewInRange; size /= 2, ++level_, ++depth_) split_by_bins();
    for_each_place([&](std::uint32_t i, std::uint32_t p) {
      if (p < count_ && !is_open(i)) shared_.bins[p] = at_[i] >> 16;
    });
    sync_block();
    split_few(size);
    sync_block();
    constexpr std::uint32_t kAtOnce = 4;  // loads in flight
    for (std::uint32_t start = thread_number(); start < count_; start += kAtOnce * threads_per_block()) {
      std::uint32_t numbers[kAtOnce];
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        const std::uint32_t p = start + i * threads_per_block();
        numbers[i] = p < count_ ? number(shared_.order[p]) : 0;
      }
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        const std::uint32_t p = start + i * threads_per_block();
        if (p >= count_) break;
        task_.out_points[begin_ + p] = numbers[i];
        task_.out_dims[begin_ + p] = shared_.bins[p];
      }
    }
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
  /// Bins are of equal width in ordered keys.
  __device__ bool by_keys() const { return has_magnitudes_ || round_ > 0; }
  __device__ std::uint32_t ranges() const { return 1u << depth_; }
  /// Bins of a range.
  __device__ std::uint32_t bins() const { return most_ >> depth_; }
  __device__ T value(std::uint32_t slot, std::uint32_t d) const { return shared_.values[d * most_ + slot]; }
  __device__ std::uint32_t number(std::uint32_t slot) const { return task_.from.numbers[begin_ + slot]; }
  __device__ Key* box(std::uint32_t range) const { return shared_.boxes + range * 2 * (dims_ + 1); }
  /// Where the node of a range may be in this round, and where after it.
  __device__ std::uint32_t& cut(std::uint32_t range) const { return shared_.cuts[2 * range + turn_]; }
  __device__ std::uint32_t& next_cut(std::uint32_t range) const { return shared_.cuts[2 * range + (turn_ ^ 1)]; }

  /// The order by the super-key of dimension d.
  __device__ bool precedes(std::uint32_t x, std::uint32_t y, std::uint32_t d) const {
    const T a = value(x, d), b = value(y, d);
    return a < b || (a == b && precedes_equal(shared_.values, task_.from.numbers + begin_, most_, dims_, x, y, d));
  }
  /// Before a round.
  __device__ void clear() {
    for (std::uint32_t i = thread_number(); i < most_; i += threads_per_block()) shared_.bins[i] = 0;
    const std::uint32_t sides = ranges() * 2 * (dims_ + 1);
    for (std::uint32_t i = thread_number(); i < sides; i += threads_per_block()) shared_.boxes[i] = 0;
    for (std::uint32_t i = thread_number(); round_ == 0 && i < ranges(); i += threads_per_block()) cut(i) = ends_of(i);
  }

  /// As many threads for each range and component as there are. Ranges of a warp begin in the same bank of shared
  /// memory: its threads begin at different places.
  __device__ void find_boxes() {
    const std::uint32_t begin = !has_ties_ && task_.cycles ? level_ % dims_ : 0;
    const std::uint32_t components = has_ties_ ? dims_ + 1 : task_.cycles ? 1 : dims_;
    std::uint32_t part_bits = 0;
    while (components << (depth_ + part_bits + 1) <= threads_per_block()) ++part_bits;
    const std::uint32_t parts = 1u << part_bits;
    for (std::uint32_t task = thread_number(); task < components << (depth_ + part_bits); task += threads_per_block()) {
      const std::uint32_t own = task >> part_bits & (ranges() - 1), c = begin + (task >> (depth_ + part_bits));
      const std::uint32_t places = cut(own), part = first(places) + task % parts;
      std::uint32_t p = part + (((own << part_bits) & (bins() - 1)) & ~1u) / parts * parts;
      if (p >= last(places)) p = part;
      Key least = 0, greatest = 0;
      if (c == dims_) {
        for (p = part; p < last(places); p += parts) {
          const Key key = number(shared_.order[p]);
          least = static_cast<Key>(~key) > least ? static_cast<Key>(~key) : least;
          greatest = key > greatest ? key : greatest;
        }
      } else if (part < last(places)) {
        T low = value(shared_.order[p], c), high = low;
#pragma unroll 4
        for (std::uint32_t rest = (last(places) - part - 1) >> part_bits; rest > 0; --rest) {
          p = p + parts < last(places) ? p + parts : part;
          const T x = value(shared_.order[p], c);
          low = lesser(low, x);
          high = greater(high, x);
        }
        least = static_cast<Key>(~ordered_key(low));
        greatest = ordered_key(high);
      }
      if (parts >= kWarp) {
        least = max_of_warp(least);
        greatest = max_of_warp(greatest);
      }
      if (parts >= kWarp && lane_number() != 0) continue;
      atomic_max(&box(own)[c], least);
      atomic_max(&box(own)[dims_ + 1 + c], greatest);
    }
  }

  /// How far a component is from where bins begin.
  __device__ T offset(std::uint32_t slot, std::uint32_t c, Key low) const {
    if (c == dims_) return static_cast<T>(number(slot) - low);
    return offset(value(slot, c), low);
  }
  __device__ T offset(T x, Key low) const {
    return by_keys() ? static_cast<T>(ordered_key(x) - low) : x - std::bit_cast<T>(low);
  }

  /// A thread per range: its node, its dimension, what bins are over, and in the place of its box where bins begin and
  /// how many there are per unit.
  __device__ void choose_bins() {
    if (thread_number() == 0) *shared_.crowd = 0;
    for (std::uint32_t range = thread_number(); range < ranges(); range += threads_per_block()) {
      Key* const sides = box(range);
      const auto low_key = [&](std::uint32_t c) { return static_cast<Key>(~sides[c]); };
      const auto high_key = [&](std::uint32_t c) { return sides[dims_ + 1 + c]; };
      const auto lower = [&](std::uint32_t d) { return value_of_key<T>(low_key(d)); };
      const auto upper = [&](std::uint32_t d) { return value_of_key<T>(high_key(d)); };
      if (round_ == 0) {
        const std::uint32_t dim = task_.cycles ? level_ % dims_ : widest_side<T>(dims_, lower, upper);
        shared_.split_dim[range] = static_cast<std::uint16_t>(dim);
        shared_.node[range] = static_cast<std::uint16_t>(middle(cut(range)));
      }
      std::uint32_t c = shared_.split_dim[range], rest = has_ties_ ? dims_ : 0;
      for (; rest > 0 && low_key(c) == high_key(c); --rest) c = rest == 1 ? dims_ : c + 1 < dims_ ? c + 1 : 0;
      shared_.component[range] = static_cast<std::uint16_t>(c);
      next_cut(range) = cut(range);
      const bool has_keys = by_keys() || c == dims_;
      const Key low = has_keys ? low_key(c) : std::bit_cast<Key>(lower(c));
      const T width = has_keys ? static_cast<T>(high_key(c) - low) : upper(c) - lower(c);
      sides[0] = low;
      sides[1] = std::bit_cast<Key>(static_cast<T>(bins()) / width);
    }
  }

  /// A bin may have any number of points, but bins are in the order of the values: whatever overflows or is no number
  /// on the way is monotone still. By keys the first and the last value are in different bins, so rounds come to an
  /// end.
  __device__ void count_points() {
    for_each_place([&](std::uint32_t i, std::uint32_t p) {
      to_[i] = kNone;
      if (!is_open(i)) return;
      const std::uint32_t own = range(i);
      if (round_ > 0) {
        const std::uint32_t places = cut(own);
        if (p < first(places) || p >= last(places) || last(places) - first(places) <= kFewInRange) return;
      }
      const std::uint32_t slot = shared_.order[p];
      const Key low = box(own)[0];
      const T scale = std::bit_cast<T>(box(own)[1]);
      const std::uint32_t found = to_unsigned(offset(slot, shared_.component[own], low) * scale);
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
      if (to_[i] == kNone) return;
      const std::uint32_t own = range(i), bin = to_[i] >> 16, rank = to_[i] & 0xffff, node = shared_.node[own];
      // Modulo 2^32. Before a range are as many nodes as ranges, which are not counted.
      const std::uint32_t shift = round_ == 0 ? own : first(cut(own)) - shared_.bins[own * bins()];
      const std::uint32_t begin = shift + shared_.bins[bin];
      shared_.order[begin + rank] = static_cast<std::uint16_t>(at_[i] >> 16);
      if (rank != 0 || node < begin) return;
      const std::uint32_t end = shift + shared_.bins[bin + 1];
      if (node >= end) return;
      next_cut(own) = begin | end << 16;
      atomic_max(shared_.crowd, end - begin);
    });
  }

  /// Sorts the slots of some places, one into those before it after the other.
  __device__ void sort_few(std::uint32_t places, std::uint32_t dim) {
    for (std::uint32_t next = first(places) + 1; next < last(places); ++next) {
      const std::uint16_t slot = shared_.order[next];
      std::uint32_t to = next;
      for (; to > first(places) && precedes(slot, shared_.order[to - 1], dim); --to)
        shared_.order[to] = shared_.order[to - 1];
      shared_.order[to] = slot;
    }
  }

  /// Ends as it begins: not synchronised. The next level takes the same turn, because next_cut may still be read.
  __device__ void split_by_bins() {
    constexpr std::uint32_t kManyInBin = 64;
    for (round_ = 0;; ++round_, turn_ ^= 1) {
      clear();
      sync_block();
      find_boxes();
      sync_block();
      choose_bins();
      sync_block();
      count_points();
      sync_block();
      sum_bins();
      sync_block();
      move_slots();
      sync_block();
      const std::uint32_t crowd = *shared_.crowd;
      if (crowd <= kFewInRange) break;
      has_ties_ = true;
      if (round_ == 0 && crowd > kManyInBin) has_magnitudes_ = !has_magnitudes_;
    }
    for (std::uint32_t own = thread_number(); own < ranges(); own += threads_per_block()) {
      sort_few(next_cut(own), shared_.split_dim[own]);
    }
    for_each_place([&](std::uint32_t i, std::uint32_t p) {
      if (!is_open(i)) return;
      const std::uint32_t own = range(i), node = shared_.node[own];
      at_[i] = p == node ? closed(shared_.split_dim[own]) : 2 * own + (p > node ? 1 : 0);
    });
  }

  /// The widest side of a range of few points.
  __device__ std::uint32_t widest_of_few(std::uint32_t ends) const {
    constexpr std::uint32_t kAtOnce = kDims == 0 ? 4 : kDims;
    std::uint32_t widest = 0;
    T most = 0;
    for (std::uint32_t begin = 0; begin < dims_; begin += kAtOnce) {
      T low[kAtOnce], high[kAtOnce];
      for (std::uint32_t p = first(ends); p < last(ends); ++p) {
        const std::uint32_t slot = shared_.order[p];
#pragma unroll
        for (std::uint32_t d = 0; d < kAtOnce; ++d) {
          const T x = begin + d < dims_ ? value(slot, begin + d) : T(0);
          low[d] = p == first(ends) ? x : lesser(low[d], x);
          high[d] = p == first(ends) ? x : greater(high[d], x);
        }
      }
#pragma unroll
      for (std::uint32_t d = 0; d < kAtOnce; ++d) {
        if (!(high[d] - low[d] > most)) continue;
        most = high[d] - low[d];
        widest = begin + d;
      }
    }
    return widest;
  }

  /// A thread per range does all that is below. What nodes split is left in the place of bins.
  __device__ void split_few(std::uint32_t size) {
    for (std::uint32_t range = thread_number(); range < ranges(); range += threads_per_block()) {
      const std::uint32_t whole = ends_of(range);
      for (std::uint32_t below = 0; size >> below > 0; ++below) {
        for (std::uint32_t part = 0; part < 1u << below; ++part) {
          std::uint32_t ends = whole;
          for (std::uint32_t bit = below; bit-- > 0;) ends = half_of(ends, (part >> bit & 1) != 0);
          if (first(ends) == last(ends)) continue;
          const std::uint32_t dim = task_.cycles ? (level_ + below) % dims_ : widest_of_few(ends);
          sort_few(ends, dim);
          shared_.bins[middle(ends)] = dim;
        }
      }
    }
  }

  const FinishOrder<T>& task_;
  const FinishShared<T> shared_;
  const std::uint32_t dims_, most_, begin_, count_;
  std::uint32_t level_, depth_ = 0, round_ = 0, turn_ = 0;
  bool has_ties_ = false;        ///< bins were crowded: boxes have all components
  bool has_magnitudes_ = false;  ///< coordinates are of many orders of magnitude
  // Of each place of this thread. at_: the number of its range; in the upper half the slot, or what the node at this
  // place splits. to_: the bin and the rank in it of its slot, if that moves.
  std::uint32_t at_[kPlacesPerThread], to_[kPlacesPerThread];
};

/// A block per range. kDims is 0 where dims are known at run time only.
template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kMostInBlock / kPlacesPerThread) finish_order(FinishOrder<T> task) {
  const std::uint32_t begin = task.first[block_number()], count = task.first[block_number() + 1] - 1 - begin;
  if (count > 0) FinishBlock<T, kDims>(task, begin, count).run();
}

}  // namespace kith::cuda
