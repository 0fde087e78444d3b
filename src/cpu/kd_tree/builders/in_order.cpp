// Points in the order of another tree are not split: a node here takes the subtree of a node there. The other tree has
// a point at each node, and these points fill the places that its smaller subtrees leave free.
#include "core/dispatch.hpp"
#include "cpu/kd_tree/builders/builders.hpp"
#include "split/split_records.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::cpu {
namespace {

/// The place of a point in the order of a tree; its number is another.
template <typename T>
struct OrderRecords : split::IndexRecords<T> {
  const std::uint32_t* numbers;
  std::uint32_t index_of(const std::uint32_t& record) const { return numbers[record]; }
};

/// What a node takes of the other tree: the places [first, last) of a subtree, and some above it. Sizes of nodes on one
/// level differ by one at most in both trees, so that there are never more than two such points; three where they are
/// divided among children.
struct OrderedNode {
  std::uint64_t first = 0, last = 0;
  std::array<std::uint64_t, 3> above = {};
  std::uint32_t count = 0;  ///< of `above`
};

template <typename T, typename Access>
class InOrder {
 public:
  using Record = typename Access::Record;

  InOrder(TreeFrame<T>& frame, const KdOrder<T>& order, const Access& access, Record* records)
      : frame_(frame), order_(order), access_(access), records_(records) {}

  /// `record_at(i)` gives the record of the point at place i.
  template <typename RecordAt>
  void run(const RecordAt& record_at) {
    const core::KdGeometry& geometry = frame_.geometry();
    frame_.allocate_boxes();
    std::vector<OrderedNode> nodes = {{.last = geometry.points}};
    std::uint32_t top = 0;
    for (; top < geometry.levels && frame_.is_top(top); ++top) {
      std::vector<OrderedNode> next;
      for (std::uint64_t j = 0; j < nodes.size(); ++j) {
        const auto [left, right] = children_of(top, j, nodes[j]);
        next.insert(next.end(), {left, right});
      }
      nodes = std::move(next);
    }
    runtime::parallel_for(nodes.size(),
                          {.threads = frame_.threads(), .stage = "building", .progress = frame_.progress()},
                          [&](std::uint64_t j) {
                            Writer writer(access_, frame_.leaf_size());
                            arrange(record_at, top, j, nodes[j], writer);
                          });
    frame_.join_above(top);
  }

 private:
  using Writer = typename TreeFrame<T>::template LeafWriter<Access>;

  /// The children of a node. Those points above their subtrees that are first in the split dimension go to the left.
  std::pair<OrderedNode, OrderedNode> children_of(std::uint32_t level, std::uint64_t j, OrderedNode node) {
    const core::KdGeometry& geometry = frame_.geometry();
    const std::uint64_t size = node.last - node.first;
    const std::uint64_t middle = node.first + (size - (size > 0 && order_.left_middle ? 1 : 0)) / 2;
    OrderedNode left{.first = node.first, .last = middle}, right{.first = middle, .last = node.last};
    std::uint32_t d = 0;
    if (size > 0) {
      d = order_.split_dims[middle];
      node.above[node.count++] = middle;
      right.first = middle + 1;
    }
    const auto value_at = [&](std::uint64_t place) { return order_.rows[place * frame_.dims() + d]; };
    std::sort(node.above.begin(), node.above.begin() + node.count,
              [&](std::uint64_t a, std::uint64_t b) { return value_at(a) < value_at(b); });
    const std::uint64_t left_size = geometry.first(level + 1, 2 * j + 1) - geometry.first(level, j);
    const std::uint64_t to_left = left_size - (left.last - left.first);
    for (std::uint32_t i = 0; i < node.count; ++i) {
      OrderedNode& child = i < to_left ? left : right;
      child.above[child.count++] = node.above[i];
    }
    frame_.note_split(level, j, d, size > 0 ? value_at(middle) : T(0));
    return {left, right};
  }

  template <typename RecordAt>
  void arrange(const RecordAt& record_at, std::uint32_t level, std::uint64_t j, const OrderedNode& node,
               Writer& writer) {
    if (level == frame_.geometry().levels) {
      Record* const first = records_ + frame_.geometry().first(level, j);
      Record* record = first;
      for (std::uint64_t place = node.first; place < node.last; ++place) *record++ = record_at(place);
      for (std::uint32_t i = 0; i < node.count; ++i) *record++ = record_at(node.above[i]);
      return frame_.write_leaf(j, first, writer);
    }
    const auto [left, right] = children_of(level, j, node);
    arrange(record_at, level + 1, 2 * j, left, writer);
    arrange(record_at, level + 1, 2 * j + 1, right, writer);
    frame_.join_children(level, j);
  }

  TreeFrame<T>& frame_;
  const KdOrder<T>& order_;
  Access access_;
  Record* records_;
};

}  // namespace

template <typename T>
void arrange_in_order(TreeFrame<T>& frame, const KdOrder<T>& order) {
  core::visit_dims(frame.dims(), [&](auto constant_dims) {
    constexpr std::uint32_t D = constant_dims.value;
    if constexpr (D == core::kRuntimeDims) {
      std::vector<std::uint32_t> records(frame.geometry().points);
      InOrder<T, OrderRecords<T>>(frame, order, {{order.rows, frame.dims()}, order.numbers}, records.data())
          .run([](std::uint64_t place) { return static_cast<std::uint32_t>(place); });
    } else {
      using Access = split::PointRecords<T, D>;
      using Record = typename Access::Record;
      auto* records = reinterpret_cast<Record*>(frame.blocks());
      InOrder<T, Access>(frame, order, {}, records).run([&](std::uint64_t place) {
        Record record;
        std::copy_n(order.rows + place * D, D, record.x.begin());
        record.index = order.numbers[place];
        return record;
      });
    }
  });
}

template void arrange_in_order(TreeFrame<float>&, const KdOrder<float>&);
template void arrange_in_order(TreeFrame<double>&, const KdOrder<double>&);

}  // namespace kith::cpu
