// See build.hpp. Each node is split by split_records. The nodes of the top levels use all threads one after the other,
// then every subtree is a task. Up to 8 dims the records are sorted in the very memory of the leaf blocks.
//
// Points in the order of another tree are not split: a node here takes the subtree of a node there. The other tree has
// a point at each node, and these points fill the places that its smaller subtrees leave free.
#include "cpu/kd_tree/build.hpp"

#include "core/dispatch.hpp"
#include "cpu/kd_tree/leaf_order.hpp"
#include "runtime/large_buffer.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"
#include "split/split_parallel.hpp"
#include "split/split_records.hpp"

#include <algorithm>
#include <array>
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

namespace {

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

template <typename T, typename Access>
class TreeBuilder {
 public:
  using Record = typename Access::Record;

  TreeBuilder(KdTree<T>& tree, KdStorage<T>& storage, Access access, Record* records, const KdBuildOptions& options)
      : tree_(tree), storage_(storage), access_(access), records_(records), options_(options) {}

  /// `make_record(i)` gives the record of point i.
  template <typename MakeRecord>
  void run(MakeRecord&& make_record) {
    const core::KdGeometry& geometry = tree_.geometry;
    constexpr std::uint64_t kBlock = 1 << 16;
    runtime::parallel_for((geometry.points + kBlock - 1) / kBlock, {.threads = options_.threads},
                          [&](std::uint64_t block) {
                            const std::uint64_t end = std::min(geometry.points, (block + 1) * kBlock);
                            for (std::uint64_t i = block * kBlock; i < end; ++i) records_[i] = make_record(i);
                          });
    std::uint32_t level = 0;
    std::vector<std::vector<T>> boxes = split_top(level);
    allocate_boxes();
    const std::uint32_t below = geometry.levels - level;
    const double points_each = static_cast<double>(geometry.points) / static_cast<double>(boxes.size());
    runtime::parallel_for(boxes.size(),
                          {.threads = options_.threads,
                           .stage = "building",
                           .progress = options_.progress,
                           .nanoseconds_per_task = points_each * (below + 1) * split::kSplitNanoseconds},
                          [&](std::uint64_t j) {
                            Subtree task(tree_, below, geometry.first(level, j + 1) - geometry.first(level, j));
                            build_subtree(level, j, boxes[j].data(), task.boxes.data(), task);
                          });
    join_top(level);
  }

  /// The same from points in the order of a tree; `record_at(i)` gives the record of the one at place i.
  template <typename RecordAt>
  void run_in_order(const KdOrder<T>& order, const RecordAt& record_at) {
    const core::KdGeometry& geometry = tree_.geometry;
    allocate_boxes();
    std::uint32_t top = 0;
    while (top < std::min(geometry.levels, kTopLevels) && geometry.points >> top > kTaskPoints) ++top;
    std::vector<OrderedNode> nodes = {{.last = geometry.points}};
    for (std::uint32_t level = 0; level < top; ++level) {
      std::vector<OrderedNode> next;
      for (std::uint64_t j = 0; j < nodes.size(); ++j) {
        const auto [left, right] = split_in_order(order, level, j, nodes[j]);
        next.insert(next.end(), {left, right});
      }
      nodes = std::move(next);
    }
    runtime::parallel_for(nodes.size(),
                          {.threads = options_.threads, .stage = "building", .progress = options_.progress},
                          [&](std::uint64_t j) {
                            Subtree task(tree_, 0, 0);
                            arrange_subtree(order, record_at, top, j, nodes[j], task);
                          });
    join_top(top);
  }

 private:
  static constexpr std::uint32_t kTopLevels = 6;
  static constexpr std::uint64_t kTaskPoints = 1024;   ///< a subtree of fewer is not worth a task
  static constexpr std::uint32_t kLevelsPerLook = 10;  ///< a subtree of so many levels takes some milliseconds

