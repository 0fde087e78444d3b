// The orders of `presort`: keys of one dimension for a sort, and the points that are equal in it put right.
#pragma once

#include "cuda/kd_tree/build/builders/presort_plan.hpp"
#include "cuda/kd_tree/build/super_key.cuh"
#include "cuda/primitives/intrinsics.cuh"

namespace kith::cuda {

/// The keys of the points of an order, and their numbers; `from` null: of all points by number. `values` may be `from`.
template <typename T>
__global__ void __launch_bounds__(kPresortThreads)
    write_keys(PointSource<T> source, std::uint64_t count, std::uint32_t d, const std::uint32_t* from,
               KeyedPairs<OrderedKey<T>> pairs, std::uint32_t* refused) {
  bool is_bad = false;
  for (std::uint64_t i = std::uint64_t{block_number()} * kPresortThreads + thread_number(); i < count;
       i += std::uint64_t{blocks_in_grid()} * kPresortThreads) {
    const std::uint32_t number = from == nullptr ? static_cast<std::uint32_t>(i) : from[i];
    const T value = source.at(number, d);
    is_bad = is_bad || !(value - value == T(0));
    pairs.keys[i] = ordered_key(value);
    pairs.values[i] = number;
  }
  if (is_bad) atomic_or(refused, 1u);
}

/// A thread per place: the first of a run of equal keys sorts it by the rest of the super-key, if it is short; else
/// `has_long_runs` becomes 1. `order` may be the values of the pairs.
template <typename T>
__global__ void __launch_bounds__(kPresortThreads)
    sort_runs(PointSource<T> source, std::uint64_t count, std::uint32_t dims, std::uint32_t d,
              KeyedPairs<OrderedKey<T>> sorted, std::uint32_t* order, std::uint32_t* has_long_runs) {
  for (std::uint64_t i = std::uint64_t{block_number()} * kPresortThreads + thread_number(); i < count;
       i += std::uint64_t{blocks_in_grid()} * kPresortThreads) {
    const OrderedKey<T> key = sorted.keys[i];
    if (i > 0 && sorted.keys[i - 1] == key) continue;
    order[i] = sorted.values[i];
    for (std::uint64_t next = i + 1; next < count && sorted.keys[next] == key; ++next) {
      if (next - i >= kFewEqual) {
        *has_long_runs = 1;
        break;
      }
      const std::uint32_t number = sorted.values[next];
      std::uint64_t to = next;
      for (; to > i; --to) {
        const std::uint32_t other = order[to - 1];
        if (!precedes(source, dims, number, other, d, 1)) break;
        order[to] = other;
      }
      order[to] = number;
    }
  }
}

/// An order that a sort has left elsewhere.
template <typename T>  // of coordinates: the kernel is compiled once for each
__global__ void __launch_bounds__(kPresortThreads)
    copy_order(const std::uint32_t* from, std::uint64_t count, std::uint32_t* to) {
  for (std::uint64_t i = std::uint64_t{block_number()} * kPresortThreads + thread_number(); i < count;
       i += std::uint64_t{blocks_in_grid()} * kPresortThreads) {
    to[i] = from[i];
  }
}

}  // namespace kith::cuda
