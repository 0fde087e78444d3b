// See build.hpp. Each node puts its middle in place by selection. The nodes of the top levels run in parallel level by
// level, then every subtree is a task.
#include "cpu/kd_tree/build.hpp"

#include "core/dispatch.hpp"
#include "cpu/kd_tree/select.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <limits>

namespace kith::cpu {
namespace {

/// The box that decides a node's split: tight every kTightBoxEvery levels, cut in between. Lower sides first, then
/// upper.
template <typename T>
using SplitBox = std::vector<T>;

template <typename T, typename Access>
class Builder {
 public:
  using Record = typename Access::Record;

  Builder(KdTree<T>& tree, Access access, int threads) : tree_(tree), access_(access), threads_(threads) {}

  /// `make_record(i)` gives the record of point i.
  template <typename MakeRecord>
  void run(const ProgressCallback* progress, MakeRecord&& make_record) {
    const core::KdGeometry& geometry = tree_.geometry;
    records_.resize(geometry.points);
    constexpr std::uint64_t kBlock = 1 << 16;
    runtime::parallel_for((geometry.points + kBlock - 1) / kBlock, {.threads = threads_}, [&](std::uint64_t block) {
      const std::uint64_t end = std::min(geometry.points, (block + 1) * kBlock);
      for (std::uint64_t i = block * kBlock; i < end; ++i) records_[i] = make_record(i);
    });
    std::uint32_t level = 0;
    std::vector<SplitBox<T>> boxes(1, SplitBox<T>(2 * tree_.dims));
    for (; level < std::min(geometry.levels, kTopLevels); ++level) {
      std::vector<SplitBox<T>> next(2 * boxes.size());
      runtime::parallel_for(boxes.size(), {.threads = threads_}, [&](std::uint64_t j) {
        next[2 * j] = next[2 * j + 1] = boxes[j];
        split_node(level, j, boxes[j].data(), next[2 * j].data(), next[2 * j + 1].data());
      });
      boxes = std::move(next);
    }
    const std::uint32_t below = geometry.levels - level;
    runtime::parallel_for(boxes.size(), {.threads = threads_, .stage = "building", .progress = progress},
                          [&](std::uint64_t j) {
                            std::vector<T> scratch((below + 1) * 2 * 2 * tree_.dims);
                            build_subtree(level, j, boxes[j].data(), scratch.data());
                          });
    while (level-- > 0) {
      for (std::uint64_t j = 0; j < (std::uint64_t{1} << level); ++j) join_children(level, j);
    }
  }

 private:
  static constexpr std::uint32_t kTopLevels = 6;

  Record* record(std::uint64_t i) { return records_.data() + i; }

  /// Selects the middle, notes the split, cuts the boxes of the children, which start as copies of the node's own.
  void split_node(std::uint32_t level, std::uint64_t j, T* box, T* left, T* right) {
    const core::KdGeometry& geometry = tree_.geometry;
    Record* first = record(geometry.first(level, j));
    Record* last = record(geometry.first(level, j + 1));
    Record* middle = record(geometry.first(level + 1, 2 * j + 1));
    if (level % core::kTightBoxEvery == 0) {
      tighten(first, last, box);
      std::copy_n(box, 2 * tree_.dims, left);
      std::copy_n(box, 2 * tree_.dims, right);
    }
    const std::uint32_t d = widest_side(box);
    select_record(access_, first, middle, last, d);
    const T value = middle == last ? box[tree_.dims + d] : access_.at(*middle, d);  // empty only in leaves of one point
    tree_.split_dims[core::KdGeometry::node(level, j)] = static_cast<std::uint16_t>(d);
    tree_.split_values[core::KdGeometry::node(level, j)] = value;
    left[tree_.dims + d] = value;
    right[d] = value;
  }

  /// Ties go to the lowest dimension.
  std::uint32_t widest_side(const T* box) const {
    std::uint32_t widest = 0;
    T extent = box[tree_.dims] - box[0];
    for (std::uint32_t d = 1; d < tree_.dims; ++d) {
      const T side = box[tree_.dims + d] - box[d];
      if (side > extent) {
        extent = side;
        widest = d;
      }
    }
    return widest;
  }

  void tighten(const Record* first, const Record* last, T* box) const {
    const std::uint32_t dims = access_.dims();
    std::fill_n(box, dims, std::numeric_limits<T>::infinity());
    std::fill_n(box + dims, dims, -std::numeric_limits<T>::infinity());
    for (const Record* r = first; r != last; ++r) {
      for (std::uint32_t d = 0; d < dims; ++d) {
        const T x = access_.at(*r, d);
        box[d] = x < box[d] ? x : box[d];
        box[dims + d] = x > box[dims + d] ? x : box[dims + d];
      }
    }
  }

