// The steps of a build and the memory that they need, before anything is allocated.
//
// Bytes per point at the peak, for D dims of T (3-D f32: 36): two copies of the points, D * T + 4 each (f64: + 8), of
// which one becomes the leaf blocks, and the boxes, splits and smallest numbers of the tree, about 4. All else lies in
// what is not written yet, as far as it fits. What is where, in the order of a group's kernels:
//
//   memory                     passes and medians             scatter                   candidates placed   finish
//   the copy that is read      points                         points                    points              points
//   the other: 1st coordinate  keys of candidates             points, keys of the last  points              blocks
//     2nd coordinate           places of candidates           points                    source places       blocks
//     other coordinates        cells of dims 3, 4, …          points                    points              blocks
//     numbers                  cells of the first two dims    points, places            points              blocks
//   boxes, smallest            node of each point (1), small  the same                  small               tree
//
// "small": histograms, nodes, samples ((D * T + 1) / 128) and bounds of tied points. They and the nodes of points get
// memory of their own where leaves are so large that boxes and numbers take less, and so do places in one dimension, 4.
#pragma once

#include "cuda/kd_tree/build/builders/builder_scratch.hpp"
#include "cuda/kd_tree/build/finish/finish.hpp"
#include "cuda/kd_tree/build/medians/step_layout.hpp"
#include "cuda/kd_tree/build/resident/resident_group.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/scratch_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cuda {

/// What a build must know of the GPU.
struct GpuLimits {
  std::uint32_t processors = 0;
  std::uint32_t shared_bytes = kMostSharedBytes;  ///< that a block may have
  /// Samples are taken of as many points, and segments. Of fewer candidates are few, and steps take longer than passes.
  std::uint64_t least_sampled = std::uint64_t{1} << 22;
  std::uint64_t least_in_segment = std::uint64_t{1} << 17;
  /// Scratch memory of as many points lies in what the finish writes; of fewer, clearing one more piece of memory takes
  /// a noticeable share of the build.
  std::uint64_t least_idle = std::uint64_t{1} << 18;
  std::uint32_t most_cluster = 0;  ///< blocks of a cluster, at most; 0: there are no clusters, no set is split by one
};

/// How many blocks work on each node of `parents`, if its list of candidates turns out to be long. More than one: all
/// blocks must be there at the same time.
inline std::uint32_t blocks_for_list(std::uint32_t parents, std::uint32_t processors) {
  constexpr std::uint32_t kLeast = 4, kMost = 128;  // fewer than four take as long to synchronise as they save
  const std::uint32_t each = processors / parents;
  return each < kLeast ? 1 : each < kMost ? each : kMost;
}

/// The scratch memory of a build.
template <typename T>
struct BuildScratch {
  std::vector<GroupParameters<T>> groups;  ///< without source, output and tree
  ResidentGroup<T> resident;               ///< instead of them, where points are few; the same. Else it has no blocks
  std::uint32_t* arrivals = nullptr;
  std::uint32_t* refused = nullptr;
  const T* cut_boxes = nullptr;     ///< of the subtrees that are finished
  std::vector<MemoryPiece> zeroed;  ///< what must be zero at the start
  std::uint64_t bytes = 0;          ///< of memory of its own
};

/// Coordinates of all boxes of the tree while it is built: some more than they are, so that what takes a whole number
/// of bytes per point fits where leaves are full.
inline std::uint64_t box_values(const TreeShape& shape) { return shape.geometry.nodes() * 2 * shape.dims + 64; }

/// Whether the node of each point, a byte, fits where the boxes of the tree will be.
template <typename T>
bool has_heap_in_boxes(const TreeShape& shape) {
  return shape.geometry.points <= box_values(shape) * sizeof(T);
}
/// What the finish writes, and nothing before it: idle until then, behind the nodes of points if these are there. Of
/// fewer points than `least_idle` it stays so.
template <typename T>
std::vector<MemoryPiece> idle_before_finish(const TreeShape& shape, const TreeArrays<T>& tree,
                                            std::uint64_t least_idle) {
  if (shape.geometry.points < least_idle) return {};
  const std::uint64_t boxes = box_values(shape) * sizeof(T);
  const std::uint64_t used =
      has_heap_in_boxes<T>(shape) ? std::min(boxes, (shape.geometry.points + 255) / 256 * 256) : 0;
  return {{tree.boxes == nullptr ? nullptr : reinterpret_cast<std::byte*>(tree.boxes) + used, boxes - used},
          {reinterpret_cast<std::byte*>(tree.smallest), shape.geometry.nodes() * sizeof(std::uint32_t)}};
}

