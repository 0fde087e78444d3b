// Pass l >= 1 of a group: the cells of all points are read, and the points of each node at level l counted in
// histograms in shared memory.
//
// First each point goes to the half of its node in which its cell lies. Points in the cells of the median itself become
// candidates, and stay with their node until the next pass, when its split is known exactly.
#pragma once

#include "cuda/kd_tree/build/passes/decide_nodes.cuh"
#include "cuda/kd_tree/build/scatter/found_candidates.cuh"
#include "cuda/kd_tree/build/passes/loaded_points.cuh"
#include "cuda/kd_tree/build/medians/node_samples.cuh"

#include <type_traits>

namespace kith::cuda {

/// The cells of neighbouring points of one thread, and their nodes: on their way while others are counted. Few
/// dimensions are all loaded at once; of many only the ones that are needed, when they are.
template <typename T, std::uint32_t kDims>
class LoadedCells {
 public:
  static constexpr std::uint32_t kEach = 4;

  /// `first` is a multiple of kEach. Only the points in [low, end) are there.
  __device__ __forceinline__ void load(const GroupParameters<T>& p, std::uint32_t first, std::uint32_t low,
                                       std::uint32_t end, bool has_heaps) {
    const bool is_whole = first >= low && first < end && end - first >= kEach;
    if (is_whole) {
      if constexpr (kDims > 0) {
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) load_vector(words_of(p, d, first), words_[d]);
      }
      if (has_heaps) heaps_ = *reinterpret_cast<const std::uint32_t*>(p.heap + first);
      return;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (first + k < low || first + k >= end) continue;
      if constexpr (kDims > 0) {
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) {
          const std::uint32_t cell = p.cells(d)[first + k];
          words_[d][k / 2] = permute_bytes(words_[d][k / 2], cell, k % 2 == 0 ? 0x3254 : 0x5410);
        }
      }
      if (has_heaps) heaps_ = (heaps_ & ~(0xffu << (8 * k))) | std::uint32_t{p.heap[first + k]} << (8 * k);
    }
  }

  /// The nodes, a byte each.
  __device__ __forceinline__ std::uint32_t heaps() const { return heaps_; }

  /// The cell of point k, which lies at `place`, in the dimension of a pick.
  __device__ __forceinline__ std::uint32_t at(const GroupParameters<T>& p, std::uint32_t place, std::uint32_t k,
                                              std::uint32_t pick) const {
    if constexpr (kDims == 0) {
      return p.cells(NodeTables<T>::dim_of(pick))[place];
    } else {
      const auto both = [&](std::uint32_t d) {
        return permute_bytes(words_[d][k / 2], words_[d + 1][k / 2], k % 2 == 0 ? 0x5410 : 0x7632);
      };
      if constexpr (kDims == 2) return permute_bytes(both(0), 0, pick);
      if constexpr (kDims == 3) {
        return permute_bytes(both(0), k % 2 == 0 ? words_[2][k / 2] & 0xffff : words_[2][k / 2] >> 16, pick);
      }
      if constexpr (kDims == 4) return permute_bytes(both(0), both(2), pick) & 0xffff;
    }
  }

 private:
  __device__ __forceinline__ static const std::uint32_t* words_of(const GroupParameters<T>& p, std::uint32_t d,
                                                                  std::uint32_t first) {
    return reinterpret_cast<const std::uint32_t*>(p.cells(d) + first);
  }

  std::uint32_t words_[kDims > 0 ? kDims : 1][kEach / 2] = {};
  std::uint32_t heaps_ = 0;
};

/// So many candidates may a warp find before it puts them into lists.
template <typename T>
inline constexpr std::uint32_t kCapacityInPass = 128;

template <typename T>
KITH_HOST_DEVICE std::size_t level_shared_bytes() {
  return behind_found<T, kCapacityInPass<T>>(kPassThreads) + 4 * (kCounters + kWarp);
}

