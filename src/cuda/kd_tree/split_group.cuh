// The kernel that splits a group of up to six levels: passes that count, steps that find medians, one scatter.
//
// Per point and group, read (r) and written (w), D dims of T:
//   pass 0          r D*T                         tight box and a histogram of every dimension
//   pass 1 .. m-1   r up to D*T + 1, w 1          a histogram of each node, its points sorted to halves
//   scatter         r D*T + 4 + 1, w D*T + 4      all levels at once
// Between two passes only candidates are looked at: the points in the medians' bins, about 1 in 2000.
// Few segments: all blocks of the grid work on all of them together and meet between the steps; the launch must be a
// cooperative one. Many segments: each block takes one after the other and works alone.
#pragma once

#include "cuda/kd_tree/scatter_points.cuh"

namespace kith::cuda {

/// One block's way through the group.
template <typename T>
class GroupWorker {
 public:
  using Key = OrderedKey<T>;

  __device__ explicit GroupWorker(const GroupParameters<T>& parameters) : p(parameters) {}

  /// All blocks together.
  __device__ void run_together() {
    const std::uint32_t segments = 1u << p.first_level, blocks = blocks_in_grid();
    const std::uint32_t parts = blocks / segments;
    const bool has_segment = block_number() < parts * segments;
    const SegmentSlice slice =
        has_segment ? slice_of(p, block_number() / parts, block_number() % parts, parts) : SegmentSlice{};
    const bool is_first_part = has_segment && block_number() % parts == 0;
    if (p.segment_boxes == nullptr) {
      sample_range();
      meet();
    }
    load_ranges(slice.segment);
    if (has_segment) {
      count_root_of(slice);
      flush_histogram(slice.segment, (p.shape.dims + 1) * bins_at(0, p.shape.dims, p.most_bins));
      flush_tight(slice.segment);
    }
    meet();
    if (is_first_part) {
      const std::uint32_t used = (p.shape.dims + 1) * bins_at(0, p.shape.dims, p.most_bins);
      std::uint32_t* global = p.histogram + std::uint64_t{slice.segment} * kCounters;
      for (std::uint32_t i = thread_number(); i < used; i += threads_per_block()) {
        counters()[i] = load_fresh(&global[i]);
        global[i] = 0;
      }
      const Key* found = p.tight + std::uint64_t{slice.segment} * 2 * (p.shape.dims + 1);
      for (std::uint32_t i = thread_number(); i < 2 * (p.shape.dims + 1); i += threads_per_block()) {
        tight()[i] = found[i];
      }
      sync_block();
      find_root_median(p, BlockTeam{&shared().cells}, slice.segment, counts_numbers_);
    }
    meet();
    if (load_fresh(p.refused) != 0) return;
    for (std::uint32_t level = 1; level < p.levels; ++level) {
      clear_list_cells();
      if (has_segment) {
        load_tables(p, slice.segment, level);
        clear_counters();
        count_level(p, slice, level);
        sync_block();
        flush_histogram(slice.segment, (2u << level) * bins_at(level, p.shape.dims, p.most_bins));
      }
      meet();
      resolve_together(level);
      meet();
    }
    clear_list_cells();
    if (has_segment) {
      load_tables(p, slice.segment, p.levels);
      sync_block();
      scatter_points(p, slice);
    }
    meet();
    resolve_together(p.levels);
    stamp();
  }

  /// This block alone, segment after segment.
  __device__ void run_alone() {
    const std::uint32_t segments = 1u << p.first_level;
    for (std::uint32_t segment = block_number(); segment < segments; segment += blocks_in_grid()) {
      const SegmentSlice slice = slice_of(p, segment, 0, 1);
      load_ranges(segment);
      count_root_of(slice);
      sync_block();
      find_root_median(p, BlockTeam{&shared().cells}, segment, counts_numbers_);
      for (std::uint32_t level = 1; level < p.levels; ++level) {
        load_tables(p, segment, level);
        clear_counters();
        count_level(p, slice, level);
        sync_block();
        resolve_alone(level, segment);
      }
      load_tables(p, segment, p.levels);
      sync_block();
      scatter_points(p, slice);
      sync_block();
      resolve_alone(p.levels, segment);
    }
  }

 private:
  __device__ void meet() {
    stamp();
    meet_blocks(p.barrier, blocks_in_grid(), meetings_);
    stamp();
  }
  __device__ void stamp() {
    if (p.stamps != nullptr && block_number() == 0 && thread_number() == 0) p.stamps[stamps_++] = nanoseconds();
  }