/// In `memory` and the arrays of the tree; without them all is only counted.
template <typename T>
BuildScratch<T> lay_out_scratch(const TreeShape& shape, std::uint32_t top_level, const GpuLimits& limits,
                                std::byte* memory = nullptr, const TreeArrays<T>& tree = {}) {
  const std::uint32_t processors = limits.processors;
  constexpr std::uint32_t kBlocksPerProcessor = 2;  // in a pass
  constexpr std::uint32_t kWorthABlock = 1024;      // points that pay for clearing and adding up histograms
  ScratchParts kept(memory);                        // what the finish reads too, and what does not fit elsewhere
  IdleParts parts(idle_before_finish(shape, tree, limits.least_idle), kept);
  BuildScratch<T> scratch;
  const std::uint64_t points = shape.geometry.points, sides = std::uint64_t{shape.dims} + 1;
  scratch.refused = kept.take<std::uint32_t>(1);
  scratch.arrivals = kept.take<std::uint32_t>(std::uint64_t{1} << top_level);
  scratch.resident = plan_resident<T>(shape, top_level, limits.most_cluster, limits.shared_bytes);
  if (scratch.resident.blocks > 0) {
    scratch.resident.refused = scratch.refused;
    scratch.resident.arrivals = scratch.arrivals;
    lay_out_resident(scratch.resident, kept);
    scratch.cut_boxes = scratch.resident.child_boxes;
    scratch.bytes = kept.bytes();
    return scratch;
  }
  const bool has_tables = shape.dims <= kTabledDims;
  std::uint32_t* table_counts = has_tables ? parts.take<std::uint32_t>(shape.dims) : nullptr;
  for (std::uint32_t level = 0; level < top_level;) {
    GroupParameters<T> group;
    group.shape = shape;
    group.first_level = level;
    group.levels = std::min(top_level - level, kMostGroupLevels);
    const std::uint64_t segments = std::uint64_t{1} << level, children = segments << group.levels;
    // Bins that hold but a few points each make longer work of the histograms than of the candidates.
    while (group.most_bins > 64 && group.most_bins > (points >> level) / 64) group.most_bins /= 2;
    const bool can_sample =
        shape.dims <= kSampledDims && points >= limits.least_sampled && (points >> level) >= limits.least_in_segment;
    const StepPlan steps = fit_steps<T>(shape.dims, {group.most_bins, can_sample}, limits.shared_bytes);
    group.most_bins = steps.most_bins;
    group.segment_counters = (shape.dims + 1) * bins_at(0, shape.dims, group.most_bins);
    for (std::uint32_t l = 1; l < group.levels; ++l) {
      group.segment_counters = std::max(group.segment_counters, (2u << l) * bins_at(l, shape.dims, group.most_bins));
    }
    group.segment_counters = (group.segment_counters + 3) / 4 * 4;  // vectors of 16 bytes fit
    const std::uint64_t fair = kBlocksPerProcessor * processors / segments,
                        worthwhile = (points >> level) / kWorthABlock;
    group.parts = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, std::min(fair, worthwhile)));
    // More counters than that take longer to add up than the candidates which they spare.
    group.uses_all_counters = (points >> level) / group.parts >= 2 * kCounters;
    group.child_sides = level + group.levels < top_level ? shape.dims + 1 : shape.dims;
    group.refused = scratch.refused;
    group.tight = parts.take<OrderedKey<T>>(segments * 2 * sides);
    group.table_counts = table_counts;
    if (has_tables) group.tied = kept.take<std::uint32_t>(segments);
    group.nodes = parts.take<SplitNode<T>>(segments * kHeap);
    if (group.parts > 1) group.histogram = parts.take<std::uint32_t>(segments * group.segment_counters);
    std::uint64_t lists = 0;
    for (std::uint32_t l = 0; l < group.levels; ++l) {
      const std::uint64_t nodes = segments << l, most = (points + nodes - 1) / nodes;
      if (most > kLongList && blocks_for_list(static_cast<std::uint32_t>(nodes), processors) > 1) lists += nodes;
    }
    group.lists = parts.take<ListCells>(lists);
    group.cursors = parts.take<std::uint32_t>(children * kCursorStride);
    constexpr std::uint64_t kLeastPerSample = 128;
    if (steps.has_samples) {
      while (kLeastPerSample >> group.sample_shift > 1) ++group.sample_shift;
      while ((points >> level >> group.sample_shift) + 2 > kSamples) ++group.sample_shift;
      group.samples = static_cast<std::uint32_t>(points >> level >> group.sample_shift) + 2;
      group.sample_heaps = parts.take<std::uint8_t>(segments * group.samples);
    }
    scratch.groups.push_back(group);
    level += group.levels;
  }
  if (top_level > 0) {
    scratch.zeroed = parts.used();
    scratch.zeroed.push_back({memory, kept.bytes()});
  }
  auto* heap = reinterpret_cast<std::uint8_t*>(tree.boxes);
  if (top_level > 0 && !has_heap_in_boxes<T>(shape)) heap = parts.take<std::uint8_t>(points);
  std::uint32_t* places = nullptr;  // where there is no second coordinate
  if (top_level > 0 && shape.dims == 1) places = parts.take<std::uint32_t>(points);
  T* tables = has_tables ? parts.take<T>(std::uint64_t{shape.dims} * kTableValues) : nullptr;
  const T *boxes = nullptr, *windows = nullptr;
  for (GroupParameters<T>& group : scratch.groups) {
    const std::uint64_t segments = std::uint64_t{1} << group.first_level, children = segments << group.levels;
    group.heap = heap;
    group.places = places;
    group.tables = tables;
    if (has_tables) {
      group.ties = parts.take<TiedCells<T>>(segments);
      group.tied_bounds = parts.take<TiedBounds<T>>(segments);
    }
    if (group.parts == 1) group.histogram = parts.take<std::uint32_t>(segments * group.segment_counters);
    group.counted = parts.take<CountedBins>(segments * kHeap);
    if (group.sample_shift > 0) {
      group.sample_values = parts.take<T>(segments * group.samples * shape.dims);
      group.uneven = parts.take<std::uint32_t>(segments);
    }
    group.boxes = parts.take<T>(segments * kHeap * 2 * sides);
    if (group.first_level == 0) boxes = group.root_range = parts.take<T>(2 * sides);
    group.segment_boxes = boxes;
    group.segment_windows = windows;
    const bool is_last = group.first_level + group.levels == top_level;
    group.child_boxes =
        is_last ? kept.take<T>(children * 2 * group.child_sides) : parts.take<T>(children * 2 * group.child_sides);
    if (group.sample_shift > 0 && group.child_sides > shape.dims) {
      group.child_windows = parts.take<T>(children * 2 * group.child_sides);
    }
    boxes = group.child_boxes;
    windows = group.child_windows;
  }
  scratch.cut_boxes = boxes;
  scratch.bytes = kept.bytes();
  return scratch;
}

