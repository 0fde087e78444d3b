// What every builder of the k-d tree shares: the order of the work, the splits, the boxes and the leaves.
//
// How the points of a node get to its children is up to a `Method`:
//   bool splits_level(level)                  whether split_level takes this level, with all threads
//   void split_level(level, boxes, next)      splits all nodes of a level; `next` are the boxes of their children
//   void end_levels()                         gives back what only split_level needs
//   access()                                  the coordinates and indices of the records of leaves
//   Task(method, level, j)                    builds the subtree of node j on one thread; places are those of the tree:
//     void tighten(begin, end, box)             the exact box of the points of a node
//     T split(level, begin, middle, end, d, box)  splits a node; the value of x_d at `middle`, which is below `end`
//     const Record* leaf(begin, end)            the points of a leaf in any order
#pragma once

#include "core/kd_geometry.hpp"
#include "cpu/kd_tree/build.hpp"
#include "cpu/kd_tree/leaf_order.hpp"
#include "runtime/large_buffer.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"
#include "split/split_parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace kith::cpu {

/// The memory of a tree that was built here.
template <typename T>
struct KdStorage {
  runtime::LargeBuffer blocks;
  std::vector<std::uint16_t> split_dims;
  std::vector<T> split_values;
  runtime::LargeBuffer boxes, smallest;
};

/// -0 counts as +0 and is not to be seen in what the builder derives.
template <typename T>
T without_sign_of_zero(T value) {
  return value + T(0);
}

