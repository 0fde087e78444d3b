// The split of a node whose cells refine ties, if there is a thread for each of its candidates and dims are few.
//
// Each thread makes one number of the super-key of its candidate: by component, where the coordinate lies among the
// values of its table, and the coordinate itself if it is none of them or if there is no table; at last the number of
// the point. Whatever does not fit into 64 bits is left out: the order is kept, and ranks that are equal for want of
// the rest leave the split to select_many.cuh. If they are too many to compare all pairs, some of them cut the others
// into parts, and those of one part are left.
//
// The tables lie in shared memory, and neither the list nor the points are looked at again.
#pragma once

#include "cuda/kd_tree/build/medians/select_many.cuh"
#include "cuda/kd_tree/build/medians/step_node.cuh"

namespace kith::cuda {

/// What a thread knows of its candidate besides that.
template <typename T>
struct TiedOwn {
  std::uint64_t rank = 0;   ///< in the order of the super-key, among the candidates of the node
  std::uint64_t slots = 0;  ///< where its coordinates lie among the values of tables, 16 bits each
  std::uint32_t number = 0;

  __device__ __forceinline__ std::uint32_t slot(std::uint32_t d) const {
    return static_cast<std::uint32_t>(slots >> (16 * d)) & 0xffff;
  }
};

/// A coordinate of the candidate of a thread.
template <typename T>
__device__ __forceinline__ T own_value(const OwnCandidate<T>& own, std::uint32_t d) {
  T x = own.values[0];
#pragma unroll
  for (std::uint32_t e = 1; e < kOwnDims; ++e) x = d == e ? own.values[e] : x;
  return x;
}

/// The slots of a candidate, see find_slots; dimensions are looked up side by side.
template <typename T>
__device__ __forceinline__ std::uint64_t find_own_slots(const TieMap<T>& map, const OwnCandidate<T>& own) {
  const T* values[kOwnDims];
  std::uint32_t counts[kOwnDims], below[kOwnDims], most = 1;
#pragma unroll
  for (std::uint32_t d = 0; d < kOwnDims; ++d) {
    values[d] = map.values(d < map.dims ? d : 0);
    counts[d] = d < map.dims ? map.ties->count[d] : 0;
    below[d] = 0;
    most = counts[d] > most ? counts[d] : most;
  }
#pragma unroll 1
  for (std::uint32_t step = 1u << (31 - leading_zeros(most)); step > 0; step /= 2) {
#pragma unroll
    for (std::uint32_t d = 0; d < kOwnDims; ++d) {
      const std::uint32_t at = below[d] + step;
      if (at <= counts[d] && values[d][at - 1] < own.values[d]) below[d] = at;
    }
  }
  std::uint64_t slots = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kOwnDims; ++d) {
    const bool is_value = below[d] < counts[d] && values[d][below[d]] == own.values[d];
    slots |= std::uint64_t{2 * below[d] + (is_value ? 1 : 0)} << (16 * d);
  }
  return slots;
}

/// The rank of a candidate in the order of the super-key of dimension `dim`.
template <typename T>
__device__ __forceinline__ std::uint64_t own_rank(const GroupParameters<T>& p, const TieMap<T>& map, std::uint32_t dim,
                                                  const OwnCandidate<T>& own, const TiedOwn<T>& tied) {
  constexpr std::uint32_t kBits = 64;
  std::uint64_t rank = 0;
  std::uint32_t used = 0;
  const auto append = [&](std::uint64_t value, std::uint32_t bits) {
    if (used < kBits) rank |= (value << (kBits - bits)) >> used;
    used += bits;
  };
  const auto bits_of = [](std::uint32_t most) { return 32 - leading_zeros(most | 1); };
  const std::uint32_t dims = p.shape.dims, stages = dim < dims ? dims : 0;
#pragma unroll 1
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const std::uint32_t d = dim + stage < dims ? dim + stage : dim + stage - dims;
    const std::uint32_t slot = tied.slot(d);
    append(slot, bits_of(2 * map.ties->count[d]));
    if (slot % 2 == 0) append(ordered_key(own_value(own, d)), 8 * sizeof(T));
  }
  append(tied.number, bits_of(static_cast<std::uint32_t>(p.shape.geometry.points - 1)));
  return rank;
}

/// The part of the candidates in which a rank lies.
__device__ __forceinline__ std::uint32_t part_of(const TiedParts& parts, std::uint64_t rank) {
  std::uint32_t part = 0;
#pragma unroll
  for (std::uint32_t step = kOwnBins / 2; step > 0; step /= 2) part += parts.cuts[part + step - 1] <= rank ? step : 0;
  return part;
}