  /// What a thread needs to build a subtree.
  struct Subtree {
    Subtree(const KdTree<T>& tree, std::uint32_t levels, std::uint64_t points)
        : boxes((levels + 1) * 2 * 2 * tree.dims), keys(2 * points), order(tree.leaf_size), records(tree.leaf_size) {}

    split::KeyStorage<T> storage() { return {keys.data(), keys.data() + keys.size() / 2, keys.size() / 2}; }

    std::vector<T> boxes;  ///< two for each level
    std::vector<T> keys;
    LeafOrder order;
    std::vector<Record> records;  ///< of one leaf
  };

  /// What a node takes of the other tree: the places [first, last) of a subtree, and some above it. Sizes of nodes on
  /// one level differ by one at most in both trees, so that there are never more than two such points; three where
  /// they are divided among children.
  struct OrderedNode {
    std::uint64_t first = 0, last = 0;
    std::array<std::uint64_t, 3> above = {};
    std::uint32_t count = 0;  ///< of `above`
  };

  /// The children of a node. Those points above their subtrees that are first in the split dimension go to the left.
  std::pair<OrderedNode, OrderedNode> split_in_order(const KdOrder<T>& order, std::uint32_t level, std::uint64_t j,
                                                     OrderedNode node) {
    const core::KdGeometry& geometry = tree_.geometry;
    const std::uint64_t size = node.last - node.first;
    const std::uint64_t middle = node.first + (size - (size > 0 && order.left_middle ? 1 : 0)) / 2;
    OrderedNode left{.first = node.first, .last = middle}, right{.first = middle, .last = node.last};
    std::uint32_t d = 0;
    if (size > 0) {
      d = order.split_dims[middle];
      node.above[node.count++] = middle;
      right.first = middle + 1;
    }
    const auto value_at = [&](std::uint64_t place) { return order.rows[place * tree_.dims + d]; };
    std::sort(node.above.begin(), node.above.begin() + node.count,
              [&](std::uint64_t a, std::uint64_t b) { return value_at(a) < value_at(b); });
    const std::uint64_t left_size = geometry.first(level + 1, 2 * j + 1) - geometry.first(level, j);
    const std::uint64_t to_left = left_size - (left.last - left.first);
    for (std::uint32_t i = 0; i < node.count; ++i) {
      OrderedNode& child = i < to_left ? left : right;
      child.above[child.count++] = node.above[i];
    }
    const std::uint64_t number = core::KdGeometry::node(level, j);
    storage_.split_dims[number] = static_cast<std::uint16_t>(d);
    storage_.split_values[number] = size > 0 ? without_sign_of_zero(value_at(middle)) : T(0);
    return {left, right};
  }

  template <typename RecordAt>
  void arrange_subtree(const KdOrder<T>& order, const RecordAt& record_at, std::uint32_t level, std::uint64_t j,
                       const OrderedNode& node, Subtree& task) {
    if (level == tree_.geometry.levels) {
      Record* record = records_ + tree_.geometry.first(level, j);
      for (std::uint64_t place = node.first; place < node.last; ++place) *record++ = record_at(place);
      for (std::uint32_t i = 0; i < node.count; ++i) *record++ = record_at(node.above[i]);
      write_leaf(j, task.order, task.records.data());
      return;
    }
    const auto [left, right] = split_in_order(order, level, j, node);
    arrange_subtree(order, record_at, level + 1, 2 * j, left, task);
    arrange_subtree(order, record_at, level + 1, 2 * j + 1, right, task);
    join_children(level, j);
  }