  /// `scratch` holds two boxes for this level and each one below.
  void build_subtree(std::uint32_t level, std::uint64_t j, T* box, T* scratch) {
    if (level == tree_.geometry.levels) {
      write_leaf(j);
      return;
    }
    const std::uint32_t values = 2 * tree_.dims;
    T* left = scratch;
    T* right = scratch + values;
    std::copy_n(box, values, left);
    std::copy_n(box, values, right);
    split_node(level, j, box, left, right);
    build_subtree(level + 1, 2 * j, left, scratch + 2 * values);
    build_subtree(level + 1, 2 * j + 1, right, scratch + 2 * values);
    join_children(level, j);
  }

  /// Points in index order, coordinate by coordinate; a tight box.
  void write_leaf(std::uint64_t leaf) {
    const core::KdGeometry& geometry = tree_.geometry;
    const std::uint32_t dims = tree_.dims, width = tree_.width, size = tree_.leaf_count(leaf);
    Record* first = record(geometry.first(geometry.levels, leaf));
    std::sort(first, first + size,
              [&](const Record& a, const Record& b) { return access_.index_of(a) < access_.index_of(b); });
    T* values = tree_.values.data() + leaf * dims * width;
    std::uint32_t* indices = tree_.indices.data() + leaf * width;
    for (std::uint32_t i = 0; i < size; ++i) {
      for (std::uint32_t d = 0; d < dims; ++d) values[d * width + i] = access_.at(first[i], d);
      indices[i] = access_.index_of(first[i]);
    }
    std::fill(indices + size, indices + width, kNoPoint);
    const std::uint64_t node = core::KdGeometry::node(geometry.levels, leaf);
    tighten(first, first + size, tree_.boxes.data() + node * 2 * dims);
    tree_.smallest[node] = indices[0];
  }

  void join_children(std::uint32_t level, std::uint64_t j) {
    const std::uint64_t node = core::KdGeometry::node(level, j), left = 2 * node + 1, right = left + 1;
    T* box = tree_.boxes.data() + node * 2 * tree_.dims;
    for (std::uint32_t d = 0; d < tree_.dims; ++d) {
      box[d] = std::min(tree_.lower(left)[d], tree_.lower(right)[d]);
      box[tree_.dims + d] = std::max(tree_.upper(left)[d], tree_.upper(right)[d]);
    }
    tree_.smallest[node] = std::min(tree_.smallest[left], tree_.smallest[right]);
  }

  KdTree<T>& tree_;
  Access access_;
  int threads_;
  std::vector<Record> records_;
};

}  // namespace

template <typename T>
KdTree<T> build_kd_tree(const T* rows, std::uint64_t count, std::uint32_t dims, const KdBuildOptions& options) {
  KdTree<T> tree;
  tree.geometry = core::KdGeometry::of(count, options.leaf_size);
  tree.dims = dims;
  tree.leaf_size = options.leaf_size;
  const std::uint64_t fullest = std::max<std::uint64_t>(1, tree.geometry.most_per_leaf());
  tree.width =
      static_cast<std::uint32_t>((fullest + options.vector_lanes - 1) / options.vector_lanes) * options.vector_lanes;
  const std::uint64_t leaves = tree.geometry.leaves();
  tree.values.resize(leaves * dims * tree.width);
  tree.indices.resize(leaves * tree.width);
  tree.split_dims.resize(leaves - 1);
  tree.split_values.resize(leaves - 1);
  tree.boxes.resize(tree.geometry.nodes() * 2 * dims);
  tree.smallest.resize(tree.geometry.nodes());
  core::visit_dims(dims, [&](auto constant_dims) {
    constexpr std::uint32_t D = constant_dims.value;
    if constexpr (D == core::kRuntimeDims) {
      Builder<T, IndexRecords<T>>(tree, {rows, dims}, options.threads).run(options.progress, [](std::uint64_t i) {
        return static_cast<std::uint32_t>(i);
      });
    } else {
      using Access = PointRecords<T, D>;
      Builder<T, Access>(tree, {}, options.threads).run(options.progress, [rows](std::uint64_t i) {
        typename Access::Record record;
        std::copy_n(rows + i * D, D, record.x.begin());
        record.index = static_cast<std::uint32_t>(i);
        return record;
      });
    }
  });
  return tree;
}

template KdTree<float> build_kd_tree(const float*, std::uint64_t, std::uint32_t, const KdBuildOptions&);
template KdTree<double> build_kd_tree(const double*, std::uint64_t, std::uint32_t, const KdBuildOptions&);

}  // namespace kith::cpu