  /// About how far the points reach: one row for each thread of the grid.
  __device__ void sample_range() {
    const std::uint64_t points = p.shape.geometry.points;
    const std::uint64_t number = std::uint64_t{block_number()} * threads_per_block() + thread_number();
    const std::uint64_t samples = std::uint64_t{blocks_in_grid()} * threads_per_block();
    // 2^32 points times 2^18 threads fit in 64 bits.
    const std::uint64_t place = points <= samples ? number : number * points / samples;
    for (std::uint32_t d = 0; d < p.shape.dims; ++d) {
      const Key key = place < points ? ordered_key(p.source.at(place, d)) : 0;
      const Key least = min_of_warp(place < points ? key : static_cast<Key>(~Key{0})), greatest = max_of_warp(key);
      if (lane_number() == 0 && greatest != 0) {
        atomic_max(&p.sampled[d], static_cast<Key>(~least));
        atomic_max(&p.sampled[p.shape.dims + 1 + d], greatest);
      }
    }
  }

  /// Between which values the points of a segment are counted in pass 0.
  __device__ void load_ranges(std::uint32_t segment) {
    const std::uint32_t sides = p.shape.dims + 1;
    sync_block();
    for (std::uint32_t i = thread_number(); i < 2 * sides; i += threads_per_block()) {
      const std::uint32_t d = i % sides;
      if (p.segment_boxes != nullptr) {
        ranges()[i] = p.segment_boxes[std::uint64_t{segment} * 2 * sides + i];
      } else if (d == p.shape.dims) {
        ranges()[i] = i < sides ? T(0) : static_cast<T>(p.shape.geometry.points - 1);
      } else {
        const Key key = load_fresh(&p.sampled[i]);
        ranges()[i] = value_of_key<T>(i < sides ? static_cast<Key>(~key) : key);
      }
    }
    sync_block();
    bool is_wide = false;
    for (std::uint32_t d = 0; d < p.shape.dims; ++d) is_wide = is_wide || ranges()[sides + d] > ranges()[d];
    counts_numbers_ = !is_wide;
  }

  __device__ void clear_counters() {
    sync_block();
    for (std::uint32_t i = thread_number(); i < kCounters; i += threads_per_block()) counters()[i] = 0;
    sync_block();
  }

  __device__ void count_root_of(const SegmentSlice& slice) {
    for (std::uint32_t i = thread_number(); i < 2 * (p.shape.dims + 1); i += threads_per_block()) tight()[i] = 0;
    clear_counters();
    count_root(p, slice, counts_numbers_);
    sync_block();
  }

  /// Adds what this block counted to what all blocks count, two counters at a time: none reaches 2^32.
  __device__ void flush_histogram(std::uint32_t segment, std::uint32_t used) {
    auto* global = reinterpret_cast<std::uint64_t*>(p.histogram + std::uint64_t{segment} * kCounters);
    const auto* own = reinterpret_cast<const std::uint64_t*>(counters());
    for (std::uint32_t i = thread_number(); i < (used + 1) / 2; i += threads_per_block()) {
      if (own[i] != 0) atomic_add(&global[i], own[i]);
    }
  }
  __device__ void flush_tight(std::uint32_t segment) {
    Key* global = p.tight + std::uint64_t{segment} * 2 * (p.shape.dims + 1);
    for (std::uint32_t i = thread_number(); i < 2 * (p.shape.dims + 1); i += threads_per_block()) {
      if (tight()[i] != 0) atomic_max(&global[i], tight()[i]);
    }
  }

  /// The cells that this block lent to a long list. All blocks have met since.
  __device__ void clear_list_cells() {
    ListCells& cells = p.lists[block_number()];
    if (load_fresh(&cells.arrived) == 0) return;
    auto* words = reinterpret_cast<std::uint32_t*>(&cells);
    sync_block();
    for (std::uint32_t i = thread_number(); i < sizeof(ListCells) / 4; i += threads_per_block()) words[i] = 0;
    sync_block();
  }

  __device__ ParentNode parent_of(std::uint32_t number, std::uint32_t level) const {
    return {number >> (level - 1), (1u << (level - 1)) + (number & ((1u << (level - 1)) - 1)), level - 1};
  }
  __device__ CandidateList<T> list_of(const ParentNode& parent) const {
    const std::uint64_t first = first_place(p, parent.segment, parent.level, parent.heap);
    CandidateList<T> list;
    list.keys = p.keys + first;
    list.places = p.places + first;
    list.count = load_fresh(&p.nodes[std::uint64_t{parent.segment} * kHeap + parent.heap].candidates);
    return list;
  }

