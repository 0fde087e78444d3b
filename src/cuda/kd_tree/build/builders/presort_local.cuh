// The bottom of `presort`: a block splits a subtree in shared memory, down to the leaves. Its points have local
// numbers, those of their places in the order of the first dimension, so that 16 bits name a point in all orders.
//
// Per point and level, D dims, all in shared memory: 2 D bytes are read twice and written once, D bytes read at random.
#pragma once

#include "cuda/kd_tree/build/builders/presort_level.cuh"

namespace kith::cuda {

/// The bottom of the tree: a block per node of level.level.
template <typename T>
struct PresortLocal {
  PresortLevel<T> level;  ///< `divided`, `sides` and `tiles` are not used
  std::uint32_t most = 0;
  std::uint16_t* local = nullptr;    ///< [number]
  std::uint32_t* numbers = nullptr;  ///< [place]: the result; may be the first of the orders
};

/// A block per subtree.
template <typename T>
__global__ void __launch_bounds__(kPresortThreads) number_locally(PresortLocal<T> p) {
  const std::uint64_t begin = p.level.first(block_number()), end = p.level.first(std::uint64_t{block_number()} + 1);
  for (std::uint64_t i = begin + thread_number(); i < end; i += kPresortThreads) {
    p.local[p.level.orders[i]] = static_cast<std::uint16_t>(i - begin);
  }
}

/// A block per subtree, most / kLocalEach threads.
template <typename T>
__global__ void __launch_bounds__(kMostLocal / kLocalEach) split_presorted_subtrees(PresortLocal<T> p) {
  const ArrangeTask<T>& task = p.level.task;
  const core::KdGeometry& geometry = task.shape.geometry;
  const std::uint32_t dims = task.shape.dims, most = p.most, row = most / kWarp;
  const std::uint64_t base = p.level.first(block_number());
  const auto count = static_cast<std::uint32_t>(p.level.first(std::uint64_t{block_number()} + 1) - base);
  const LocalLayout layout(most, dims);
  std::byte* const shared = shared_memory();
  auto* orders = reinterpret_cast<std::uint16_t*>(shared + layout.orders[0]);
  auto* next = reinterpret_cast<std::uint16_t*>(shared + layout.orders[1]);
  auto* const numbers = reinterpret_cast<std::uint32_t*>(shared + layout.numbers);
  auto* const words = reinterpret_cast<std::uint32_t*>(shared + layout.words);
  auto* const before = reinterpret_cast<std::uint32_t*>(shared + layout.before);
  auto* const dim_of = reinterpret_cast<std::uint16_t*>(shared + layout.dim);
  auto* const sides = reinterpret_cast<std::uint8_t*>(shared + layout.sides);

  std::uint32_t first[kLocalEach], node[kLocalEach];  // the node of each place of this thread, and where it begins
  const auto place = [](std::uint32_t k) { return k * threads_per_block() + thread_number(); };
#pragma unroll
  for (std::uint32_t k = 0; k < kLocalEach; ++k) {
    first[k] = node[k] = 0;
    if (place(k) >= count) continue;
    numbers[place(k)] = p.level.orders[base + place(k)];
    orders[place(k)] = static_cast<std::uint16_t>(place(k));
    for (std::uint32_t d = 1; d < dims; ++d) {
      orders[d * most + place(k)] = p.local[p.level.orders[d * p.level.stride + base + place(k)]];
    }
  }
  sync_block();

  for (std::uint32_t level = p.level.level;; ++level) {
    const std::uint64_t above = std::uint64_t{block_number()} << (level - p.level.level);
    for (std::uint32_t j = thread_number(); j < 1u << (level - p.level.level); j += threads_per_block()) {
      const std::uint32_t d = split_presorted(
          task, level, above + j, geometry.first(level, above + j) - base,
          geometry.first(level + 1, 2 * (above + j) + 1) - base, geometry.first(level, above + j + 1) - base,
          [&](std::uint32_t axis, std::uint64_t i) { return numbers[orders[axis * most + i]]; });
      dim_of[j] = static_cast<std::uint16_t>(d);
    }
    sync_block();
    if (level + 1 == geometry.levels) break;
    std::uint32_t middle[kLocalEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kLocalEach; ++k) {
      if (place(k) >= count) continue;
      middle[k] = static_cast<std::uint32_t>(geometry.first(level + 1, 2 * (above + node[k]) + 1) - base);
      sides[orders[dim_of[node[k]] * most + place(k)]] = place(k) < middle[k] ? 0 : 1;
    }
    sync_block();
    for (std::uint32_t d = 0; d < dims; ++d) {
#pragma unroll
      for (std::uint32_t k = 0; k < kLocalEach; ++k) {
        const bool goes_left = place(k) < count && sides[orders[d * most + place(k)]] == 0;
        const std::uint32_t word = ballot(goes_left);
        if (lane_number() == 0) words[d * row + place(k) / kWarp] = word;
      }
    }
    sync_block();
    for (std::uint32_t d = warp_number(); d < dims; d += threads_per_block() / kWarp) {
      std::uint32_t sum = 0;
      for (std::uint32_t start = 0; start < row; start += kWarp) {
        const std::uint32_t at = start + lane_number(), own = at < row ? count_bits(words[d * row + at]) : 0;
        std::uint32_t through = own;
#pragma unroll
        for (std::uint32_t step = 1; step < kWarp; step *= 2) {
          const std::uint32_t other = shuffle_up(through, step);
          if (lane_number() >= step) through += other;
        }
        if (at < row) before[d * row + at] = sum + through - own;
        sum += shuffle(through, kWarp - 1);
      }
    }
    sync_block();
    for (std::uint32_t d = 0; d < dims; ++d) {
      const auto left_before = [&](std::uint32_t i) {
        const std::uint32_t at = d * row + i / kWarp;
        return before[at] + count_bits(words[at] & ((1u << i % kWarp) - 1));
      };
#pragma unroll
      for (std::uint32_t k = 0; k < kLocalEach; ++k) {
        const std::uint32_t i = place(k);
        if (i >= count) continue;
        const std::uint32_t lefts = left_before(i) - left_before(first[k]);
        const bool goes_left = (words[d * row + i / kWarp] >> i % kWarp & 1) != 0;
        next[d * most + (goes_left ? first[k] + lefts : middle[k] + (i - first[k] - lefts))] = orders[d * most + i];
      }
    }
    sync_block();
#pragma unroll
    for (std::uint32_t k = 0; k < kLocalEach; ++k) {
      if (place(k) >= count) continue;
      const bool is_right = place(k) >= middle[k];
      node[k] = 2 * node[k] + (is_right ? 1 : 0);
      if (is_right) first[k] = middle[k];
    }
    std::uint16_t* const divided = next;
    next = orders;
    orders = divided;
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kLocalEach; ++k) {
    if (place(k) < count) p.numbers[base + place(k)] = numbers[orders[dim_of[node[k]] * most + place(k)]];
  }
}

}  // namespace kith::cuda