/// Finds the rank of the split, in split_key, and how many are equal to it. False if too many are left. Synchronises
/// the block.
template <typename T>
__device__ __forceinline__ bool find_rank_of_split(const GroupParameters<T>& p, const StepTask& task,
                                                   std::uint64_t rank) {
  StepShared& cells = step_shared();
  // In the place of all that was stored of the candidates.
  auto* ranks = reinterpret_cast<std::uint64_t*>(StoredCandidates<T>(p).keys);
  const bool is_there = thread_number() < task.count;
  if (is_there) ranks[thread_number()] = rank;
  sync_block();
  const std::uint64_t* left = ranks;
  std::uint32_t count = task.count, needed = step_node<T>().needed;
  if (count > kFewCandidates) {
    static_assert(kFewCandidates >= kOwnBins);
    compare_all_pairs(
        kOwnBins, [&](std::uint32_t i) { return ranks[i * task.count / kOwnBins]; },
        [&](std::uint32_t, std::uint64_t cut, std::uint32_t less, std::uint32_t equal) {
#pragma unroll 1
          for (std::uint32_t i = less; i < less + equal; ++i) cells.parts.cuts[i] = cut;
        });
    sync_block();
    std::uint32_t part = 0, entry = 0;
    if (is_there) {
      part = part_of(cells.parts, rank);
      entry = atomic_add(&cells.parts.counts[part], 1u);
    }
    sync_block();
    const FoundBin found = find_bin(cells.parts.counts, kOwnBins, nullptr, needed);
    if (found.count > kFewCandidates) return false;
    if (is_there && part == found.bin) cells.few_keys[entry] = rank;
    left = cells.few_keys;
    count = found.count;
    needed -= found.below;
    sync_block();
  }
  compare_all_pairs(
      count, [&](std::uint32_t i) { return left[i]; },
      [&](std::uint32_t, std::uint64_t own, std::uint32_t less, std::uint32_t equal) {
        if (needed - less >= equal) return;
        cells.split_key = own;
        cells.split_equal = equal;
      });
  sync_block();
  return true;
}

/// Whether the split of a node is looked for so.
template <typename T>
__device__ __forceinline__ bool has_own_ranks(const GroupParameters<T>& p, const StepTask& task) {
  return p.shape.dims <= kOwnDims && task.count <= threads_per_block();
}

/// Finds the split of a node so, if it can be: those with a rank of less than split_key are on its left. `number`: of
/// the candidate of this thread. Synchronises the block.
template <typename T>
__device__ __forceinline__ bool find_tied_split(const GroupParameters<T>& p, const StepTask& task,
                                                const OwnCandidate<T>& own, std::uint32_t number, TiedOwn<T>& tied) {
  if (!has_own_ranks(p, task)) return false;
  const TieMap<T> map = step_ties(p, task.segment);
  tied.number = number;
  tied.slots = find_own_slots(map, own);
  if (step_node<T>().are_equal()) {
    tied.rank = own.key;
    if (find_clear_split(p, task, own)) return true;
    clear_own_bins();
  }
  tied.rank = own_rank(p, map, task.dim, own, tied);
  StepShared& cells = step_shared();
  if (!find_rank_of_split(p, task, tied.rank) || cells.split_equal != 1) return false;
  if (thread_number() < task.count && tied.rank == cells.split_key) {
    const bool is_coordinate = task.dim < p.shape.dims;
    cells.split_first = is_coordinate ? ordered_key(own_value(own, task.dim)) : static_cast<OrderedKey<T>>(number) + 1;
    cells.split_stage = p.shape.dims + 1;
    cells.split_place = own.place;
  }
  sync_block();
  return true;
}

/// Finds the split of a node whose cells refine ties if find_tied_split does not. Synchronises the block.
template <bool kIsLast, typename T>
__device__ __forceinline__ void select_of_tied(const GroupParameters<T>& p, const StepTask& task,
                                               const OwnCandidate<T>& own, const T* box) {
  const bool was_ranked = has_own_ranks(p, task);
  if (was_ranked) {  // ranks lie where the candidates were
    store_candidate(p, own);
    sync_block();
  }
  const bool is_clear = (!was_ranked || task.count <= kFewCandidates) && find_clear_split(p, task, own);
  if (!is_clear) select_of_many<kIsLast, true>(p, task, box);
}

/// Adds the candidate of this thread to the histogram of the half in which it lies.
template <typename T>
__device__ __forceinline__ void count_tied_own(const GroupParameters<T>& p, const StepTask& task,
                                               const StepNode<T>& known, const OwnCandidate<T>& own,
                                               const TiedOwn<T>& tied, std::uint32_t bins) {
  const StepShared& cells = step_shared();
  const std::uint32_t side = tied.rank < cells.split_key ? 0 : 1, slot = cells.slots[side];
  const CellBins& half = known.counted[side].slots[slot];
  const TieMap<T> map = step_ties(p, task.segment);
  const auto plain = [&](std::uint32_t d) {
    return cell_of(map.ties->scales[d], d < map.dims ? own_value(own, d) : static_cast<T>(tied.number));
  };
  const std::uint32_t cell = tied_cell<0>(
      map, half.dim, [&](std::uint32_t d) { return tied.slot(d); }, plain);
  atomic_add(known.rows + (2 * side + slot) * bins + bin_of(half, cell), 1u);
}

}  // namespace kith::cuda
