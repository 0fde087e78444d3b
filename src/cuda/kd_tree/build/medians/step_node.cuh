// What a block of a step has of its node: the node and its box in shared memory, a candidate for each thread, and the
// split if it is found among these.
#pragma once

#include "cuda/kd_tree/build/medians/node_samples.cuh"
#include "cuda/kd_tree/build/medians/select_candidate.cuh"
#include "cuda/kd_tree/build/medians/select_own.cuh"

namespace kith::cuda {

/// What a step can do before the kernel before has ended. The block must synchronise afterwards.
template <typename T>
__device__ __forceinline__ void begin_step(const GroupParameters<T>& p) {
  clear_own_bins();
  begin_samples<T>(p);
}

/// Copies an object word by word, with as many threads, beginning with thread `first`.
template <typename V>
__device__ __forceinline__ void copy_words(V* to, const V* from, std::uint32_t count, std::uint32_t first) {
  const std::uint32_t words = count * static_cast<std::uint32_t>(sizeof(V) / 4);
  const std::uint32_t i =
      thread_number() >= first ? thread_number() - first : thread_number() + threads_per_block() - first;
#pragma unroll 1
  for (std::uint32_t w = i; w < words; w += threads_per_block()) {
    reinterpret_cast<std::uint32_t*>(to)[w] = reinterpret_cast<const std::uint32_t*>(from)[w];
  }
}

/// What a block knows of its node, in shared memory.
template <typename T>
struct StepNode {
  SplitNode<T>* node;
  CountedBins* counted;  ///< of the two halves
  const T* box;
  T* halves;  ///< room for their boxes, one after the other
  std::uint32_t* rows;

  __device__ __forceinline__ StepNode(const GroupParameters<T>& p, const StepTask& task, std::uint32_t counters) {
    const std::uint32_t sides = 2 * (p.shape.dims + 1);
    const StepLayout<T> layout(p.shape.dims, counters, p.sample_shift > 0, threads_per_block());
    node = &step_node<T>();
    counted = reinterpret_cast<CountedBins*>(shared_memory() + layout.counted);
    rows = reinterpret_cast<std::uint32_t*>(shared_memory() + layout.rows);
    if (p.shape.dims <= kStagedDims) {
      T* boxes = reinterpret_cast<T*>(shared_memory() + layout.boxes);
      box = boxes;
      halves = boxes + sides;
    } else {
      box = box_of(p, task.segment, task.heap);
      halves = box_of(p, task.segment, 2 * task.heap);
    }
  }
};

/// The node and its box, to shared memory.
template <typename T>
__device__ __forceinline__ void fetch_node(const GroupParameters<T>& p, const StepTask& task,
                                           const StepNode<T>& known) {
  copy_words(known.node, &p.nodes[std::uint64_t{task.segment} * kHeap + task.heap], 1, 0);
  if (p.shape.dims > kStagedDims) return;
  copy_words(const_cast<T*>(known.box), box_of(p, task.segment, task.heap), 2 * (p.shape.dims + 1), kWarp);
}

/// The candidate of a thread, if the list has one for it.
template <typename T>
struct OwnCandidate {
  OrderedKey<T> key = 0;
  std::uint32_t place = 0;
  T values[kOwnDims] = {};  ///< if they are fetched
};

/// Fetches the first of `count` candidates, one for each thread, without their coordinates. `needed`: those of a last
/// level that go left.
template <bool kIsLast, typename T>
__device__ __forceinline__ OwnCandidate<T> fetch_candidate(const GroupParameters<T>& p, const StepTask& task,
                                                           std::uint32_t count, std::uint32_t needed = 0) {
  OwnCandidate<T> own;
  if (thread_number() >= count) return own;
  const std::uint32_t entry = ListEntries<kIsLast>(p, task.segment, task.level, task.heap, needed)(thread_number());
  own.key = p.keys[entry];
  own.place = listed_places<kIsLast>(p)[entry];
  return own;
}

/// Fetches the coordinates of the candidate of this thread, if there is one.
template <typename T>
__device__ __forceinline__ void fetch_coordinates(const GroupParameters<T>& p, const StepTask& task,
                                                  OwnCandidate<T>& own) {
  if (thread_number() >= task.count) return;
#pragma unroll
  for (std::uint32_t d = 0; d < kOwnDims; ++d) {
    if (d < p.shape.dims) own.values[d] = p.source.at(own.place, d);
  }
}
/// And its number.
template <typename T>
__device__ __forceinline__ std::uint32_t number_of(const GroupParameters<T>& p, const StepTask& task,
                                                   const OwnCandidate<T>& own) {
  return thread_number() < task.count ? p.source.index(own.place) : 0;
}

/// To where those of all threads are ranked; of many, a few that are left are gathered elsewhere later.
template <typename T>
__device__ __forceinline__ void store_candidate(const GroupParameters<T>& p, const OwnCandidate<T>& own) {
  if (thread_number() == 0) step_shared().few = 0;
  const StoredCandidates<T> stored(p);
  stored.keys[thread_number()] = own.key;
  stored.places[thread_number()] = own.place;
}

/// Finds the split of a node with no more candidates than there are threads, if no others are equal to it. Synchronises
/// the block.
template <typename T>
__device__ __forceinline__ bool find_clear_split(const GroupParameters<T>& p, const StepTask& task,
                                                 const OwnCandidate<T>& own) {
  const SplitNode<T>& node = step_node<T>();
  if (node.are_equal() && thread_number() == 0) step_shared().split_first = ordered_key(node.scale.low);
  if (is_ranked_at_once(task)) {
    const StoredCandidates<T> stored(p);
    rank_all_pairs(stored.keys, stored.places, task.count, node.needed, task.stage);
    sync_block();
  } else if (is_binned_at_once<T>(task)) {
    rank_own_bins(p, task, own.key);
  } else {
    return false;
  }
  return step_shared().split_equal == 1;
}

/// Notes a split in the tree. The work of one thread.
template <typename T>
__device__ __forceinline__ void note_split(const GroupParameters<T>& p, const StepTask& task, const StepNode<T>& known,
                                           const Selected<T>& split) {
  const std::uint32_t noted = noted_dim(p, task.level, task.dim);
  const std::uint64_t number = core::KdGeometry::node(
      p.first_level + task.level, (std::uint64_t{task.segment} << task.level) + (task.heap - (1u << task.level)));
  p.tree.split_dims[number] = static_cast<std::uint16_t>(noted);
  // The box is a point if all are equal.
  p.tree.split_values[number] = task.dim < p.shape.dims ? split.value : known.box[noted];
  SplitNode<T>& node = p.nodes[std::uint64_t{task.segment} * kHeap + task.heap];
  node.split_place = split.place;
  node.split_value = split.value;
}

}  // namespace kith::cuda
