// Lets objects move to the new centres of a round that are nearer than what they have.
//
// A block per tile: objects of one cell, one per thread. Its warps look for new centres in the neighbouring cells that
// can be near enough, measuring them from the centre of the cell, and put them into a buffer; when that is full, or the
// lists are done, all threads measure their objects from the centres in it.
#pragma once

#include "cuda/cover_tree/build/measure_parts.cuh"

namespace kith::cuda::cover {

inline constexpr std::uint32_t kBuffered = 2 * kThreads;  ///< new centres that wait to be measured

struct TileShared {
  std::uint64_t distance = 0;  ///< bits of the largest one in the tile
  std::uint64_t nearest = 0;   ///< bits of the largest one to the nearest centre so far
  std::uint32_t waiting = 0;
  std::uint32_t numbers[kBuffered];
  float distances[kBuffered];  ///< from the centre of the cell, rounded down
};

/// How many objects a block prepares at a time, as a rule.
inline std::uint32_t contexts_at_a_time(std::uint32_t context_bytes) {
  constexpr std::uint32_t kMost = 16, kBytes = 24 << 10;
  const std::uint32_t fit = kBytes / context_bytes;
  return fit < 1 ? 1 : fit < kMost ? fit : kMost;
}
inline std::size_t tile_shared_bytes(std::uint32_t context_bytes) {
  return (sizeof(TileShared) + 15) / 16 * 16 + (contexts_at_a_time(context_bytes) + std::size_t{1}) * context_bytes;
}

/// The object of a thread.
template <DeviceSpace S>
struct MovingObject {
  bool is_there = false;
  RowView row = {};
  double distance = 0;  ///< from the centre of its cell
  double nearest = 0;
  typename S::Value limit = 0;  ///< values above it are farther than the nearest
  std::uint32_t centre = kOwner;

