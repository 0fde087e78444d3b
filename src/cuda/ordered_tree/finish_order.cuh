// The bottom of the tree: a block takes a range that fits into shared memory. Its points are sorted once by the
// super-key of each dimension; then, level by level, every one of these orders is divided, which keeps it sorted. So
// the box of a range and its node are always at hand: the ends and the middle of an order.
#pragma once

#include "cuda/ordered_tree/begin_level.cuh"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

template <typename T>
struct FinishOrder {
  MovedPoints<T> from;
  std::uint32_t dims = 0;
  std::uint32_t level = 0;
  std::uint32_t most = 0;  ///< points of a range at most; a multiple of kWarp, kFinishedPerThread for each thread
  bool cycles = false;
  bool takes_left = false;
  const std::uint32_t* first = nullptr;  ///< as in OrderLevel
  std::uint32_t* out_points = nullptr;
  std::uint32_t* out_dims = nullptr;
};

inline constexpr std::uint32_t kMostFinished = 2048;
inline constexpr std::uint32_t kFinishedPerThread = 4;

/// What a block has in shared memory.
template <typename T>
struct FinishShared {
  T* values;               ///< [dimension][slot]
  std::uint32_t* numbers;  ///< [slot]
  std::uint32_t* words;    ///< [dimension][place / 32][left, right]: which places hold a point that goes there
  std::uint32_t* before;   ///< [dimension][place / 32]: how many do before them; those that go right in the upper half
  std::uint16_t* orders[2];  ///< [dimension][place]: slots
  std::uint16_t* split_dim;  ///< [place]: of the range with this middle
  std::uint8_t* side;        ///< [slot]
  std::size_t bytes;

  __host__ __device__ FinishShared(std::byte* memory, std::uint32_t most, std::uint32_t dims) {
    std::size_t used = 0;
    const auto take = [&](std::size_t size) {
      std::byte* const at = memory + used;
      used += (size + 7) / 8 * 8;
      return at;
    };
    values = reinterpret_cast<T*>(take(std::size_t{most} * dims * sizeof(T)));
    numbers = reinterpret_cast<std::uint32_t*>(take(std::size_t{most} * 4));
    words = reinterpret_cast<std::uint32_t*>(take(std::size_t{most} / kWarp * dims * 8));
    before = reinterpret_cast<std::uint32_t*>(take(std::size_t{most} / kWarp * dims * 4));
    // The second one holds a word per slot meanwhile.
    for (std::uint16_t*& order : orders) {
      order = reinterpret_cast<std::uint16_t*>(take(std::size_t{most} * (dims < 2 ? 2 : dims) * 2));
    }
    split_dim = reinterpret_cast<std::uint16_t*>(take(std::size_t{most} * 2));
    side = reinterpret_cast<std::uint8_t*>(take(most));
    bytes = used;
  }
};

/// Whether slot y comes before slot x where component 0 does not tell.
template <typename T>
KITH_NOINLINE __device__ bool comes_before(const T* values, const std::uint32_t* numbers, std::uint32_t most,
                                           std::uint32_t dims, std::uint32_t y, std::uint32_t x, std::uint32_t d) {
  for (std::uint32_t c = 1; c < dims; ++c) {
    const std::uint32_t axis = d + c < dims ? d + c : d + c - dims;
    const T there = values[axis * most + y], here = values[axis * most + x];
    if (there != here) return there < here;
  }
  return numbers[y] < numbers[x];
}

