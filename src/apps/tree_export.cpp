// Builds the tree: large ranges are split in place around their middles, those that fit into a cache by SubtreeBuilder.
// In 2 to 8 dims the points themselves are moved. In other dims their numbers are; once the ranges are small, the
// coordinates are copied so that those of a range are contiguous and stay in the cache for all levels below.
//
//   pass (per level)      per point                             memory per point
//   box                   read d coordinates                    d coordinates and 4 bytes
//   selection             read one coordinate, a few again      four coordinates, of which most are not touched
//   partition             move the point or its number
#include <kith/apps/tree_export.hpp>

#include "apps/equal_rows.hpp"
#include "apps/record_box.hpp"
#include "apps/subtree_builder.hpp"
#include "apps/tree_ranges.hpp"
#include "apps/usable_rows.hpp"
#include "core/dispatch.hpp"
#include "runtime/large_buffer.hpp"
#include "runtime/memory_limit.hpp"
#include "runtime/parallel.hpp"
#include "split/find_rank.hpp"
#include "split/ordered_integer.hpp"
#include "split/split_parallel.hpp"
#include "split/split_records.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/apps/tree_export_on_device.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

/// The tree in order.
struct OrderedTree {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> split_dim;
};

/// Splits ranges of records in place. The coordinates of records are ordered integers of T.
template <typename T, typename Access>
class RangeSplitter {
 public:
  using Record = typename Access::Record;
  using Key = split::OrderedInteger<T>;
  using PlacedKey = split::PlacedKey<Key>;

  RangeSplitter(Access access, Record* records, SplitRule rule) : access_(access), records_(records), rule_(rule) {}

  /// After: the node of the range is in its middle. Returns the dimension that it splits. `keys` and `again` have the
  /// capacity for the range.
  std::uint32_t split(const TreeRange& range, PlacedKey* keys, PlacedKey* again, int threads) const {
    Record* first = records_ + range.first;
    Record* last = records_ + range.last;
    Record* middle = records_ + range.middle();
    const std::uint32_t d = dimension_of(range, threads);
    const split::KeyStorage<Key> storage{reinterpret_cast<Key*>(keys), reinterpret_cast<Key*>(again), range.size()};
    if (threads > 1) {
      split::split_around_middle<Key>(access_, middle, last, d, [&] {
        return split::split_in_parallel<Key>(access_, first, middle, last, d, storage, threads);
      });
      return d;
    }
    const auto at = [&](std::size_t i) { return PlacedKey(access_.at(first[i], d), i); };
    const split::FoundRank<Key> found =
        split::find_rank<Key>(at, range.size(), static_cast<std::size_t>(middle - first), keys, again);
    if (found.equals == 1) {
      std::swap(first[found.place], last[-1]);
      split::partition_below(access_, first, last - 1, d, found.key);
      std::swap(*middle, last[-1]);
    } else {
      split::split_around_middle<Key>(access_, middle, last, d, [&] {
        split::split_at_value<Key>(access_, first, middle, last, d, found.key, storage);
        return found.key;
      });
    }
    return d;
  }

 private:
  using Box = RecordBox<T, Access>;

  std::uint32_t dimension_of(const TreeRange& range, int threads) const {
    if (rule_ == SplitRule::cycle || access_.dims() == 1) return range.level % access_.dims();
    const auto box_of = [&](std::uint64_t first, std::uint64_t last) {
      return Box(access_, records_ + first, records_ + last);
    };
    const std::uint64_t parts = threads > 1 ? 4 * static_cast<std::uint64_t>(threads) : 1;
    if (parts == 1) return box_of(range.first, range.last).widest();
    std::vector<Box> boxes(parts, box_of(range.first, range.first + 1));
    runtime::parallel_for(parts, {.threads = threads}, [&](std::uint64_t part) {
      boxes[part] = box_of(range.first + range.size() * part / parts, range.first + range.size() * (part + 1) / parts);
    });
    for (const Box& box : boxes) boxes[0].include(box);
    return boxes[0].widest();
  }