/// The least and the greatest of some numbers, by vectors of the compiler: in a leaf every second one is a new extreme,
/// which branches would pay for.
template <typename T>
std::pair<T, T> extremes(const T* values, std::size_t count) {
  typedef T Lanes __attribute__((vector_size(16)));
  constexpr std::size_t kLanes = 16 / sizeof(T);
  T low = std::numeric_limits<T>::infinity(), high = -low;
  if (count < kLanes) {
    for (std::size_t i = 0; i < count; ++i) {
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
    return {low, high};
  }
  const auto load = [&](std::size_t i) {
    Lanes lanes;
    __builtin_memcpy(&lanes, values + i, sizeof(lanes));
    return lanes;
  };
  Lanes lows = load(count - kLanes), highs = lows;  // the last ones, some of them twice
  for (std::size_t i = 0; i + kLanes < count; i += kLanes) {
    const Lanes lanes = load(i);
    lows = lanes < lows ? lanes : lows;
    highs = lanes > highs ? lanes : highs;
  }
  for (std::size_t i = 0; i < kLanes; ++i) {
    low = std::min(low, lows[i]);
    high = std::max(high, highs[i]);
  }
  return {low, high};
}

/// A tree while it is built. A box is the lower, then the upper ends of its sides.
template <typename T>
class TreeFrame {
 public:
  TreeFrame(KdTree<T>& tree, KdStorage<T>& storage, const KdBuildOptions& options)
      : tree_(tree), storage_(storage), options_(options), threads_(runtime::resolve_threads(options.threads)) {}

  const core::KdGeometry& geometry() const { return tree_.geometry; }
  std::uint32_t dims() const { return tree_.dims; }
  std::uint32_t leaf_size() const { return tree_.leaf_size; }
  int threads() const { return threads_; }
  /// Where the blocks of the leaves go; until then free to use.
  std::byte* blocks() { return storage_.blocks.data(); }

  static constexpr std::uint32_t kTopLevels = 6;
  static constexpr std::uint64_t kTaskPoints = 1024;  ///< a subtree of fewer is not worth a task
  /// Whether the nodes of a level are too large or too few to be a task each.
  bool is_top(std::uint32_t level) const { return is_top(level, geometry().points); }
  static bool is_top(std::uint32_t level, std::uint64_t points) {
    return level < kTopLevels && points >> level > kTaskPoints;
  }

  /// The dimension that a node of this level and box splits; ties go to the lowest.
  std::uint32_t split_dim(std::uint32_t level, const T* box) const {
    if (tree_.cycles) return level % dims();
    std::uint32_t widest = 0;
    T extent = box[dims()] - box[0];
    for (std::uint32_t d = 1; d < dims(); ++d) {
      const T side = box[dims() + d] - box[d];
      if (side > extent) {
        extent = side;
        widest = d;
      }
    }
    return widest;
  }

  void note_split(std::uint32_t level, std::uint64_t j, std::uint32_t d, T value) {
    storage_.split_dims[core::KdGeometry::node(level, j)] = static_cast<std::uint16_t>(d);
    storage_.split_values[core::KdGeometry::node(level, j)] = without_sign_of_zero(value);
  }

  /// Notes the split of a node and cuts its box for the children, whose boxes lie side by side.
  void cut(std::uint32_t level, std::uint64_t j, std::uint32_t d, T value, const T* box, T* children) {
    value = without_sign_of_zero(value);
    note_split(level, j, d, value);
    std::copy_n(box, 2 * dims(), children);
    std::copy_n(box, 2 * dims(), children + 2 * dims());
    children[dims() + d] = value;
    children[2 * dims() + d] = value;
  }

  /// Splits a node by a Task, or by anything that splits like one.
  template <typename Splitter>
  void split_node(std::uint32_t level, std::uint64_t j, T* box, T* children, Splitter& splitter) {
    const std::uint64_t begin = geometry().first(level, j), end = geometry().first(level, j + 1);
    const std::uint64_t middle = geometry().first(level + 1, 2 * j + 1);
    if (level % core::kTightBoxEvery == 0) splitter.tighten(begin, end, box);
    const std::uint32_t d = split_dim(level, box);
    // An empty right half, which only leaves of one point know, has no value of its own.
    cut(level, j, d, middle == end ? box[dims() + d] : splitter.split(level, begin, middle, end, d, box), box,
        children);
  }

  /// Calls split_one(j, threads) for the nodes of a level: while they are few and large one after the other, each on
  /// all threads, else side by side.
  template <typename SplitOne>
  void for_nodes(std::uint32_t level, const SplitOne& split_one) const {
    const std::uint64_t nodes = std::uint64_t{1} << level;
    const bool are_large = split::is_split_in_parallel(geometry().points >> level);
    if (are_large && nodes < 2 * static_cast<std::uint64_t>(threads_)) {
      for (std::uint64_t j = 0; j < nodes; ++j) split_one(j, threads_);
    } else {
      const double points_each = static_cast<double>(geometry().points) / static_cast<double>(nodes);
      runtime::parallel_for(nodes,
                            {.threads = threads_, .nanoseconds_per_task = points_each * split::kSplitNanoseconds},
                            [&](std::uint64_t j) { split_one(j, 1); });
    }
  }

  template <typename Method>
  void run(Method& method) {
    const std::uint32_t values = 2 * dims();
    std::uint32_t level = 0;
    std::vector<T> boxes(values);
    for (; level < geometry().levels && method.splits_level(level); ++level) {
      std::vector<T> next(2 * boxes.size());
      method.split_level(level, boxes.data(), next.data());
      boxes = std::move(next);
    }
    method.end_levels();
    allocate_boxes();
    const std::uint64_t nodes = std::uint64_t{1} << level;
    const std::uint32_t below = geometry().levels - level;
    const double points_each = static_cast<double>(geometry().points) / static_cast<double>(nodes);
    runtime::parallel_for(nodes,
                          {.threads = options_.threads,
                           .stage = "building",
                           .progress = options_.progress,
                           .nanoseconds_per_task = points_each * (below + 1) * split::kSplitNanoseconds},
                          [&](std::uint64_t j) {
                            Subtree<Method> subtree(method, level, j, below, *this);
                            build_subtree(level, j, boxes.data() + j * values, subtree.boxes.data(), subtree);
                          });
    join_above(level);
  }

  /// Late, when the storage of the top levels has been given back.
  void allocate_boxes() {
    storage_.boxes = runtime::LargeBuffer(geometry().nodes() * 2 * dims() * sizeof(T));
    storage_.smallest = runtime::LargeBuffer(geometry().nodes() * sizeof(std::uint32_t));
    tree_.boxes = boxes_ = storage_.boxes.template as<T>();
    tree_.smallest = smallest_ = storage_.smallest.template as<std::uint32_t>();
  }

  /// What a thread needs to write leaves.
  template <typename Access>
  struct LeafWriter {
    LeafWriter(const Access& of_records, std::uint32_t leaf_size)
        : access(of_records), order(leaf_size), records(leaf_size) {}

    Access access;
    LeafOrder order;
    std::vector<typename Access::Record> records;  ///< of one leaf
  };

  /// Points in index order, coordinate by coordinate; a tight box. The records may lie where the block goes.
  template <typename Access>
  void write_leaf(std::uint64_t leaf, const typename Access::Record* first, LeafWriter<Access>& writer) {
    const Access& access = writer.access;
    const std::uint32_t size = tree_.leaf_count(leaf);
    const std::uint64_t node = core::KdGeometry::node(geometry().levels, leaf);
    const std::uint64_t begin = geometry().first(geometry().levels, leaf);
    auto* copies = writer.records.data();
    for (std::uint32_t i = 0; i < size; ++i) {
      copies[i] = first[i];
      writer.order.set(i, access.index_of(first[i]));
    }
    const std::uint32_t* places = writer.order.places(size);

    std::byte* block = storage_.blocks.data() + begin * tree_.point_bytes;
    T* values = reinterpret_cast<T*>(block);
    auto* indices = reinterpret_cast<std::uint32_t*>(values + std::uint64_t{dims()} * size);
    for (std::uint32_t i = 0; i < size; ++i) {
      for (std::uint32_t d = 0; d < access.dims(); ++d) {
        values[std::uint64_t{d} * size + places[i]] = access.at(copies[i], d);
      }
      indices[places[i]] = access.index_of(copies[i]);
    }
    T* box = boxes_.data() + node * 2 * dims();
    for (std::uint32_t d = 0; d < dims(); ++d) {
      const auto [low, high] = extremes(values + std::uint64_t{d} * size, size);
      box[d] = without_sign_of_zero(low);
      box[dims() + d] = without_sign_of_zero(high);
    }
    std::byte* end = reinterpret_cast<std::byte*>(indices + size);
    std::memset(end, 0, static_cast<std::size_t>(block + std::uint64_t{size} * tree_.point_bytes - end));
    smallest_[node] = size == 0 ? core::kNoPoint : indices[0];
  }

  void join_children(std::uint32_t level, std::uint64_t j) {
    const std::uint64_t node = core::KdGeometry::node(level, j), left = 2 * node + 1, right = left + 1;
    T* box = boxes_.data() + node * 2 * dims();
    for (std::uint32_t d = 0; d < dims(); ++d) {
      box[d] = std::min(tree_.lower(left)[d], tree_.lower(right)[d]);
      box[dims() + d] = std::max(tree_.upper(left)[d], tree_.upper(right)[d]);
    }
    smallest_[node] = std::min(smallest_[left], smallest_[right]);
  }
  /// All nodes above a level.
  void join_above(std::uint32_t level) {
    while (level-- > 0) {
      for (std::uint64_t j = 0; j < (std::uint64_t{1} << level); ++j) join_children(level, j);
    }
  }
  const ProgressCallback* progress() const { return options_.progress; }

 private:
  static constexpr std::uint32_t kLevelsPerLook = 10;  ///< a subtree of so many levels takes some milliseconds

  /// What a thread needs to build a subtree.
  template <typename Method>
  struct Subtree {
    Subtree(Method& method, std::uint32_t level, std::uint64_t j, std::uint32_t levels, const TreeFrame& frame)
        : task(method, level, j), writer(method.access(), frame.leaf_size()), boxes((levels + 1) * 4 * frame.dims()) {}

    typename Method::Task task;
    LeafWriter<typename Method::Access> writer;
    std::vector<T> boxes;  ///< two for each level
  };

  /// `scratch` holds two boxes for this level and each one below.
  template <typename Method>
  void build_subtree(std::uint32_t level, std::uint64_t j, T* box, T* scratch, Subtree<Method>& subtree) {
    if (level == geometry().levels) {
      const std::uint64_t begin = geometry().first(level, j);
      return write_leaf(j, subtree.task.leaf(begin, geometry().first(level, j + 1)), subtree.writer);
    }
    if (geometry().levels - level == kLevelsPerLook) runtime::look_for_stop();
    const std::uint32_t values = 2 * dims();
    split_node(level, j, box, scratch, subtree.task);
    build_subtree(level + 1, 2 * j, scratch, scratch + 2 * values, subtree);
    build_subtree(level + 1, 2 * j + 1, scratch + values, scratch + 2 * values, subtree);
    join_children(level, j);
  }

  KdTree<T>& tree_;
  KdStorage<T>& storage_;
  std::span<T> boxes_;
  std::span<std::uint32_t> smallest_;
  KdBuildOptions options_;
  int threads_;
};

}  // namespace kith::cpu