/// The order of one dimension by comparisons of super-keys: bitonic, all exchanges in one direction, so that any number
/// of slots will do. Steps among 64 neighbours are those of one warp. The block is synchronised before and after.
template <typename T>
__device__ void sort_by_super_keys(const FinishShared<T>& shared, std::uint32_t most, std::uint32_t dims,
                                   std::uint32_t count, std::uint32_t d) {
  std::uint16_t* const order = shared.orders[0] + d * most;
  const T* const values = shared.values + d * most;
  const auto exchange = [&](std::uint32_t a, std::uint32_t b) {
    if (b >= count) return;
    const std::uint16_t x = order[a], y = order[b];
    if (values[y] > values[x]) return;
    if (values[y] < values[x] || comes_before(shared.values, shared.numbers, most, dims, y, x, d)) {
      order[a] = y;
      order[b] = x;
    }
  };
  const auto sync_for = [](std::uint32_t span) {
    if (span <= 2 * kWarp) {
      sync_warp();
    } else {
      sync_block();
    }
  };
  for (std::uint32_t size = 2; size / 2 < count; size *= 2) {
    const std::uint32_t half = size / 2;
    sync_for(size);
    for (std::uint32_t pair = thread_number(); pair < (count + size - 1) / size * half; pair += threads_per_block()) {
      const std::uint32_t place = pair & (half - 1), begin = (pair - place) * 2;
      exchange(begin + place, begin + size - 1 - place);
    }
    for (std::uint32_t stride = size / 4; stride > 0; stride /= 2) {
      sync_for(4 * stride);  // of the step before
      for (std::uint32_t pair = thread_number(); pair < (count + 2 * stride - 1) / (2 * stride) * stride;
           pair += threads_per_block()) {
        const std::uint32_t at = 2 * pair - (pair & (stride - 1));
        exchange(at, at + stride);
      }
    }
  }
  sync_block();
}

/// Sorts kFinishedPerThread words of each thread of the block, in the order of threads: bitonic, within threads and
/// warps by registers. `exchanged` is shared, as many words as there are.
__device__ inline void sort_words(std::uint32_t (&words)[kFinishedPerThread], std::uint32_t* exchanged) {
  constexpr std::uint32_t kOwn = kFinishedPerThread;
  const std::uint32_t first = thread_number() * kOwn, all = threads_per_block() * kOwn;
  for (std::uint32_t size = 2; size <= all; size *= 2) {
    for (std::uint32_t stride = size / 2; stride > 0; stride /= 2) {
      std::uint32_t others[kOwn];
      if (stride >= kOwn * kWarp) {
        sync_block();
#pragma unroll
        for (std::uint32_t i = 0; i < kOwn; ++i) exchanged[i * threads_per_block() + thread_number()] = words[i];
        sync_block();
#pragma unroll
        for (std::uint32_t i = 0; i < kOwn; ++i) {
          others[i] = exchanged[i * threads_per_block() + (thread_number() ^ stride / kOwn)];
        }
      } else if (stride >= kOwn) {
#pragma unroll
        for (std::uint32_t i = 0; i < kOwn; ++i) others[i] = shuffle_xor(words[i], stride / kOwn);
      } else {
#pragma unroll
        for (std::uint32_t i = 0; i < kOwn; ++i) others[i] = stride == 1 ? words[i ^ 1] : words[i ^ 2];
      }
#pragma unroll
      for (std::uint32_t i = 0; i < kOwn; ++i) {
        const std::uint32_t place = first + i;
        const bool takes_less = ((place & stride) == 0) == ((place & size) == 0);
        words[i] = takes_less == (others[i] < words[i]) ? others[i] : words[i];
      }
    }
  }
}