  Access access_;
  Record* records_;
  SplitRule rule_;
};

template <typename T>
class TreeBuilder {
 public:
  TreeBuilder(PointView points, std::vector<std::uint32_t> rows, const TreeExportOptions& options)
      : points_(points), options_(options) {
    tree_.rows = std::move(rows);
    tree_.split_dim.resize(tree_.rows.size());
  }

  OrderedTree run() {
    if (tree_.rows.empty()) return std::move(tree_);
    return core::visit_dims(points_.dims(), [&](auto dims) {
      if constexpr (dims.value == core::kRuntimeDims) {
        return move_numbers();
      } else {
        return move_points<dims.value>();
      }
    });
  }

 private:
  using Key = split::OrderedInteger<T>;

  template <std::uint32_t D>
  OrderedTree move_points() {
    using Access = split::PointRecords<Key, D>;
    using Record = typename Access::Record;
    const std::uint64_t count = tree_.rows.size();
    runtime::LargeBuffer memory(count * sizeof(Record));
    Record* records = memory.template as<Record>().data();
    for_blocks([&](std::uint64_t i) {
      const T* const row = points_.row<T>(tree_.rows[i]);
      std::transform(row, row + D, records[i].x.begin(), split::to_ordered<T>);
      records[i].index = tree_.rows[i];
    });
    split_below<Access>({}, records, split_top<Access>({}, records));
    return std::move(tree_);
  }

  /// A record is a row of a copy: first of all rows, then, when subtrees are small, of one in which those of a subtree
  /// lie together. Inside a subtree these have the order of the rows, so ties end the same way; nodes above the
  /// subtrees are in their places already.
  OrderedTree move_numbers() {
    using Access = split::IndexRecords<Key>;
    const std::uint32_t dims = points_.dims();
    std::vector<std::uint32_t> original = std::move(tree_.rows);
    runtime::LargeBuffer copy(original.size() * dims * sizeof(Key));
    const auto keys_of = [dims](runtime::LargeBuffer& buffer, std::uint64_t i) {
      return buffer.template as<Key>().data() + i * dims;
    };
    tree_.rows.resize(original.size());
    for_blocks([&](std::uint64_t i) {
      const T* const row = points_.row<T>(original[i]);
      std::transform(row, row + dims, keys_of(copy, i), split::to_ordered<T>);
      tree_.rows[i] = static_cast<std::uint32_t>(i);
    });
    const std::vector<TreeRange> subtrees = split_top(Access{keys_of(copy, 0), dims}, tree_.rows.data());
    runtime::parallel_for(subtrees.size(), {.threads = options_.threads}, [&](std::uint64_t i) {
      std::sort(tree_.rows.begin() + static_cast<std::ptrdiff_t>(subtrees[i].first),
                tree_.rows.begin() + static_cast<std::ptrdiff_t>(subtrees[i].last));
    });
    runtime::LargeBuffer copy_together(copy.bytes());
    std::vector<std::uint32_t> together(original.size());
    for_blocks([&](std::uint64_t i) {
      std::copy_n(keys_of(copy, tree_.rows[i]), dims, keys_of(copy_together, i));
      together[i] = original[tree_.rows[i]];
      tree_.rows[i] = static_cast<std::uint32_t>(i);
    });
    copy = {};
    split_below(Access{keys_of(copy_together, 0), dims}, tree_.rows.data(), subtrees);
    for_blocks([&](std::uint64_t i) { tree_.rows[i] = together[tree_.rows[i]]; });
    return std::move(tree_);
  }