  /// Ties among new centres: the lowest number. The owner keeps what is not strictly nearer to another.
  __device__ void offer(const S& space, double offered, std::uint32_t number) {
    if (offered < nearest || (offered == nearest && centre != kOwner && number < centre)) {
      nearest = offered;
      centre = number;
      limit = limit_of(space, nearest);
    }
  }
};

/// The block measures its objects from all centres that wait.
template <DeviceSpace S>
__device__ std::uint32_t measure_waiting(const S& space, const CoverRounding& rounding, const PlainRows& plain,
                                         TileShared& shared, std::byte* contexts, std::uint32_t at_a_time,
                                         MovingObject<S>& object) {
  const std::uint32_t waiting = shared.waiting, context_bytes = space.context_bytes();
  std::uint32_t measured = 0;
  for (std::uint32_t first = 0; first < waiting; first += at_a_time) {
    const std::uint32_t count = waiting - first < at_a_time ? waiting - first : at_a_time;
    for (std::uint32_t k = warp_number(); k < count; k += kThreads / kWarp) {
      space.prepare(contexts + k * context_bytes, plain.at(shared.numbers[first + k]));
    }
    sync_block();
    for (std::uint32_t k = 0; k < count && object.is_there; ++k) {
      const double apart = static_cast<double>(shared.distances[first + k]);
      if (rounding.nearest(apart, object.distance) > object.nearest) continue;
      const auto value = space.measure(contexts + k * context_bytes, object.row, object.limit);
      object.offer(space, space.metric(value), shared.numbers[first + k]);
      ++measured;
    }
    sync_block();
  }
  if (thread_number() == 0) shared.waiting = 0;
  sync_block();
  return measured;
}

template <DeviceSpace S>
__global__ void __launch_bounds__(kThreads, kBlocks) move_objects(S space, RoundTask task, std::uint32_t at_a_time) {
  const LevelView& level = task.level;
  if (block_number() >= task.tiles_before[level.cell_count]) return;
  const std::uint32_t cell = entry_with(task.tiles_before, level.cell_count, block_number());
  if (cell < task.first_cell || cell >= task.end_cell) return;

  TileShared& shared = *reinterpret_cast<TileShared*>(shared_memory());
  std::byte* own_context = shared_memory() + (sizeof(TileShared) + 15) / 16 * 16;
  std::byte* contexts = own_context + space.context_bytes();
  const std::uint32_t position =
      level.cells.first[cell] + (block_number() - task.tiles_before[cell]) * kTile + thread_number();
  MovingObject<S> object;
  object.is_there = position < level.cells.first[cell + 1];
  if (object.is_there) {
    object.row = level.rows.at(position);
    object.distance = level.objects.distance[position];
    object.nearest = task.moves.distance[position];
    object.limit = limit_of(space, object.nearest);
    object.centre = task.moves.centre[position];
  }
  if (thread_number() == 0) shared.distance = shared.nearest = shared.waiting = 0;
  sync_block();
  const std::uint64_t widest = max_of_warp(bits_of(object.distance)), nearest = max_of_warp(bits_of(object.nearest));
  if (lane_number() == 0) {
    atomic_max(&shared.distance, widest);
    atomic_max(&shared.nearest, nearest);
  }
  if (warp_number() == 0) space.prepare(own_context, level.plain.at(level.cells.centre[cell]));
  sync_block();

  const CoverRounding rounding = space.rounding();
  const double tile_distance = number_of(shared.distance), tile_nearest = number_of(shared.nearest);
  const auto limit = limit_of(space, 2 * (tile_distance + tile_nearest) + 16 * rounding.absolute);
  const std::uint32_t others = task.lists.counts[cell];
  const std::uint64_t start = task.lists.starts[cell];
  std::uint32_t next = warp_number() * kWarp, done = 0, measured = 0;
  LaneRanges ranges(0, 0);
  for (bool has_more = true; has_more;) {
    while (done >= ranges.total && next < others) {
      std::uint32_t begin = 0, size = 0;
      if (next + lane_number() < others) {
        const std::uint32_t other = task.lists.cells[start + next + lane_number()];
        const double apart = static_cast<double>(task.lists.distances[start + next + lane_number()]);
        if (!(rounding.nearest(apart, tile_distance + number_of(level.cells.reach[other])) > tile_nearest)) {
          begin = task.prefix.taken_before[task.prefix.before[level.cells.first[other]]];
          size = task.prefix.taken_before[task.prefix.before[level.cells.first[other + 1]]] - begin;
        }
      }
      ranges = LaneRanges(begin, size);
      done = 0;
      next += kThreads;
    }
    if (done < ranges.total) {
      std::uint32_t lane = 0;
      const std::uint32_t item = ranges.item(done + lane_number(), lane);
      bool is_near = false;
      std::uint32_t number = 0;
      double apart = 0;
      if (done + lane_number() < ranges.total) {
        number = task.prefix.taken[item];
        apart = space.metric(space.measure(own_context, level.plain.at(number), limit));
        is_near = !(rounding.nearest(apart, tile_distance) > tile_nearest);
        ++measured;
      }
      const std::uint32_t near = ballot(is_near);
      std::uint32_t place = 0;
      if (lane_number() == 0) place = atomic_add(&shared.waiting, count_bits(near));
      place = shuffle(place, 0) + count_bits(near & ((1u << lane_number()) - 1));
      if (is_near) {
        shared.numbers[place] = number;
        shared.distances[place] = toward_zero(apart);
      }
      done += kWarp;
    }
    has_more = any_thread(done < ranges.total || next < others);
    if (any_thread(shared.waiting > (has_more ? kBuffered - kThreads : 0))) {
      measured += measure_waiting(space, rounding, level.plain, shared, contexts, at_a_time, object);
    }
  }
  if (object.is_there) {
    task.moves.distance[position] = object.nearest;
    task.moves.centre[position] = object.centre;
  }
  add_evaluations(level.counters, measured);
}

}  // namespace kith::cuda::cover