/// What a build takes, wherever the points are. `shared_bytes`: that a block may have; with less, more levels are split
/// before the finish, which takes a little more.
template <typename T>
BuildMemory build_memory(const TreeShape& shape, std::uint32_t leaf_size, std::uint32_t shared_bytes, Builder builder) {
  GpuLimits limits{.processors = 132, .shared_bytes = shared_bytes};  // more or fewer make little difference
  const FinishPlan plan = plan_finish<T>(shape.geometry.points, shape.dims, leaf_size, shared_bytes);
  const std::uint64_t nodes = shape.geometry.nodes(), inner = shape.geometry.leaves() - 1;
  const std::uint64_t tree = inner * (2 + sizeof(T)) + nodes * (2 * shape.dims * sizeof(T) + 4);
  std::uint64_t scratch = 0;
  if (is_named(builder)) {
    scratch = lay_out_named(scratch_of_builder<T>(builder, shape), plan.top_level, nullptr).peak_bytes;
  } else {
    for (limits.most_cluster = 0; limits.most_cluster <= kMostCluster; limits.most_cluster += kMostCluster) {
      scratch = std::max(scratch, lay_out_scratch<T>(shape, plan.top_level, limits).bytes);
    }
  }
  const std::uint64_t slack = (box_values(shape) - nodes * 2 * shape.dims) * sizeof(T);
  return {tree + copy_bytes<T>(shape), tree + slack + 2 * copy_bytes<T>(shape) + scratch};
}