  template <typename Access>
  std::vector<TreeRange> split_top(const Access& access, typename Access::Record* records) {
    using PlacedKey = split::PlacedKey<Key>;
    const std::uint64_t count = tree_.rows.size();
    runtime::LargeBuffer first(count * sizeof(PlacedKey)), second(count * sizeof(PlacedKey));
    const RangeSplitter<T, Access> splitter(access, records, options_.split);
    const SubtreeBuilder<T, Access> nodes = builder(access);
    return visit_top(count, visit_options(), [&](const TreeRange& range, int threads) {
      PlacedKey* const keys = first.template as<PlacedKey>().data() + range.first;
      PlacedKey* const again = second.template as<PlacedKey>().data() + range.first;
      const std::uint32_t d = splitter.split(range, keys, again, threads);
      nodes.set_node(range.middle(), records[range.middle()], d);
    });
  }
  template <typename Access>
  void split_below(const Access& access, typename Access::Record* records, const std::vector<TreeRange>& subtrees) {
    using Storage = SubtreeStorage<Key, typename Access::Record>;
    const std::uint64_t count = tree_.rows.size(), units = (count + subtrees.size() - 1) / subtrees.size();
    const int threads = runtime::resolve_threads(options_.threads);
    std::vector<std::optional<Storage>> storage(static_cast<std::size_t>(threads));
    runtime::parallel_for_workers(subtrees.size(), {threads, "building", &options_.progress, units, count},
                                  [&](std::uint64_t i, runtime::Worker& worker) {
                                    auto& own = storage[static_cast<std::size_t>(worker.thread())];
                                    if (!own) own.emplace(units);
                                    builder(access).run(subtrees[i], records + subtrees[i].first, *own);
                                  });
  }

  template <typename Access>
  SubtreeBuilder<T, Access> builder(const Access& access) {
    return {access, options_.split, tree_.rows.data(), tree_.split_dim.data()};
  }

  VisitOptions visit_options() const {
    constexpr std::uint64_t kCacheBytes = 1 << 19;  // half of a usual second level
    const std::uint64_t most = kCacheBytes / (points_.dims() * sizeof(Key) + sizeof(std::uint32_t));
    return {options_.middle, "building", options_.threads, &options_.progress, std::max<std::uint64_t>(most, 1)};
  }

  /// Calls each(i) for every node.
  template <typename Each>
  void for_blocks(const Each& each) const {
    constexpr std::uint64_t kBlock = 1 << 16;
    const std::uint64_t count = tree_.rows.size();
    runtime::parallel_for((count + kBlock - 1) / kBlock, {.threads = options_.threads}, [&](std::uint64_t block) {
      const std::uint64_t end = std::min(count, (block + 1) * kBlock);
      for (std::uint64_t i = block * kBlock; i < end; ++i) each(i);
    });
  }

  PointView points_;
  const TreeExportOptions& options_;
  OrderedTree tree_;
};

OrderedTree build_tree(PointView points, const TreeExportOptions& options) {
  std::vector<std::uint32_t> rows = usable_rows(points, {.skip = options.skip_nonfinite, .threads = options.threads});
  if (options.unique) {
    const EqualRowsOptions equal{{}, options.threads, &options.progress};
    const std::vector<std::uint32_t> first_equal = first_equal_rows(points, rows, equal);
    std::erase_if(rows, [&](std::uint32_t row) { return first_equal[row] != row; });
  }
  return points.dtype() == DType::f32 ? TreeBuilder<float>(points, std::move(rows), options).run()
                                      : TreeBuilder<double>(points, std::move(rows), options).run();
}

TreeFacts facts_of(PointView points, const TreeExportOptions& options) {
  return {points.rows(), points.dims(), points.dtype(), options.split, options.unique, options.middle};
}

bool is_for_gpu(const TreeExportOptions& options) { return options.device.kind() == Device::Kind::cuda; }

NodeTable node_table_by_gpu(PointView points, const TreeExportOptions& options) {
  NodeTable table;
  table.facts = facts_of(points, options);
  const auto columns = {&table.point, &table.split_dim, &table.less, &table.greater};
  for (auto* column : columns) column->resize(points.rows());
  const TreeOnDevice tree = export_tree_on_device(
      points, {table.point.data(), table.split_dim.data(), table.less.data(), table.greater.data()}, {options});
  for (auto* column : columns) column->resize(tree.nodes);
  table.root = tree.root;
  return table;
}