/// Sorts the slots of each order: by cells of their coordinates, 21 bits above the 11 of the slot, and then those of a
/// cell by their super-keys, if these are few; else all by super-keys.
template <std::uint32_t kDims, typename T>
__device__ void sort_orders(const FinishShared<T>& shared, std::uint32_t most, std::uint32_t runtime_dims,
                            std::uint32_t count) {
  constexpr std::uint32_t kSlotBits = 11, kCells = 1u << (32 - kSlotBits), kMostInCell = 12;
  static_assert(1u << kSlotBits == kMostFinished && kFinishedPerThread == 4);
  const std::uint32_t dims = kDims == 0 ? runtime_dims : kDims;
  std::uint32_t* const exchanged = reinterpret_cast<std::uint32_t*>(shared.orders[1]);  // not used yet
  T* const ends = reinterpret_cast<T*>(shared.side);                                    // nor is this
  for (std::uint32_t d = 0; d < dims; ++d) {
    const T* const values = shared.values + d * most;
    std::uint16_t* const order = shared.orders[0] + d * most;
    if (warp_number() == 0) {
      T low = values[lane_number() < count ? lane_number() : 0], high = low;
      for (std::uint32_t i = lane_number(); i < count; i += kWarp) {
        low = lesser(low, values[i]);
        high = greater(high, values[i]);
      }
      for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) {
        low = lesser(low, shuffle_xor(low, step));
        high = greater(high, shuffle_xor(high, step));
      }
      if (lane_number() == 0) {
        ends[0] = low;
        ends[1] = high;
      }
    }
    sync_block();
    const T low = ends[0], scale = static_cast<T>(kCells - 1) / (ends[1] - low);
    std::uint32_t words[kFinishedPerThread];
#pragma unroll
    for (std::uint32_t i = 0; i < kFinishedPerThread; ++i) {
      const std::uint32_t slot = i * threads_per_block() + thread_number();
      words[i] = ~0u;
      if (slot >= count) continue;
      const std::uint32_t cell = to_unsigned((values[slot] - low) * scale);
      words[i] = (cell < kCells - 1 ? cell : kCells - 1) << kSlotBits | slot;
    }
    sort_words(words, exchanged);
    sync_block();
#pragma unroll
    for (std::uint32_t i = 0; i < kFinishedPerThread; ++i) {
      const std::uint32_t place = thread_number() * kFinishedPerThread + i;
      if (place >= count) continue;
      exchanged[place] = words[i];
      order[place] = static_cast<std::uint16_t>(words[i] & (kMostFinished - 1));
    }
    sync_block();
    bool is_crowded = false;
#pragma unroll
    for (std::uint32_t i = 0; i < kFinishedPerThread; ++i) {
      const std::uint32_t place = thread_number() * kFinishedPerThread + i, cell = words[i] >> kSlotBits;
      const auto is_of_cell = [&](std::uint32_t at) { return at < count && exchanged[at] >> kSlotBits == cell; };
      if (place >= count || (place > 0 && is_of_cell(place - 1)) || !is_of_cell(place + 1)) continue;
      std::uint32_t end = place + 2;
      while (end - place <= kMostInCell && is_of_cell(end)) ++end;
      if (end - place > kMostInCell) {
        is_crowded = true;
        continue;
      }
      for (std::uint32_t next = place + 1; next < end; ++next) {  // into those before it
        const std::uint16_t slot = order[next];
        std::uint32_t to = next;
        for (; to > place; --to) {
          const std::uint16_t other = order[to - 1];
          if (values[other] < values[slot]) break;
          if (values[other] == values[slot] &&
              comes_before(shared.values, shared.numbers, most, dims, other, slot, d)) {
            break;
          }
          order[to] = other;
        }
        order[to] = slot;
      }
    }
    if (any_thread(is_crowded)) sort_by_super_keys(shared, most, dims, count, d);
  }
}

