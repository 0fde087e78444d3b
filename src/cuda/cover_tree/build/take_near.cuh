// The builder by lists: far objects of a cell go to the first new centre of the same cell that has them within its
// radius.
//
// A block per tile: objects of one cell, one per thread. The new centres of the round in its cell come by ascending
// rank, and a thread stops at the first that is near enough. An object that is no centre always has one of lower rank
// in the end, so that it looks at no others; if a round decides a centre before one of lower rank that was waiting, a
// later round moves the object on to that one.
#pragma once

#include "cuda/cover_tree/build/measure_parts.cuh"

namespace kith::cuda::cover {

/// In shared memory, before what is prepared of so many.
struct alignas(16) NewCentre {
  double distance = 0;  ///< from the centre of the cell
  std::uint32_t number = 0;
  std::uint32_t rank = 0;
};
inline std::size_t near_shared_bytes(std::uint32_t at_a_time, std::uint32_t context_bytes) {
  return at_a_time * (sizeof(NewCentre) + std::size_t{context_bytes});
}

/// Prefix::taken has positions.
template <DeviceSpace S>
__global__ void __launch_bounds__(kThreads, kBlocks) take_near(S space, RoundTask task, std::uint32_t at_a_time) {
  const LevelView& level = task.level;
  const Objects& objects = level.objects;
  const Prefix& prefix = task.prefix;
  if (block_number() >= task.tiles_before[level.cell_count]) return;
  const std::uint32_t cell = entry_with(task.tiles_before, level.cell_count, block_number());
  const std::uint32_t first = level.cells.first[cell], end = level.cells.first[cell + 1];
  const std::uint32_t centres_end = prefix.taken_before[prefix.before[end]];
  std::uint32_t next = prefix.taken_before[prefix.before[first]];
  if (next == centres_end) return;

  const std::uint32_t position = first + (block_number() - task.tiles_before[cell]) * kTile + thread_number();
  double distance = 0;
  std::uint32_t below = 0;  // centres of no lower rank are of no use
  if (position < end && objects.distance[position] > level.radius) {
    const std::uint32_t number = objects.number[position], centre = task.moves.centre[position];
    distance = objects.distance[position];
    if (centre != number) below = core::cover_rank(centre == kOwner ? number : centre);
  }
  bool is_looking = core::cover_rank(objects.number[prefix.taken[next]]) < below;
  const CoverRounding rounding = space.rounding();
  const auto limit = limit_of(space, level.radius);
  const std::uint32_t context_bytes = space.context_bytes();
  auto* centres = reinterpret_cast<NewCentre*>(shared_memory());
  std::byte* contexts = shared_memory() + at_a_time * sizeof(NewCentre);
  std::uint32_t measured = 0;
  for (; any_thread(is_looking && next < centres_end); next += at_a_time) {
    const std::uint32_t left = centres_end - next, count = left < at_a_time ? left : at_a_time;
    for (std::uint32_t k = warp_number(); k < count; k += kThreads / kWarp) {
      const std::uint32_t place = prefix.taken[next + k], number = objects.number[place];
      if (lane_number() == 0) centres[k] = {objects.distance[place], number, core::cover_rank(number)};
      space.prepare(contexts + k * context_bytes, level.plain.at(number));
    }
    sync_block();
    for (std::uint32_t k = 0; k < count && is_looking; ++k) {
      const NewCentre centre = centres[k];
      is_looking = centre.rank < below;
      if (!is_looking || rounding.apart(distance, centre.distance) > level.radius) continue;
      const double offered = space.metric(space.measure(contexts + k * context_bytes, level.rows.at(position), limit));
      ++measured;
      if (offered > level.radius) continue;
      task.moves.distance[position] = offered;
      task.moves.centre[position] = centre.number;
      is_looking = false;
    }
  }
  add_evaluations(level.counters, measured);
}

}  // namespace kith::cuda::cover