InOrderTree in_order_by_gpu(PointView points, const TreeExportOptions& options) {
  InOrderTree tree;
  tree.facts = facts_of(points, options);
  tree.index.resize(points.rows());
  tree.split_dim.resize(points.rows());
  const std::uint64_t nodes =
      export_tree_on_device(points, {.point = tree.index.data(), .split_dim = tree.split_dim.data()}, {options}).nodes;
  tree.index.resize(nodes);
  tree.split_dim.resize(nodes);
  tree.points = take_rows(points, tree.index, options.threads);
  return tree;
}

/// What the tree takes at the peak: numbers and split dims; records, or copies and other numbers; keys.
std::uint64_t bytes_of(PointView points, const TreeExportOptions& options) {
  const std::uint64_t value = size_of(points.dtype()), row = points.dims() * value;
  const bool moves_points = core::visit_dims(points.dims(), [](auto dims) { return dims.value != core::kRuntimeDims; });
  const std::uint64_t of_tree = moves_points ? 8 + row + value + 4 * value : 16 + row + std::max(row, 4 * value);
  const std::uint64_t equal = options.unique ? 16 : 0;  // before the tree: hashes, and the first of equal points
  return points.rows() * std::max({of_tree, 8 + equal, 8 + std::max<std::uint64_t>(row, 8)});
}

template <typename Export>
auto with_checks(PointView points, const TreeExportOptions& options, Export&& run) {
  require_host_points(points, "export a tree");
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  const std::uint64_t bytes = bytes_of(points, options);
  if (!is_for_gpu(options)) runtime::require_allowed(bytes, "building the tree");
  try {
    return run();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("a tree of {} points needs about {} bytes; free some memory", points.rows(), bytes));
  }
}

}  // namespace

std::string_view name_of(Middle middle) { return middle == Middle::left ? "left" : "right"; }

Middle parse_middle(std::string_view name) {
  for (const Middle middle : {Middle::right, Middle::left}) {
    if (name == name_of(middle)) return middle;
  }
  throw UsageError(fmt::format("\"{}\" is no middle; there are: right, left", name));
}

NodeTable export_node_table(PointView points, const TreeExportOptions& options) {
  return with_checks(points, options, [&] {
    if (is_for_gpu(options)) return node_table_by_gpu(points, options);
    OrderedTree tree = build_tree(points, options);
    NodeTable table;
    table.facts = facts_of(points, options);
    table.point = std::move(tree.rows);
    table.split_dim = std::move(tree.split_dim);
    table.less.assign(table.point.size(), kNoNode);
    table.greater.assign(table.point.size(), kNoNode);
    if (!table.point.empty()) {
      table.root = static_cast<std::uint32_t>(TreeRange{0, table.point.size(), 0, options.middle}.middle());
    }
    visit_ranges(table.point.size(), {options.middle, "linking", options.threads, &options.progress},
                 [&](const TreeRange& range, int) {
                   const std::uint64_t node = range.middle();
                   range.for_children([&](const TreeRange& child) {
                     (child.first < node ? table.less : table.greater)[node] =
                         static_cast<std::uint32_t>(child.middle());
                   });
                 });
    return table;
  });
}

InOrderTree export_in_order(PointView points, const TreeExportOptions& options) {
  return with_checks(points, options, [&] {
    if (is_for_gpu(options)) return in_order_by_gpu(points, options);
    OrderedTree ordered = build_tree(points, options);
    InOrderTree tree;
    tree.facts = facts_of(points, options);
    tree.index = std::move(ordered.rows);
    tree.split_dim = std::move(ordered.split_dim);
    tree.points = take_rows(points, tree.index, options.threads);
    return tree;
  });
}

}  // namespace kith::apps::inline v0