/// The group's scatter will write to a copy of the points; until then candidates and cells lie there.
template <typename T>
void write_to(GroupParameters<T>& group, std::byte* copy, const TreeArrays<T>& tree) {
  group.tree = tree;
  group.out_values = reinterpret_cast<T*>(copy);
  group.out_stride = column_stride(group.shape);
  group.keys = reinterpret_cast<OrderedKey<T>*>(group.out_values);
  if (group.shape.dims > 1) {
    group.places = reinterpret_cast<std::uint32_t*>(group.out_values + group.out_stride);
    group.place_words = sizeof(T) / sizeof(std::uint32_t);
  }
  group.out_indices = reinterpret_cast<std::uint32_t*>(group.out_values + group.out_stride * group.shape.dims);
  group.first_cells = reinterpret_cast<std::uint16_t*>(group.out_indices);
  group.other_cells = reinterpret_cast<std::uint16_t*>(group.out_values + 2 * group.out_stride);
  group.cell_stride = group.out_stride;
}

/// The same of a group whose points stay in shared memory.
template <typename T>
void write_to(ResidentGroup<T>& group, std::byte* copy, const TreeArrays<T>& tree) {
  group.tree = tree;
  group.out_values = reinterpret_cast<T*>(copy);
  group.out_stride = column_stride(group.shape);
  group.out_indices = reinterpret_cast<std::uint32_t*>(group.out_values + group.out_stride * group.shape.dims);
}

/// The finish of a build by a builder with a name. `blocks` receives the leaves.
template <typename T>
FinishParameters<T> finish_of_named(const NamedScratch& scratch, const FinishPlan& plan, const TreeShape& shape,
                                    const ArrangedPoints<T>& arranged, const TreeArrays<T>& tree, std::byte* blocks) {
  FinishParameters<T> last;
  last.shape = shape;
  last.top_level = plan.top_level;
  last.capacity = plan.capacity;
  last.is_staged = plan.is_staged;
  last.source = arranged.points;
  last.cut_boxes = tree.boxes + core::KdGeometry::node(plan.top_level, 0) * 2 * shape.dims;
  last.tree = tree;
  last.tree.blocks = blocks;
  last.arrivals = scratch.arrivals;
  last.refused = scratch.refused;
  last.is_arranged = arranged.has_leaves;
  return last;
}

/// Calls `split(parameters)` for each group, then `finish(parameters)`. Copy i % 2 is written by step i, so that points
/// which are to be read first may lie in copy 1; the result tells in which copy the leaf blocks are.
template <typename T, typename Split, typename Finish>
std::uint32_t run_build(const BuildScratch<T>& scratch, const FinishPlan& plan, const TreeShape& shape,
                        PointSource<T> source, std::byte* const (&copies)[2], TreeArrays<T> tree, Split&& split,
                        Finish&& finish) {
  std::uint32_t step = 0;
  const auto split_next = [&](auto group) {
    group.source = source;
    write_to(group, copies[step % 2], tree);
    split(group);
    source = {group.out_values, 1, group.out_stride, group.out_indices};
    ++step;
  };
  for (const GroupParameters<T>& group : scratch.groups) split_next(group);
  if (scratch.resident.blocks > 0) split_next(scratch.resident);
  FinishParameters<T> last;
  last.shape = shape;
  last.top_level = plan.top_level;
  last.capacity = plan.capacity;
  last.is_staged = plan.is_staged;
  last.source = source;
  last.cut_boxes = scratch.cut_boxes;
  last.tree = tree;
  last.tree.blocks = copies[step % 2];
  last.arrivals = scratch.arrivals;
  last.refused = scratch.refused;
  if (!scratch.groups.empty()) {
    last.tied = scratch.groups.back().tied;
    last.tied_levels = scratch.groups.back().levels;
  }
  if (scratch.resident.blocks > 0) {
    last.tied = scratch.resident.tied;
    last.tied_levels = scratch.resident.levels;
  }
  last.looks_for_bad = step == 0;
  finish(last);
  return step % 2;
}

}  // namespace kith::cuda
