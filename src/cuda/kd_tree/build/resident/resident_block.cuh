// A block of the cluster that splits the upper levels of a small set: its points and its shared memory.
#pragma once

#include "cuda/kd_tree/build/resident/resident_group.hpp"
#include "cuda/kd_tree/build/team.cuh"
#include "cuda/primitives/intrinsics.cuh"

namespace kith::cuda {

/// What a block knows of a point: its node, and whether it is still undecided on which side of the node's split it
/// lies. Decided points carry the number of the half.
inline constexpr std::uint32_t kUndecided = 0x80;

template <typename T>
struct ResidentBlock {
  using Key = OrderedKey<T>;

  const ResidentGroup<T>& p;
  std::uint32_t dims;
  std::uint32_t begin, count;  ///< the place of its first point, and how many it has
  std::uint32_t turn = 0;      ///< which of the histograms is counted in

  __device__ __forceinline__ explicit ResidentBlock(const ResidentGroup<T>& group) : p(group), dims(group.shape.dims) {
    const auto points = static_cast<std::uint32_t>(p.shape.geometry.points);
    begin = points * block_number() / p.blocks;
    count = points * (block_number() + 1) / p.blocks - begin;
  }

  // Where things lie in shared memory; kept in no register.
  using Layout = ResidentLayout<T>;
  __device__ __forceinline__ std::uint32_t* sums() const { return shared<std::uint32_t>(Layout::sums); }
  __device__ __forceinline__ std::uint32_t* child_counts() const { return shared<std::uint32_t>(Layout::child_counts); }
  __device__ __forceinline__ std::uint32_t* child_starts() const { return shared<std::uint32_t>(Layout::child_starts); }
  __device__ __forceinline__ std::uint32_t* child_places() const { return shared<std::uint32_t>(Layout::child_places); }
  __device__ __forceinline__ Key* extremes() const { return shared<Key>(Layout::extremes); }
  __device__ __forceinline__ std::uint16_t* positions() const { return shared<std::uint16_t>(Layout::positions); }
  __device__ __forceinline__ std::uint16_t* bins() const { return shared<std::uint16_t>(Layout{p.capacity}.bins()); }
  __device__ __forceinline__ std::uint8_t* states() const { return shared<std::uint8_t>(Layout{p.capacity}.states()); }
  __device__ __forceinline__ T* values() const { return shared<T>(Layout{p.capacity}.values()); }
  /// Nodes of a level. Those of the level above are still there.
  __device__ __forceinline__ ResidentNode<T>* nodes(std::uint32_t level) const {
    return shared<ResidentNode<T>>(Layout::nodes) + level % 2 * kMostResidentNodes;
  }
  /// The box of node j of a level: lower sides, then upper ones.
  __device__ __forceinline__ T* box(std::uint32_t level, std::uint32_t j) const {
    return shared<T>(Layout::boxes) + (level % 2 * kMostResidentChildren + j) * 2 * dims;
  }
  __device__ __forceinline__ T value(std::uint32_t slot, std::uint32_t d) const {
    return values()[d * p.capacity + slot];
  }
  __device__ __forceinline__ std::uint32_t place(std::uint32_t slot) const { return begin + slot; }
  __device__ __forceinline__ std::uint32_t first(std::uint32_t level, std::uint32_t j) const {
    return static_cast<std::uint32_t>(p.shape.geometry.first(level, j));
  }
  /// Coordinate d of a point, or its number for dimension `dims`.
  __device__ __forceinline__ Key key(std::uint32_t slot, std::uint32_t d) const {
    return d < dims ? ordered_key(value(slot, d)) : static_cast<Key>(p.source.index(place(slot))) + 1;
  }
  /// The dimension that component `component` of the super-key of dimension `dim` is.
  __device__ __forceinline__ std::uint32_t axis(std::uint32_t dim, std::uint32_t component) const {
    return component >= dims ? dims : dim + component < dims ? dim + component : dim + component - dims;
  }
  __device__ __forceinline__ std::uint32_t* histogram(std::uint32_t which) const {
    return p.histograms + which * p.counters;
  }
  /// Clears this block's share of a histogram.
  __device__ __forceinline__ void clear_histogram(std::uint32_t which) const {
    auto* pairs = reinterpret_cast<std::uint64_t*>(histogram(which));
    for (std::uint32_t i = block_number() * kResidentThreads + thread_number(); i < p.counters / 2;
         i += p.blocks * kResidentThreads) {
      pairs[i] = 0;
    }
  }

 private:
  template <typename V>
  __device__ __forceinline__ static V* shared(std::uint32_t at) {
    return reinterpret_cast<V*>(shared_memory() + at);
  }
};

}  // namespace kith::cuda
