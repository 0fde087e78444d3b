// Points in boxes, a warp per box: how many, then which, each list sorted where it lies.
#pragma once

#include "cuda/primitives/candidate_warp.cuh"
#include "cuda/kd_tree/search/warp/query_warp.cuh"

namespace kith::cuda {

/// Counts what is in a box, or writes it down.
template <bool kWrites>
class BoxCollector {
 public:
  __device__ explicit BoxCollector(std::uint32_t* numbers) : numbers_{numbers} {}

  __device__ void take(std::uint32_t number, bool is_taken) {
    const std::uint32_t taken = ballot(is_taken);
    if constexpr (kWrites) {
      if (is_taken) numbers_.put(count_ + count_bits(taken & ((1u << lane_number()) - 1)), number);
    }
    count_ += count_bits(taken);
  }
  /// That many more, without looking at them.
  __device__ void add(std::uint64_t points) { count_ += points; }
  __device__ std::uint64_t count() const { return count_; }
  __device__ void sort() {
    if constexpr (kWrites) sort_in_memory(numbers_, count_);
  }

 private:
  NumberEntries numbers_;
  std::uint64_t count_ = 0;
};

template <typename T, bool kWrites>
class BoxWalk {
 public:
  __device__ BoxWalk(const BoxTask<T>& task, std::uint64_t box, BoxCollector<kWrites>& collector)
      : task_(task),
        tree_(task.tree),
        lower_(task.lower + box * task.tree.dims),
        upper_(task.upper + box * task.tree.dims),
        end_(task.filter.end(0, box)),
        is_open_(task.filter.is_open()),
        collector_(collector),
        wide_(task.tree.geometry.levels) {}

  __device__ void run() {
    if (tree_.geometry.points == 0 || is_empty()) return;
    enter(0, 0);
    for (;;) {
      if (left_ == 0) {
        if (depth_ == 0) return;
        --depth_;
        group_ /= kWarp;
        left_ = shuffle(masks_, depth_);
        continue;
      }
      const std::uint32_t child = lowest_bit(left_);
      left_ &= left_ - 1;
      if (depth_ == wide_.last) {
        scan_leaf(group_ * kWarp + child, false);
      } else {
        if (lane_number() == depth_) masks_ = left_;
        enter(depth_ + 1, group_ * kWarp + child);
      }
    }
  }

 private:
  /// A lower face above the upper one, or NaN.
  __device__ bool is_empty() const {
    bool is_empty = false;
    for (std::uint32_t d = lane_number(); d < tree_.dims; d += kWarp) is_empty |= !(lower_[d] <= upper_[d]);
    return any_lane(is_empty);
  }

  __device__ void enter(std::uint32_t depth, std::uint64_t group) {
    depth_ = depth;
    group_ = group;
    const std::uint32_t level = wide_.child_level(depth);
    bool meets = lane_number() < wide_.children(depth), is_inside = meets;
    if (meets) {
      const std::uint64_t node = core::KdGeometry::node(level, group * kWarp + lane_number());
      meets = tree_.smallest[node] < end_;
      const T* low = tree_.lower(node);
      const T* high = low + tree_.dims;
      for (std::uint32_t d = 0; d < tree_.dims && meets; ++d) {
        meets = !(high[d] < lower_[d] || upper_[d] < low[d]);
        is_inside = is_inside && lower_[d] <= low[d] && high[d] <= upper_[d];
      }
      is_inside = is_inside && meets;
    }
    std::uint32_t inside = ballot(is_inside);
    left_ = ballot(meets && !is_inside);
    const std::uint32_t below = tree_.geometry.levels - level;  // levels down to the leaves
    for (; inside != 0; inside &= inside - 1) {
      const std::uint64_t j = group * kWarp + lowest_bit(inside);
      if (!kWrites && is_open_) {
        collector_.add(tree_.geometry.first(level, j + 1) - tree_.geometry.first(level, j));
      } else {
        for (std::uint64_t leaf = j << below; leaf < (j + 1) << below; ++leaf) scan_leaf(leaf, true);
      }
    }
  }

  __device__ void scan_leaf(std::uint64_t number, bool is_whole) {
    const SearchLeaf<T> leaf = tree_.leaf(number);
    for (std::uint32_t first = 0; first < leaf.count; first += kWarp) {
      const std::uint32_t i = first + lane_number();
      bool is_taken = i < leaf.count;
      std::uint32_t point = kNoPoint;
      if (is_taken && !is_whole) {
        for (std::uint32_t d = 0; d < tree_.dims && is_taken; ++d) {
          const T value = leaf.values[std::uint64_t{d} * leaf.count + i];
          is_taken = lower_[d] <= value && value <= upper_[d];
        }
      }
      if (is_taken) {
        point = leaf.numbers[i];
        is_taken = is_open_ || task_.filter.admits(kNoPoint, end_, point);
      }
      collector_.take(point, is_taken);
    }
  }

  const BoxTask<T>& task_;
  const SearchTree<T>& tree_;
  const T* lower_;
  const T* upper_;
  std::uint32_t end_;
  bool is_open_;
  BoxCollector<kWrites>& collector_;
  WideTree wide_;
  std::uint32_t depth_ = 0;
  std::uint64_t group_ = 0;
  std::uint32_t left_ = 0;
  std::uint32_t masks_ = 0;  ///< lane d has what is left at depth d
};

template <typename T, bool kWrites>
__global__ void __launch_bounds__(kSearchThreads) boxes_by_warps(const __grid_constant__ BoxTask<T> task) {
  for (std::uint64_t box = search_warp(); box < task.count; box += search_warps()) {
    BoxCollector<kWrites> collector(kWrites ? task.indices + (task.starts[box] - task.starts_base) : nullptr);
    BoxWalk<T, kWrites>(task, box, collector).run();
    collector.sort();
    if (!kWrites && lane_number() == 0) task.counts[box] = static_cast<std::uint32_t>(collector.count());
  }
}

}  // namespace kith::cuda