  /// Splits the first levels, sets `level` to the first one that is left, returns its boxes.
  std::vector<std::vector<T>> split_top(std::uint32_t& level) {
    const core::KdGeometry& geometry = tree_.geometry;
    // A quarter for the second look: the bracket of a large node holds a tenth of it; that of a small one has more.
    const std::uint64_t looked_again = geometry.points >> kTopLevels >= split::kSmallNode ? 4 : 1;
    runtime::LargeBuffer first(sizeof(T) * geometry.points);
    runtime::LargeBuffer second(sizeof(T) * (geometry.points / looked_again + (1 << kTopLevels)));
    const int threads = runtime::resolve_threads(options_.threads);
    std::vector<std::vector<T>> boxes(1, std::vector<T>(2 * tree_.dims));
    for (; level < std::min(geometry.levels, kTopLevels) && geometry.points >> level > kTaskPoints; ++level) {
      std::vector<std::vector<T>> next(2 * boxes.size());
      for (std::uint64_t j = 0; j < boxes.size(); ++j) next[2 * j] = next[2 * j + 1] = boxes[j];
      const auto split_one = [&](std::uint64_t j, int node_threads) {
        const std::uint64_t begin = geometry.first(level, j), end = geometry.first(level, j + 1);
        const split::KeyStorage<T> storage{first.as<T>().data() + begin,
                                           second.as<T>().data() + begin / looked_again + j,
                                           (end - begin) / looked_again};
        split_node(level, j, node_threads, boxes[j].data(), next[2 * j].data(), next[2 * j + 1].data(), storage);
      };
      const bool are_large = geometry.points >> level >= split::kParallelSplit;
      if (are_large && boxes.size() < 2 * static_cast<std::uint64_t>(threads)) {
        for (std::uint64_t j = 0; j < boxes.size(); ++j) split_one(j, threads);
      } else {
        const double points_each = static_cast<double>(geometry.points) / static_cast<double>(boxes.size());
        runtime::parallel_for(boxes.size(),
                              {.threads = threads, .nanoseconds_per_task = points_each * split::kSplitNanoseconds},
                              [&](std::uint64_t j) { split_one(j, 1); });
      }
      boxes = std::move(next);
    }
    return boxes;
  }

  /// Late, when the storage of the top levels has been given back.
  void allocate_boxes() {
    storage_.boxes = runtime::LargeBuffer(tree_.geometry.nodes() * 2 * tree_.dims * sizeof(T));
    storage_.smallest = runtime::LargeBuffer(tree_.geometry.nodes() * sizeof(std::uint32_t));
    tree_.boxes = boxes_ = storage_.boxes.template as<T>();
    tree_.smallest = smallest_ = storage_.smallest.template as<std::uint32_t>();
  }

