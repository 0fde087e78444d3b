// Builds the tree in place: each range is split around its middle, then its halves are. In 2 to 8 dims the points
// themselves are moved. In other dims their numbers are; once the ranges are small, the coordinates are copied so that
// those of a range are contiguous and stay in the cache for all levels below.
//
//   pass (per level)      per point                             memory per point
//   box                   read d coordinates                    d coordinates and 4 bytes
//   selection             read one coordinate, a few again      two coordinates
//   partition             move the point or its number
#include <kith/apps/tree_export.hpp>

#include "apps/equal_rows.hpp"
#include "apps/tree_ranges.hpp"
#include "apps/usable_rows.hpp"
#include "core/dispatch.hpp"
#include "runtime/large_buffer.hpp"
#include "runtime/memory_limit.hpp"
#include "runtime/parallel.hpp"
#include "split/split_parallel.hpp"
#include "split/split_records.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/apps/tree_export_on_device.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

/// The tree in order.
struct OrderedTree {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> split_dim;
};

/// Splits ranges of records, wherever the coordinates are.
template <typename T, typename Access>
class RangeSplitter {
 public:
  using Record = typename Access::Record;

  RangeSplitter(Access access, Record* records, SplitRule rule, std::vector<std::uint32_t>& split_dim)
      : access_(access), records_(records), rule_(rule), split_dim_(split_dim) {}

  void split(const TreeRange& range, const split::KeyStorage<T>& storage, int threads) const {
    Record* first = records_ + range.first;
    Record* last = records_ + range.last;
    Record* middle = records_ + range.middle();
    const std::uint32_t d = dimension_of(range, threads);
    split_dim_[range.middle()] = d;
    if (range.size() <= kSortedRange) {
      sort_few(first, last, d);
    } else if (threads > 1) {
      split::split_around_middle<T>(access_, middle, last, d, [&] {
        return split::split_in_parallel<T>(access_, first, middle, last, d, storage, threads);
      });
    } else {
      split::split_around_middle<T>(access_, middle, last, d,
                                    [&] { return split::split_records<T>(access_, first, middle, last, d, storage); });
    }
  }

  /// The range and all ranges below it; `storage` has the capacity for its points.
  void split_subtree(const TreeRange& range, const split::KeyStorage<T>& storage) const {
    split(range, storage, 1);
    if (range.size() > 1) range.for_children([&](const TreeRange& child) { split_subtree(child, storage); });
  }

 private:
  static constexpr std::uint64_t kSortedRange = 8;

  std::uint32_t dimension_of(const TreeRange& range, int threads) const {
    if (rule_ == SplitRule::cycle) return range.level % access_.dims();
    if (range.size() == 1) return 0;  // all sides are 0
    const std::uint64_t parts = threads > 1 ? 4 * static_cast<std::uint64_t>(threads) : 1;
    const std::uint32_t dims = access_.dims();
    if (parts == 1) return widest_of(box_of(range.first, range.last));
    std::vector<Box> boxes(parts);
    runtime::parallel_for(parts, {.threads = threads}, [&](std::uint64_t part) {
      boxes[part] = box_of(range.first + range.size() * part / parts, range.first + range.size() * (part + 1) / parts);
    });
    for (std::uint64_t part = 1; part < parts; ++part) {
      for (std::uint32_t d = 0; d < dims; ++d) {
        boxes[0].low[d] = std::min(boxes[0].low[d], boxes[part].low[d]);
        boxes[0].high[d] = std::max(boxes[0].high[d], boxes[part].high[d]);
      }
    }
    return widest_of(boxes[0]);
  }

  using Corner = std::conditional_t<Access::kDims == 0, std::vector<T>, std::array<T, std::max(Access::kDims, 1u)>>;
  struct Box {
    Corner low, high;
  };

  Box box_of(std::uint64_t first, std::uint64_t last) const {
    if constexpr (Access::kDims != 0) {
      return box_by_vectors(records_ + first, records_ + last);
    } else {
      const std::uint32_t dims = access_.dims();
      Box box;
      for (Corner* corner : {&box.low, &box.high}) {
        for (std::uint32_t d = 0; d < dims; ++d) corner->push_back(access_.at(records_[first], d));
      }
      for (std::uint64_t i = first + 1; i < last; ++i) {
        for (std::uint32_t d = 0; d < dims; ++d) {
          const T x = access_.at(records_[i], d);
          box.low[d] = std::min(box.low[d], x);
          box.high[d] = std::max(box.high[d], x);
        }
      }
      return box;
    }
  }

  /// By vectors of the compiler: one in up to 4 dims, else two that overlap. In 3 dims the fourth lane holds the
  /// index and is ignored.
  static Box box_by_vectors(const Record* first, const Record* last) {
    constexpr std::uint32_t kLanes = std::min(std::bit_ceil(Access::kDims), 4u);
    typedef T Lanes __attribute__((vector_size(kLanes * sizeof(T))));
    static_assert(sizeof(Lanes) <= sizeof(Record));
    Box box;
    for (std::uint32_t at = 0;; at = Access::kDims - kLanes) {
      const auto load = [at](const Record* record) {
        Lanes lanes;
        __builtin_memcpy(&lanes, record->x.data() + at, sizeof(lanes));
        return lanes;
      };
      // Two of each: a minimum waits for the one before it.
      Lanes low = load(first), high = low, other_low = low, other_high = low;
      const Record* r = first;
      for (; last - r >= 2; r += 2) {
        const Lanes one = load(r), other = load(r + 1);
        low = one < low ? one : low;
        high = one > high ? one : high;
        other_low = other < other_low ? other : other_low;
        other_high = other > other_high ? other : other_high;
      }
      const Lanes one = load(last - 1);
      low = one < low ? one : low;
      high = one > high ? one : high;
      low = low < other_low ? low : other_low;
      high = high > other_high ? high : other_high;
      for (std::uint32_t lane = 0; lane < kLanes && at + lane < Access::kDims; ++lane) {
        box.low[at + lane] = low[lane];
        box.high[at + lane] = high[lane];
      }
      if (at + kLanes >= Access::kDims) return box;
    }
  }