/// A block per range. kDims is 0 where dims are known at run time only.
template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kMostFinished / kFinishedPerThread, 2) finish_order(FinishOrder<T> task) {
  enum : std::uint8_t { kLeft, kNode, kRight };
  const std::uint32_t begin = task.first[block_number()], count = task.first[block_number() + 1] - 1 - begin;
  const std::uint32_t dims = kDims == 0 ? task.dims : kDims, most = task.most;
  if (count == 0) return;
  const FinishShared<T> shared(shared_memory(), most, dims);
  for (std::uint32_t i = thread_number(); i < count; i += threads_per_block()) {
    shared.numbers[i] = task.from.numbers[begin + i];
#pragma unroll
    for (std::uint32_t d = 0; d < dims; ++d) {
      shared.values[d * most + i] = task.from.at(begin + i, d);
      shared.orders[0][d * most + i] = static_cast<std::uint16_t>(i);
    }
  }
  sync_block();
  sort_orders<kDims>(shared, most, dims, count);

  std::uint32_t first[kFinishedPerThread], last[kFinishedPerThread];  // the range of each place of this thread
#pragma unroll
  for (std::uint32_t i = 0; i < kFinishedPerThread; ++i) {
    first[i] = 0;
    last[i] = count;
  }
  std::uint16_t *orders = shared.orders[0], *next = shared.orders[1];
  for (std::uint32_t level = task.level, size = count; size > 0; ++level, size /= 2) {
    const auto is_open = [&](std::uint32_t i, std::uint32_t p) { return p < count && first[i] < last[i]; };
#pragma unroll
    for (std::uint32_t i = 0; i < kFinishedPerThread; ++i) {
      const std::uint32_t p = i * threads_per_block() + thread_number();
      if (!is_open(i, p) || p != middle_of(first[i], last[i], task.takes_left)) continue;
      const auto end_of = [&](std::uint32_t d, std::uint32_t place) {
        return shared.values[d * most + orders[d * most + place]];
      };
      const std::uint32_t dim = task.cycles ? level % dims
                                            : widest_side<T>(
                                                  dims, [&](std::uint32_t d) { return end_of(d, first[i]); },
                                                  [&](std::uint32_t d) { return end_of(d, last[i] - 1); });
      shared.split_dim[p] = static_cast<std::uint16_t>(dim);
      task.out_points[begin + p] = shared.numbers[orders[dim * most + p]];
      task.out_dims[begin + p] = dim;
    }
    if (size == 1) break;  // nothing lies below
    sync_block();
#pragma unroll
    for (std::uint32_t i = 0; i < kFinishedPerThread; ++i) {
      const std::uint32_t p = i * threads_per_block() + thread_number();
      if (!is_open(i, p)) continue;
      const std::uint32_t middle = middle_of(first[i], last[i], task.takes_left);
      const std::uint32_t slot = orders[shared.split_dim[middle] * most + p];
      shared.side[slot] = p < middle ? kLeft : p == middle ? kNode : kRight;
    }
    sync_block();
#pragma unroll
    for (std::uint32_t i = 0; i < kFinishedPerThread; ++i) {
      const std::uint32_t p = i * threads_per_block() + thread_number();
#pragma unroll
      for (std::uint32_t d = 0; d < dims; ++d) {
        const std::uint32_t side = is_open(i, p) ? shared.side[orders[d * most + p]] : std::uint8_t{kNode};
        const std::uint32_t left = ballot(side == kLeft), right = ballot(side == kRight);
        if (lane_number() == 0 && p < most) {
          std::uint32_t* const words = shared.words + 2 * (d * (most / kWarp) + p / kWarp);
          words[0] = left;
          words[1] = right;
        }
      }
    }
    sync_block();
    for (std::uint32_t d = warp_number(); d < dims; d += threads_per_block() / kWarp) {
      std::uint32_t sum = 0;
      for (std::uint32_t start = 0; start < most / kWarp; start += kWarp) {
        const std::uint32_t at = start + lane_number();
        const std::uint32_t* const words = shared.words + 2 * (d * (most / kWarp) + at);
        const std::uint32_t own = at < most / kWarp ? count_bits(words[0]) | count_bits(words[1]) << 16 : 0;
        std::uint32_t all = own;
        for (std::uint32_t delta = 1; delta < kWarp; delta *= 2) {
          const std::uint32_t other = shuffle_up(all, delta);
          if (lane_number() >= delta) all += other;
        }
        if (at < most / kWarp) shared.before[d * (most / kWarp) + at] = sum + all - own;
        sum += shuffle(all, kWarp - 1);
      }
    }
    sync_block();
#pragma unroll
    for (std::uint32_t i = 0; i < kFinishedPerThread; ++i) {
      const std::uint32_t p = i * threads_per_block() + thread_number();
      if (!is_open(i, p)) continue;
      const std::uint32_t middle = middle_of(first[i], last[i], task.takes_left);
#pragma unroll
      for (std::uint32_t d = 0; d < dims; ++d) {
        const auto counts_before = [&](std::uint32_t place) {
          const std::uint32_t at = d * (most / kWarp) + place / kWarp, below = (1u << place % kWarp) - 1;
          return shared.before[at] +
                 (count_bits(shared.words[2 * at] & below) | count_bits(shared.words[2 * at + 1] & below) << 16);
        };
        const std::uint16_t slot = orders[d * most + p];
        const std::uint32_t counts = counts_before(p) - counts_before(first[i]);
        if (shared.side[slot] == kLeft) next[d * most + first[i] + (counts & 0xffff)] = slot;
        if (shared.side[slot] == kRight) next[d * most + middle + 1 + (counts >> 16)] = slot;
      }
    }
    sync_block();
#pragma unroll
    for (std::uint32_t i = 0; i < kFinishedPerThread; ++i) {
      const std::uint32_t p = i * threads_per_block() + thread_number();
      if (!is_open(i, p)) continue;
      const std::uint32_t middle = middle_of(first[i], last[i], task.takes_left);
      if (p < middle) {
        last[i] = middle;
      } else {
        first[i] = p == middle ? last[i] : middle + 1;
      }
    }
    std::uint16_t* const divided = next;
    next = orders;
    orders = divided;
  }
}

}  // namespace kith::cuda