  /// Splits the records, notes the split, cuts the boxes of the children, which start as copies of the node's own.
  void split_node(std::uint32_t level, std::uint64_t j, int threads, T* box, T* left, T* right,
                  const split::KeyStorage<T>& storage) {
    const core::KdGeometry& geometry = tree_.geometry;
    const std::uint64_t begin = geometry.first(level, j), end = geometry.first(level, j + 1);
    Record* first = records_ + begin;
    Record* last = records_ + end;
    Record* middle = records_ + geometry.first(level + 1, 2 * j + 1);
    if (level % core::kTightBoxEvery == 0) {
      tighten(first, last, box, threads);
      std::copy_n(box, 2 * tree_.dims, left);
      std::copy_n(box, 2 * tree_.dims, right);
    }
    const std::uint32_t d = tree_.cycles ? level % tree_.dims : widest_side(box);
    T value = box[tree_.dims + d];  // of an empty right half, which only leaves of one point know
    if (middle != last) {
      value = threads > 1 && end - begin >= split::kParallelSplit
                  ? split::split_in_parallel<T>(access_, first, middle, last, d, storage, threads)
                  : split::split_records<T>(access_, first, middle, last, d, storage);
    }
    value = without_sign_of_zero(value);
    storage_.split_dims[core::KdGeometry::node(level, j)] = static_cast<std::uint16_t>(d);
    storage_.split_values[core::KdGeometry::node(level, j)] = value;
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

  void tighten(const Record* first, const Record* last, T* box, int threads) const {
    const std::uint32_t dims = access_.dims();
    const auto count = static_cast<std::uint64_t>(last - first);
    const std::uint64_t parts =
        threads > 1 && count >= split::kParallelSplit ? 4 * static_cast<std::uint64_t>(threads) : 1;
    std::vector<T> boxes(parts * 2 * dims);
    const auto span_part = [&](std::uint64_t part) {
      T* own = boxes.data() + part * 2 * dims;
      std::fill_n(own, dims, std::numeric_limits<T>::infinity());
      std::fill_n(own + dims, dims, -std::numeric_limits<T>::infinity());
      const Record* end = first + count * (part + 1) / parts;
      for (const Record* r = first + count * part / parts; r != end;) {
        const Record* stop = r + std::min<std::ptrdiff_t>(end - r, split::kRecordsPerLook);
        extend(r, stop, own);
        r = stop;
        if (r != end) runtime::look_for_stop();
      }
    };
    if (parts == 1) {
      span_part(0);
    } else {
      runtime::parallel_for(parts, {.threads = threads}, span_part);
    }
    std::copy_n(boxes.data(), 2 * dims, box);
    for (std::uint64_t part = 1; part < parts; ++part) {
      for (std::uint32_t d = 0; d < dims; ++d) {
        box[d] = std::min(box[d], boxes[part * 2 * dims + d]);
        box[dims + d] = std::max(box[dims + d], boxes[(part * 2 + 1) * dims + d]);
      }
    }
    for (std::uint32_t i = 0; i < 2 * dims; ++i) box[i] = without_sign_of_zero(box[i]);
  }

  /// Makes the box hold these records, too.
  void extend(const Record* first, const Record* last, T* box) const {
    const std::uint32_t dims = access_.dims();
    if constexpr (Access::kDims != core::kRuntimeDims) {  // in registers, without branches
      std::array<T, Access::kDims> low, high;
      std::copy_n(box, Access::kDims, low.begin());
      std::copy_n(box + Access::kDims, Access::kDims, high.begin());
      for (const Record* r = first; r != last; ++r) {
        for (std::uint32_t d = 0; d < Access::kDims; ++d) {
          low[d] = std::min(low[d], r->x[d]);
          high[d] = std::max(high[d], r->x[d]);
        }
      }
      std::copy_n(low.begin(), Access::kDims, box);
      std::copy_n(high.begin(), Access::kDims, box + Access::kDims);
    } else {
      for (const Record* r = first; r != last; ++r) {
        for (std::uint32_t d = 0; d < dims; ++d) {
          const T x = access_.at(*r, d);
          box[d] = std::min(box[d], x);
          box[dims + d] = std::max(box[dims + d], x);
        }
      }
    }
  }

  /// `scratch` holds two boxes for this level and each one below.
  void build_subtree(std::uint32_t level, std::uint64_t j, T* box, T* scratch, Subtree& task) {
    if (level == tree_.geometry.levels) {
      write_leaf(j, task.order, task.records.data());
      return;
    }
    if (tree_.geometry.levels - level == kLevelsPerLook) runtime::look_for_stop();
    const std::uint32_t values = 2 * tree_.dims;
    T* left = scratch;
    T* right = scratch + values;
    std::copy_n(box, values, left);
    std::copy_n(box, values, right);
    split_node(level, j, 1, box, left, right, task.storage());
    build_subtree(level + 1, 2 * j, left, scratch + 2 * values, task);
    build_subtree(level + 1, 2 * j + 1, right, scratch + 2 * values, task);
    join_children(level, j);
  }

  /// Points in index order, coordinate by coordinate; a tight box. The records may lie where the block goes.
  void write_leaf(std::uint64_t leaf, LeafOrder& order, Record* copies) {
    const core::KdGeometry& geometry = tree_.geometry;
    const std::uint32_t dims = access_.dims(), size = tree_.leaf_count(leaf);
    const std::uint64_t node = core::KdGeometry::node(geometry.levels, leaf);
    const Record* first = records_ + geometry.first(geometry.levels, leaf);
    for (std::uint32_t i = 0; i < size; ++i) {
      copies[i] = first[i];
      order.set(i, access_.index_of(first[i]));
    }
    const std::uint32_t* places = order.places(size);

    std::byte* block = storage_.blocks.data() + geometry.first(geometry.levels, leaf) * tree_.point_bytes;
    T* values = reinterpret_cast<T*>(block);
    auto* indices = reinterpret_cast<std::uint32_t*>(values + std::uint64_t{dims} * size);
    for (std::uint32_t i = 0; i < size; ++i) {
      for (std::uint32_t d = 0; d < dims; ++d) values[std::uint64_t{d} * size + places[i]] = access_.at(copies[i], d);
      indices[places[i]] = access_.index_of(copies[i]);
    }
    T* box = boxes_.data() + node * 2 * dims;
    for (std::uint32_t d = 0; d < dims; ++d) {
      const auto [low, high] = extremes(values + std::uint64_t{d} * size, size);
      box[d] = without_sign_of_zero(low);
      box[dims + d] = without_sign_of_zero(high);
    }
    std::byte* end = reinterpret_cast<std::byte*>(indices + size);
    std::memset(end, 0, static_cast<std::size_t>(block + std::uint64_t{size} * tree_.point_bytes - end));
    smallest_[node] = size == 0 ? core::kNoPoint : indices[0];
  }

  /// The nodes above `level`.
  void join_top(std::uint32_t level) {
    while (level-- > 0) {
      for (std::uint64_t j = 0; j < (std::uint64_t{1} << level); ++j) join_children(level, j);
    }
  }

  void join_children(std::uint32_t level, std::uint64_t j) {
    const std::uint64_t node = core::KdGeometry::node(level, j), left = 2 * node + 1, right = left + 1;
    T* box = boxes_.data() + node * 2 * tree_.dims;
    for (std::uint32_t d = 0; d < tree_.dims; ++d) {
      box[d] = std::min(tree_.lower(left)[d], tree_.lower(right)[d]);
      box[tree_.dims + d] = std::max(tree_.upper(left)[d], tree_.upper(right)[d]);
    }
    smallest_[node] = std::min(smallest_[left], smallest_[right]);
  }

  KdTree<T>& tree_;
  KdStorage<T>& storage_;
  std::span<T> boxes_;
  std::span<std::uint32_t> smallest_;
  Access access_;
  Record* records_;
  KdBuildOptions options_;
};

template <typename Record, typename T>
Record record_of(const T* row, std::uint32_t index) {
  Record record;
  std::copy_n(row, record.x.size(), record.x.begin());
  record.index = index;
  return record;
}

/// The place of a point in the order of a tree; its number is another.
template <typename T>
struct OrderRecords : split::IndexRecords<T> {
  const std::uint32_t* numbers;
  std::uint32_t index_of(const std::uint32_t& record) const { return numbers[record]; }
};

/// Arrays of the right size, of which the builder fills those of the nodes.
template <typename T>
KdTree<T> empty_tree(KdStorage<T>& storage, std::uint64_t count, std::uint32_t dims, const KdBuildOptions& options) {
  KdTree<T> tree;
  tree.geometry = core::KdGeometry::of(count, options.leaf_size);
  tree.dims = dims;
  tree.leaf_size = options.leaf_size;
  tree.cycles = options.cycles;
  tree.point_bytes = KdTree<T>::point_bytes_of(dims);
  const std::uint64_t leaves = tree.geometry.leaves();
  const std::uint64_t block_bytes = count * tree.point_bytes;
  storage.blocks = runtime::LargeBuffer(block_bytes + kBlockSlack);
  std::memset(storage.blocks.data() + block_bytes, 0, kBlockSlack);
  storage.split_dims.resize(leaves - 1);
  storage.split_values.resize(leaves - 1);
  tree.blocks = {storage.blocks.data(), block_bytes};
  tree.split_dims = storage.split_dims;
  tree.split_values = storage.split_values;
  return tree;
}

}  // namespace

template <typename T>
KdTree<T> build_kd_tree(const T* rows, std::uint64_t count, std::uint32_t dims, const KdBuildOptions& options) {
  auto storage = std::make_shared<KdStorage<T>>();
  KdTree<T> tree = empty_tree(*storage, count, dims, options);
  core::visit_dims(dims, [&](auto constant_dims) {
    constexpr std::uint32_t D = constant_dims.value;
    if constexpr (D == core::kRuntimeDims) {
      std::vector<std::uint32_t> records(count);
      TreeBuilder<T, split::IndexRecords<T>>(tree, *storage, {rows, dims}, records.data(), options)
          .run([](std::uint64_t i) { return static_cast<std::uint32_t>(i); });
    } else {
      using Access = split::PointRecords<T, D>;
      using Record = typename Access::Record;
      static_assert(sizeof(Record) == (D * sizeof(T) + 4 + sizeof(T) - 1) / sizeof(T) * sizeof(T));
      auto* records = reinterpret_cast<Record*>(storage->blocks.data());
      TreeBuilder<T, Access>(tree, *storage, {}, records, options).run([rows](std::uint64_t i) {
        return record_of<Record>(rows + i * D, static_cast<std::uint32_t>(i));
      });
    }
  });
  tree.owner = std::move(storage);
  return tree;
}

template <typename T>
KdTree<T> arrange_kd_tree(const KdOrder<T>& order, std::uint64_t count, std::uint32_t dims,
                          const KdBuildOptions& options) {
  auto storage = std::make_shared<KdStorage<T>>();
  KdTree<T> tree = empty_tree(*storage, count, dims, options);
  core::visit_dims(dims, [&](auto constant_dims) {
    constexpr std::uint32_t D = constant_dims.value;
    if constexpr (D == core::kRuntimeDims) {
      std::vector<std::uint32_t> records(count);
      TreeBuilder<T, OrderRecords<T>>(tree, *storage, {{order.rows, dims}, order.numbers}, records.data(), options)
          .run_in_order(order, [](std::uint64_t place) { return static_cast<std::uint32_t>(place); });
    } else {
      using Access = split::PointRecords<T, D>;
      using Record = typename Access::Record;
      auto* records = reinterpret_cast<Record*>(storage->blocks.data());
      TreeBuilder<T, Access>(tree, *storage, {}, records, options).run_in_order(order, [&](std::uint64_t place) {
        return record_of<Record>(order.rows + place * D, order.numbers[place]);
      });
    }
  });
  tree.owner = std::move(storage);
  return tree;
}

template <typename T>
std::uint64_t kd_build_storage(const core::KdGeometry& geometry, std::uint32_t dims, int threads) {
  const bool fits_in_blocks = core::visit_dims(dims, [](auto d) { return d.value != core::kRuntimeDims; });
  const std::uint64_t records = fits_in_blocks ? 0 : geometry.points * sizeof(std::uint32_t);
  // The top levels have 1.25 keys for each point, but no boxes yet; then each thread has 2 for each point of a subtree.
  const std::uint64_t not_yet = geometry.nodes() * (2 * dims * sizeof(T) + sizeof(std::uint32_t));
  const std::uint64_t top = sizeof(T) * (geometry.points + geometry.points / 4);
  const auto subtrees = std::min<std::uint64_t>(static_cast<std::uint64_t>(runtime::resolve_threads(threads)), 64);
  const std::uint64_t bottom = 2 * sizeof(T) * (geometry.points * subtrees / 64);
  return records + std::max(top - std::min(top, not_yet), bottom);
}

template std::uint64_t kd_build_storage<float>(const core::KdGeometry&, std::uint32_t, int);
template std::uint64_t kd_build_storage<double>(const core::KdGeometry&, std::uint32_t, int);
template KdTree<float> build_kd_tree(const float*, std::uint64_t, std::uint32_t, const KdBuildOptions&);
template KdTree<double> build_kd_tree(const double*, std::uint64_t, std::uint32_t, const KdBuildOptions&);
template KdTree<float> arrange_kd_tree(const KdOrder<float>&, std::uint64_t, std::uint32_t, const KdBuildOptions&);
template KdTree<double> arrange_kd_tree(const KdOrder<double>&, std::uint64_t, std::uint32_t, const KdBuildOptions&);

}  // namespace kith::cpu