  /// Ties go to the lowest dimension.
  std::uint32_t widest_of(const Box& box) const {
    std::uint32_t widest = 0;
    for (std::uint32_t d = 1; d < access_.dims(); ++d) {
      if (box.high[d] - box.low[d] > box.high[widest] - box.low[widest]) widest = d;
    }
    return widest;
  }

  void sort_few(Record* first, Record* last, std::uint32_t d) const {
    for (Record* r = first + 1; r < last; ++r) {
      const Record record = *r;
      Record* to = r;
      for (; to != first && split::precedes(access_, record, to[-1], d); --to) *to = to[-1];
      *to = record;
    }
  }

  Access access_;
  Record* records_;
  SplitRule rule_;
  std::vector<std::uint32_t>& split_dim_;
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
  template <std::uint32_t D>
  OrderedTree move_points() {
    using Access = split::PointRecords<T, D>;
    using Record = typename Access::Record;
    const std::uint64_t count = tree_.rows.size();
    runtime::LargeBuffer memory(count * sizeof(Record));
    Record* records = memory.template as<Record>().data();
    for_blocks([&](std::uint64_t i) {
      std::copy_n(points_.row<T>(tree_.rows[i]), D, records[i].x.begin());
      records[i].index = tree_.rows[i];
    });
    const RangeSplitter<T, Access> splitter({}, records, options_.split, tree_.split_dim);
    split_below(splitter, split_top(splitter));
    for_blocks([&](std::uint64_t i) { tree_.rows[i] = records[i].index; });
    return std::move(tree_);
  }

  /// A record is a row of a copy: first of all rows, then, when subtrees are small, of one in which those of a subtree
  /// lie together. Inside a subtree these have the order of the rows, so ties end the same way; nodes above the
  /// subtrees are in their places already.
  OrderedTree move_numbers() {
    using Access = split::IndexRecords<T>;
    std::vector<std::uint32_t> original = std::move(tree_.rows);
    PointSet copy = take_rows(points_, original, options_.threads);
    tree_.rows.resize(original.size());
    std::iota(tree_.rows.begin(), tree_.rows.end(), 0u);
    const auto splitter = [&] {
      return RangeSplitter<T, Access>({copy.template values<T>().data(), points_.dims()}, tree_.rows.data(),
                                      options_.split, tree_.split_dim);
    };
    const std::vector<TreeRange> subtrees = split_top(splitter());
    runtime::parallel_for(subtrees.size(), {.threads = options_.threads}, [&](std::uint64_t i) {
      std::sort(tree_.rows.begin() + static_cast<std::ptrdiff_t>(subtrees[i].first),
                tree_.rows.begin() + static_cast<std::ptrdiff_t>(subtrees[i].last));
    });
    copy = take_rows(copy.view(), tree_.rows, options_.threads);
    std::vector<std::uint32_t> together(original.size());
    for_blocks([&](std::uint64_t i) { together[i] = original[tree_.rows[i]]; });
    std::iota(tree_.rows.begin(), tree_.rows.end(), 0u);
    split_below(splitter(), subtrees);
    for_blocks([&](std::uint64_t i) { tree_.rows[i] = together[tree_.rows[i]]; });
    return std::move(tree_);
  }

  template <typename Splitter>
  std::vector<TreeRange> split_top(const Splitter& splitter) {
    const std::uint64_t count = tree_.rows.size();
    runtime::LargeBuffer first(count * sizeof(T)), second(count * sizeof(T));
    return visit_top(count, visit_options(), [&](const TreeRange& range, int threads) {
      T* const keys = first.template as<T>().data() + range.first;
      T* const again = second.template as<T>().data() + range.first;
      splitter.split(range, {keys, again, range.size()}, threads);
    });
  }
  template <typename Splitter>
  void split_below(const Splitter& splitter, const std::vector<TreeRange>& subtrees) {
    const std::uint64_t count = tree_.rows.size(), units = (count + subtrees.size() - 1) / subtrees.size();
    runtime::parallel_for(
        subtrees.size(), {options_.threads, "building", &options_.progress, units, count}, [&](std::uint64_t i) {
          std::vector<T> keys(2 * subtrees[i].size());
          splitter.split_subtree(subtrees[i], {keys.data(), keys.data() + subtrees[i].size(), subtrees[i].size()});
        });
  }

  VisitOptions visit_options() const { return {options_.middle, "building", options_.threads, &options_.progress}; }

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
  const std::uint64_t of_tree = moves_points ? 8 + row + value + 2 * value : 16 + row + std::max(row, 2 * value);
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