/// Pass l >= 1: histograms [child][slot][bin].
template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kPassThreads, 2)
    count_level(const __grid_constant__ GroupParameters<T> p, std::uint32_t level) {
  using Loaded = LoadedCells<T, kDims>;
  constexpr std::uint32_t kEach = Loaded::kEach, kTile = kEach * kPassThreads, kCapacity = kCapacityInPass<T>;
  const NodeTables<T>& tables = node_tables<T>();
  auto* counters = reinterpret_cast<std::uint32_t*>(shared_memory() + behind_found<T, kCapacity>(kPassThreads));
  const std::uint32_t parents = 1u << (level - 1), all_parents = parents * 0x01010101u, dims = p.shape.dims;
  const std::uint32_t bins = bins_at(level, dims, p.most_bins);
  for (std::uint32_t i = thread_number(); i < 4 * parents * bins; i += kPassThreads) counters[i] = 0;
  start_next();
  const SegmentSlice slice = slice_of(p, block_number() / p.parts, block_number() % p.parts, p.parts);
  const auto first = static_cast<std::uint32_t>(slice.first), end = static_cast<std::uint32_t>(slice.end);
  const std::uint32_t first_tile = first / kEach * kEach;
  wait_for_previous();
  Loaded next;
  next.load(p, first_tile + thread_number() * kEach, first, end, level > 1);
  const auto segment_first = static_cast<std::uint32_t>(p.shape.geometry.first(p.first_level, slice.segment));
  // Where points lie unevenly, a good part of them are candidates.
  const bool has_many = is_uneven(p, slice.segment), uses_numbers = load_tables(p, slice.segment, level);
  CellScale<T> number_scale;
  if (uses_numbers) number_scale = cell_scale(p, slice.segment, dims);
  std::uint32_t found = 0;
  // Whole tiles of segments without numbers need no conditions.
  const auto count_tile = [&](const Loaded& points, std::uint32_t own, auto is_whole) {
    constexpr bool kWhole = decltype(is_whole)::value;
    const auto is_inside = [&](std::uint32_t k) { return kWhole || (own + k >= first && own + k < end); };
    const auto cell_at = [&](std::uint32_t k, std::uint32_t pick) -> std::uint32_t {
      if (!is_inside(k)) return 0;
      if (!kWhole && NodeTables<T>::dim_of(pick) == dims) {
        return cell_of(number_scale, static_cast<T>(p.source.index(own + k)));
      }
      return points.at(p, own + k, k, pick);
    };
    std::uint32_t inside = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) inside |= is_inside(k) ? 1u << k : 0;
    std::uint32_t heaps = level > 1 ? points.heaps() : all_parents;
    if ((~heaps & all_parents) != 0) {
      heaps =
          has_many ? decided_heaps(p, parents, own, heaps, inside) : decided_few_heaps(p, parents, own, heaps, inside);
    }
    sync_warp();
    // A byte for each point. Decided nodes have the bit `parents`; the others count from the first of their level.
    const std::uint32_t nodes = heaps & ~all_parents;
    std::uint32_t cells[kEach], rights = 0, candidates = 0;
    typename NodeTables<T>::Parent parent[kEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      parent[k] = tables.parents[nodes >> (8 * k) & 0xff];
      cells[k] = cell_at(k, parent[k].pick);
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const SideOfCells side(parent[k], cells[k]);
      rights |= side.is_right ? 1u << (8 * k) : 0;
      candidates |= side.is_among ? 0xffu << (8 * k) : 0;
    }
    const std::uint32_t halves = 2 * nodes | rights;
    std::uint32_t picks = 0;
    typename NodeTables<T>::Counted child[kEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      child[k] = tables.children[halves >> (8 * k) & 0xff];
      cells[k] = cell_at(k, child[k].pick);
      picks |= child[k].pick;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      // What is not counted here is counted in a bin that is not read: that is faster than a branch.
      const std::uint32_t half = halves >> (8 * k) & 0xff;
      const bool is_counted = is_inside(k) && (candidates >> (8 * k) & 1) == 0;
      atomic_add(counters + (is_counted ? 2 * half * bins + child[k].bin_of(cells[k]) : kCounters + lane_number()), 1u);
    }
    if ((picks & NodeTables<T>::kHasSecond) != 0) {
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        if ((child[k].pick & NodeTables<T>::kHasSecond) == 0 || (candidates >> (8 * k) & 1) != 0 || !is_inside(k))
          continue;
        const std::uint32_t half = halves >> (8 * k) & 0xff;
        const auto second = tables.seconds[half];
        atomic_add(counters + (2 * half + 1) * bins + second.bin_of(cell_at(k, second.pick)), 1u);
      }
    }
    heaps = (heaps & candidates) | ((2 * heaps | rights) & ~candidates);
    if constexpr (!kWhole) {
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        if (is_inside(k)) p.heap[own + k] = static_cast<std::uint8_t>(heaps >> (8 * k));
      }
    }
    if constexpr (kWhole) {
      *reinterpret_cast<std::uint32_t*>(p.heap + own) = heaps;
      if (has_many) {
        const std::uint32_t sample = sample_at(p, segment_first, own);
        if (sample != kNoSample) note_sample(p, slice.segment, sample, heaps & 0xff);
      }
    }
    sync_warp();
    if (!any_lane(candidates != 0)) return;
    std::uint32_t node[kEach], listed = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      node[k] = nodes >> (8 * k) & 0xff;
      if (is_inside(k)) listed |= (candidates >> (8 * k) & 1) << k;
    }
    if (!has_many) return note_few_candidates<kCapacity>(p, slice.segment, level - 1, listed, nodes, own, found);
    const auto value = [&](std::uint32_t k, std::uint32_t d) { return p.source.at(own + k, d); };
    note_candidates<kCapacity, false, true>(p, slice.segment, level - 1, listed, node, value, own, found);
  };
  for (std::uint32_t tile = first_tile; tile < end; tile += kTile) {
    const std::uint32_t own = tile + thread_number() * kEach;
    const Loaded points = next;
    const bool is_last = end - tile <= kTile;
    if (!is_last) next.load(p, own + kTile, first, end, level > 1);
    if (tile >= first && end - tile >= kTile && !uses_numbers) {
      count_tile(points, own, std::true_type{});
    } else {
      count_tile(points, own, std::false_type{});
    }
    if (is_last) break;
  }
  list_candidates<kCapacity, false>(p, slice.segment, level - 1, found);
  sync_block();
  flush_counters(p, slice.segment, counters, 4 * parents * bins);
}

}  // namespace kith::cuda