  /// Before the scatter: medians of the halves; after it: the rest of the points.
  template <typename Team>
  __device__ void resolve(const Team& team, const ParentNode& parent, const CandidateList<T>& list, std::uint32_t* rows,
                          std::uint32_t* counted_here) {
    if (parent.level + 1 < p.levels) {
      find_medians(p, team, parent, list, shared().select_histogram, rows, counted_here);
    } else {
      place_candidates(p, team, parent, list, shared().select_histogram);
    }
  }

  __device__ void resolve_together(std::uint32_t level) {
    const std::uint32_t parents = 1u << (p.first_level + level - 1), blocks = blocks_in_grid();
    if (parents <= blocks) {
      const std::uint32_t each = blocks / parents;
      const std::uint32_t number = block_number() / each;
      if (number >= parents) return;
      const ParentNode parent = parent_of(number, level);
      CandidateList<T> list = list_of(parent);
      if (list.count > kLongList && each > 1) {
        list.blocks = each;
        list.block = block_number() % each;
        list.shared = &p.lists[number * each];
      } else if (block_number() % each != 0) {
        return;
      }
      resolve(BlockTeam{&shared().cells}, parent, list, counters(), nullptr);
      return;
    }
    const std::uint32_t bins = bins_at(level, p.shape.dims, p.most_bins);
    std::uint32_t warps = threads_per_block() / kWarp;
    while (level < p.levels && warps * 2 * bins > kCounters) warps /= 2;
    if (warp_number() < warps) {
      for (std::uint32_t number = block_number() * warps + warp_number(); number < parents; number += blocks * warps) {
        const ParentNode parent = parent_of(number, level);
        const CandidateList<T> list = list_of(parent);
        if (list.count > kFew) continue;
        resolve(WarpTeam{&shared().warp_cells[warp_number()]}, parent, list, counters() + warp_number() * 2 * bins,
                nullptr);
      }
    }
    sync_block();
    for (std::uint32_t number = block_number(); number < parents; number += blocks) {
      const ParentNode parent = parent_of(number, level);
      const CandidateList<T> list = list_of(parent);
      if (list.count > kFew) resolve(BlockTeam{&shared().cells}, parent, list, counters(), nullptr);
    }
  }

  __device__ void resolve_alone(std::uint32_t level, std::uint32_t segment) {
    const std::uint32_t parents = 1u << (level - 1), bins = bins_at(level, p.shape.dims, p.most_bins);
    const auto counted = [&](std::uint32_t i) { return counters() + std::size_t{i} * 4 * bins; };
    for (std::uint32_t i = warp_number(); i < parents; i += threads_per_block() / kWarp) {
      const ParentNode parent{segment, parents + i, level - 1};
      const CandidateList<T> list = list_of(parent);
      if (list.count <= kFew) {
        resolve(WarpTeam{&shared().warp_cells[warp_number()]}, parent, list, nullptr, counted(i));
      }
    }
    sync_block();
    for (std::uint32_t i = 0; i < parents; ++i) {
      const ParentNode parent{segment, parents + i, level - 1};
      const CandidateList<T> list = list_of(parent);
      if (list.count > kFew) resolve(BlockTeam{&shared().cells}, parent, list, nullptr, counted(i));
    }
    sync_block();
  }

  __device__ static GroupShared<T>& shared() { return group_shared<T>(); }
  __device__ static std::uint32_t* counters() { return group_counters<T>(); }
  __device__ static T* ranges() { return group_ranges<T>(); }
  __device__ Key* tight() const { return group_tight<T>(p.shape.dims); }

  const GroupParameters<T>& p;
  bool counts_numbers_ = false;
  std::uint32_t meetings_ = 0;
  std::uint32_t stamps_ = 0;
};

template <typename T>
__global__ void __launch_bounds__(kGroupThreads, 1) split_group(const __grid_constant__ GroupParameters<T> parameters) {
  GroupWorker<T> worker(parameters);
  if ((1u << parameters.first_level) <= blocks_in_grid()) {
    worker.run_together();
  } else {
    worker.run_alone();
  }
}

}  // namespace kith::cuda
