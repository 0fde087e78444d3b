// The bottom of a tree: a block splits a subtree in shared memory, large nodes together, small ones by a warp each.
#pragma once

#include "cuda/kd_tree/build/builders/levels/sort_node.cuh"

namespace kith::cuda {

/// Shared memory of a block, in the order in which it lies. Keys of `select` are whole, those of `segsort` two bytes.
template <typename T, bool kSorts>
struct SubtreeShared {
  using Key = std::conditional_t<kSorts, std::uint16_t, OrderedKey<T>>;

  Key* keys = nullptr;
  std::uint32_t *numbers = nullptr, *other_numbers = nullptr;
  std::uint32_t* counters = nullptr;
  CrewCells<T>* cells = nullptr;
  Key* other_keys = nullptr;  ///< `segsort` only
  std::uint32_t bytes = 0;

  KITH_HOST_DEVICE explicit SubtreeShared(std::byte* memory) {
    keys = take<Key>(memory, kSubtreePoints);
    cells = take<CrewCells<T>>(memory, kLevelWarps);
    numbers = take<std::uint32_t>(memory, kSubtreePoints);
    other_numbers = take<std::uint32_t>(memory, kSubtreePoints);
    counters = take<std::uint32_t>(memory, (kLevelWarps << kWarpDigitBits) + kLevelWarps);
    if (kSorts) other_keys = take<Key>(memory, kSubtreePoints);
  }

 private:
  template <typename V>
  KITH_HOST_DEVICE V* take(std::byte* memory, std::uint32_t count) {
    V* const part = memory == nullptr ? nullptr : reinterpret_cast<V*>(memory + bytes);
    bytes += count * static_cast<std::uint32_t>(sizeof(V));
    return part;
  }
};

/// Writes the tight box of some points.
template <bool kIsBlock, typename T>
__device__ void tighten(const LevelTask<T>& task, const Crew<kIsBlock>& crew, CrewCells<T>& cells,
                        const std::uint32_t* numbers, std::uint32_t count, T* box) {
  using Key = OrderedKey<T>;
  for (std::uint32_t d = 0; d < task.shape.dims; ++d) {
    if (crew.rank == 0) cells.not_low = cells.high = 0;
    crew.sync();
    Key not_low = 0, high = 0;
    for (std::uint32_t i = crew.rank; i < count; i += crew.threads) {
      const Key key = ordered_key(task.source.at(numbers[i], d)), not_key = static_cast<Key>(~key);
      not_low = not_key > not_low ? not_key : not_low;
      high = key > high ? key : high;
    }
    not_low = max_of_warp(not_low);
    high = max_of_warp(high);
    if (lane_number() == 0) atomic_max(&cells.not_low, not_low);
    if (lane_number() == 0) atomic_max(&cells.high, high);
    crew.sync();
    if (crew.rank == 0) {
      box[d] = value_of_key<T>(static_cast<Key>(~cells.not_low));
      box[task.shape.dims + d] = value_of_key<T>(cells.high);
    }
  }
  crew.sync();
}

/// Splits a node of the subtree whose first point has the place `base` in the tree.
template <bool kIsBlock, bool kSorts, typename T>
__device__ void split_node(const LevelTask<T>& task, const SubtreeShared<T, kSorts>& shared, std::uint32_t base,
                           std::uint32_t level, std::uint64_t j) {
  const Crew<kIsBlock> crew;
  CrewCells<T>& cells = shared.cells[kIsBlock ? 0 : warp_number()];
  std::uint32_t* const counters = shared.counters + (kIsBlock ? 0 : warp_number() << kWarpDigitBits);
  const std::uint32_t dims = task.shape.dims;
  const auto begin = static_cast<std::uint32_t>(task.shape.geometry.first(level, j)) - base;
  const auto end = static_cast<std::uint32_t>(task.shape.geometry.first(level, j + 1)) - base;
  T* const box = task.box(level, j);
  if (level % core::kTightBoxEvery == 0) tighten(task, crew, cells, shared.numbers + begin, end - begin, box);
  const std::uint32_t dim = task.shape.cycles ? level % dims : widest_side<T>(box, dims);
  NodeSearch<T> search = begin_search(task, level, j, dim);
  if (search.rank == search.count) {  // an empty right half, which only leaves of one point know
    write_split(task, crew, level, j, dim, box[dims + dim]);
    return;
  }
  search.begin -= base;
  const auto key_of = [&](std::uint32_t number) { return ordered_key(task.source.at(number, dim)); };
  if constexpr (kSorts) {
    const std::uint32_t shift = shift_of(search, kSortedBits);
    sort_node<kIsBlock>(search.count, counters, shared.numbers + begin, shared.keys + begin,
                        shared.other_numbers + begin, shared.other_keys + begin,
                        [&](std::uint32_t number) { return digit_of(search, shift, key_of(number)); });
    search_among_equal(search, shift, [&](std::uint32_t place) { return std::uint32_t{shared.keys[place]}; });
  } else {
    for (std::uint32_t i = begin + crew.rank; i < end; i += crew.threads) shared.keys[i] = key_of(shared.numbers[i]);
    crew.sync();
  }
  std::uint32_t* const from = shared.numbers + search.begin;
  std::uint32_t* const other = shared.other_numbers + search.begin;
  const OrderedKey<T>* keys = nullptr;
  if constexpr (!kSorts) keys = shared.keys + search.begin;
  std::uint32_t pivot = from[0];
  if (search.count > 1) {
    pivot = find_pivot<kIsBlock, T>(task, crew, cells, counters, search, box, from, keys, other);
    const OrderedKey<T> pivot_key = key_of(pivot);
    partition_by_crew(
        crew, cells, from, other, search.range_count, search.range_rank, [&](std::uint32_t i, std::uint32_t number) {
          return is_left_of(task, dim, number, keys != nullptr ? keys[i] : key_of(number), pivot, pivot_key);
        });
  }
  write_split(task, crew, level, j, dim, task.source.at(pivot, dim) + T(0));
}

/// A block per node of `task.level`, which has at most kSubtreePoints points.
template <typename T, bool kSorts>
__global__ void __launch_bounds__(kLevelThreads, kSorts ? 3 : 0) split_subtrees(LevelTask<T> task) {
  const SubtreeShared<T, kSorts> shared(shared_memory());
  const core::KdGeometry& geometry = task.shape.geometry;
  const std::uint64_t subtree = block_number();
  const auto base = static_cast<std::uint32_t>(geometry.first(task.level, subtree));
  const std::uint32_t count = static_cast<std::uint32_t>(geometry.first(task.level, subtree + 1)) - base;
  for (std::uint32_t i = thread_number(); i < count; i += kLevelThreads) shared.numbers[i] = task.numbers[base + i];
  sync_block();
  for (std::uint32_t level = task.level; level < geometry.levels; ++level) {
    const std::uint32_t depth = level - task.level;
    const std::uint64_t first = subtree << depth;
    if (core::KdGeometry{geometry.points, level}.most_per_leaf() > kWarpPoints) {
      for (std::uint32_t i = 0; i < 1u << depth; ++i) split_node<true, kSorts>(task, shared, base, level, first + i);
    } else {
      for (std::uint32_t i = warp_number(); i < 1u << depth; i += kLevelWarps) {
        split_node<false, kSorts>(task, shared, base, level, first + i);
      }
    }
    sync_block();
  }
  for (std::uint32_t i = thread_number(); i < count; i += kLevelThreads) task.numbers[base + i] = shared.numbers[i];
}

}  // namespace kith::cuda
