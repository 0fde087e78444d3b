// The builder by sorted orders: for each dimension the indices of all points, sorted once by its super-key, and then
// divided level by level without losing the order.
//
// A node is cut in the middle of the order of its dimension. Its points note on which side they are, and the orders of
// the other dimensions are partitioned stably. So boxes and split values are read off the ends and middles. When nodes
// are small enough, the points of a subtree are numbered anew, so that 16 bits hold a number.
//
// memory: 4 bytes per point and dimension, and a key with its index; per level 4 bytes per point and dimension are read
// and written, in subtrees 2; coordinates are read at the beginning and at the end
#include "cpu/kd_tree/builders/builders.hpp"
#include "cpu/kd_tree/builders/quantised.hpp"
#include "cpu/kd_tree/builders/segmented_pass.hpp"
#include "cpu/kd_tree/tuning.hpp"
#include "split/split_records.hpp"

#include <atomic>

namespace kith::cpu {
namespace {

/// Moves the numbers with is_right(number) = 1 behind those with 0, both in their order, without a branch on the data.
/// `waiting` has space for as many.
template <typename Number, typename IsRight>
void partition_stably(Number* numbers, std::uint64_t count, Number* waiting, const IsRight& is_right) {
  Number* left = numbers;
  Number* right = waiting;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Number number = numbers[i];
    const std::uint64_t goes_right = is_right(number);
    *left = number;
    *right = number;
    left += 1 - goes_right;
    right += goes_right;
  }
  std::copy(waiting, right, left);
}

template <typename T>
class Presort {
 public:
  using Access = split::IndexRecords<T>;
  using Local = std::uint16_t;
  static constexpr std::uint64_t kMostLocal = std::uint64_t{1} << 16;

  Presort(TreeFrame<T>& frame, const T* rows)
      : frame_(frame),
        access_{rows, frame.dims()},
        memory_(frame.geometry().points * sizeof(std::uint32_t) * dims()),
        scratch_(frame.geometry().points * sizeof(Item)),
        spare_(scratch_.as<std::uint32_t>().data()),
        marks_(reinterpret_cast<Local*>(spare_ + points())) {
    for (std::uint32_t d = 0; d < dims(); ++d) orders_.push_back(memory_.as<std::uint32_t>().data() + d * points());
    sort_orders();
  }

  bool splits_level(std::uint32_t level) const { return splits_level(level, points(), frame_.threads()); }
  static bool splits_level(std::uint32_t level, std::uint64_t points, int threads) {
    const auto tasks = 4 * static_cast<std::uint64_t>(threads);
    return points >> level >= kMostLocal || (threads > 1 && TreeFrame<T>::is_top(level, points) && tasks >> level > 0);
  }

  void split_level(std::uint32_t level, T* boxes, T* next) {
    const core::KdGeometry& geometry = frame_.geometry();
    const std::uint64_t nodes = std::uint64_t{1} << level;
    const std::uint32_t values = 2 * dims();
    const Segments segments(nodes, [&](std::uint64_t j) { return geometry.first(level, j); });
    std::vector<const std::uint32_t*> orders(nodes);  // of the dimension that a node splits
    for (std::uint64_t j = 0; j < nodes; ++j) {
      const std::uint64_t begin = geometry.first(level, j), end = geometry.first(level, j + 1);
      T* box = boxes + j * values;
      if (level % core::kTightBoxEvery == 0) {
        for (std::uint32_t d = 0; d < dims(); ++d) {
          box[d] = without_sign_of_zero(access_.at(orders_[d][begin], d));
          box[dims() + d] = without_sign_of_zero(access_.at(orders_[d][end - 1], d));
        }
      }
      const std::uint32_t d = frame_.split_dim(level, box);
      orders[j] = orders_[d];
      frame_.cut(level, j, d, access_.at(orders_[d][geometry.first(level + 1, 2 * j + 1)], d), box,
                 next + 2 * j * values);
    }
    segments.for_blocks(frame_.threads(), [&](std::uint64_t b) {
      const auto [j, begin, end] = segments.blocks()[b];
      const std::uint64_t middle = geometry.first(level + 1, 2 * j + 1);
      for (std::uint64_t i = begin; i < end; ++i) marks_[orders[j][i]] = i < middle ? 0 : 1;
    });
    const std::vector<std::uint64_t> sides = as_bits();  // which stay in a cache
    const auto is_right = [words = sides.data()](std::uint32_t point) { return words[point / 64] >> point % 64 & 1; };
    for (std::uint32_t*& order : orders_) {
      if (nodes < static_cast<std::uint64_t>(frame_.threads())) {
        segmented_pass(
            segments, 2, order, spare_, [&](std::uint64_t) { return is_right; }, frame_.threads());
        std::swap(order, spare_);
      } else {
        runtime::parallel_for(nodes, {.threads = frame_.threads()}, [&](std::uint64_t j) {
          const std::uint64_t begin = geometry.first(level, j), end = geometry.first(level, j + 1);
          partition_stably(order + begin, end - begin, spare_ + begin, is_right);
        });
      }
    }
  }
  void end_levels() {}
  Access access() const { return access_; }

  /// A subtree whose points are numbered by their place in the order of the first dimension.
  class Task {
   public:
    Task(Presort& method, std::uint32_t level, std::uint64_t j)
        : access_(method.access_),
          levels_(method.frame_.geometry().levels),
          begin_(method.frame_.geometry().first(level, j)),
          count_(method.frame_.geometry().first(level, j + 1) - begin_),
          indices_(method.orders_[0] + begin_, method.orders_[0] + begin_ + count_),
          orders_(count_ * access_.dims()),
          is_right_(count_),
          right_(count_),
          leaf_(method.frame_.leaf_size()) {
      Local* numbers = method.marks_;
      for (std::uint64_t i = 0; i < count_; ++i) numbers[indices_[i]] = static_cast<Local>(i);
      for (std::uint32_t d = 0; d < access_.dims(); ++d) {
        std::transform(method.orders_[d] + begin_, method.orders_[d] + begin_ + count_, order(d),
                       [&](std::uint32_t point) { return numbers[point]; });
      }
    }

    void tighten(std::uint64_t begin, std::uint64_t end, T* box) const {
      for (std::uint32_t d = 0; d < access_.dims(); ++d) {
        box[d] = without_sign_of_zero(at(begin, d));
        box[access_.dims() + d] = without_sign_of_zero(at(end - 1, d));
      }
    }

    T split(std::uint32_t level, std::uint64_t begin, std::uint64_t middle, std::uint64_t end, std::uint32_t d,
            const T*) {
      leaf_dim_ = d;
      const T value = at(middle, d);
      if (level + 1 == levels_) return value;  // leaves take their points from this order
      const Local* own = order(d) - begin_;
      for (std::uint64_t i = begin; i < middle; ++i) is_right_[own[i]] = 0;
      for (std::uint64_t i = middle; i < end; ++i) is_right_[own[i]] = 1;
      for (std::uint32_t other = 0; other < access_.dims(); ++other) {
        if (other == d) continue;
        partition_stably(order(other) + (begin - begin_), end - begin, right_.data(),
                         [sides = is_right_.data()](Local number) { return sides[number]; });
      }
      return value;
    }

    const std::uint32_t* leaf(std::uint64_t begin, std::uint64_t end) {
      const Local* own = order(leaf_dim_) - begin_;
      for (std::uint64_t i = begin; i < end; ++i) leaf_[i - begin] = indices_[own[i]];
      return leaf_.data();
    }

   private:
    Local* order(std::uint32_t d) { return orders_.data() + d * count_; }
    const Local* order(std::uint32_t d) const { return orders_.data() + d * count_; }
    T at(std::uint64_t place, std::uint32_t d) const { return access_.at(indices_[order(d)[place - begin_]], d); }

    Access access_;
    std::uint32_t levels_;
    std::uint64_t begin_, count_;
    std::vector<std::uint32_t> indices_;  ///< of the points by their new numbers
    std::vector<Local> orders_;           ///< dims x count
    std::vector<std::uint8_t> is_right_;  ///< by number
    std::vector<Local> right_;
    std::vector<std::uint32_t> leaf_;
    std::uint32_t leaf_dim_ = 0;
  };

 private:
  struct Item {
    OrderedBits<T> key;
    std::uint32_t index;
  };
  static_assert(sizeof(Item) == 2 * sizeof(T) && sizeof(Item) >= sizeof(std::uint32_t) + sizeof(Local));

  std::uint32_t dims() const { return frame_.dims(); }
  std::uint64_t points() const { return frame_.geometry().points; }

  /// Whether the mark of a point is 1, as a bit.
  std::vector<std::uint64_t> as_bits() const {
    std::vector<std::uint64_t> bits((points() + 63) / 64);
    constexpr std::uint64_t kWords = 1 << 10;
    runtime::parallel_for((bits.size() + kWords - 1) / kWords, {.threads = frame_.threads()}, [&](std::uint64_t part) {
      for (std::uint64_t w = part * kWords; w < std::min<std::uint64_t>(bits.size(), (part + 1) * kWords); ++w) {
        for (std::uint64_t i = 64 * w; i < std::min(points(), 64 * w + 64); ++i) {
          bits[w] |= std::uint64_t{marks_[i]} << i % 64;
        }
      }
    });
    return bits;
  }

  /// Sorts by each dimension; the few that are equal in it are put right. Where many are, an order is a stable sort of
  /// that of the next dimension, which begins with a sort by all of them.
  void sort_orders() {
    const Segments all(1, [&](std::uint64_t s) { return s * points(); });
    std::vector<Item*> buffers = {reinterpret_cast<Item*>(frame_.blocks()), scratch_.as<Item>().data()};
    const auto by_index = [](std::uint64_t i) { return static_cast<std::uint32_t>(i); };
    bool runs_are_short = true;
    for (std::uint32_t d = 0; d < dims() && runs_are_short; ++d) {
      sort_by(d, by_index, all, buffers);
      runs_are_short = dims() == 1 || resolve_equals(d, all, buffers[0]);
      keep(all, buffers[0], orders_[d]);
    }
    if (runs_are_short) return;
    sort_by(dims() - 2, by_index, all, buffers);
    for (std::uint32_t d = dims() - 2; d-- > 0;) resort_by(d, all, buffers);
    for (std::uint32_t d = dims(); d-- > 0;) {
      resort_by(d, all, buffers);
      keep(all, buffers[0], orders_[d]);
    }
  }

  void resort_by(std::uint32_t d, const Segments& all, std::vector<Item*>& buffers) {
    std::swap(buffers[0], buffers[1]);
    sort_by(
        d, [sorted = buffers[1]](std::uint64_t i) { return sorted[i].index; }, all, buffers);
  }

  /// Stably: `point_at(i)` are the points in their present order, which may lie in the second buffer. The first
  /// receives them.
  template <typename PointAt>
  void sort_by(std::uint32_t d, const PointAt& point_at, const Segments& all, std::vector<Item*>& buffers) {
    std::vector<std::pair<OrderedBits<T>, OrderedBits<T>>> ends(all.blocks().size());
    all.for_blocks(frame_.threads(), [&](std::uint64_t b) {
      OrderedBits<T> low = std::numeric_limits<OrderedBits<T>>::max(), high = 0;
      for (std::uint64_t i = all.blocks()[b].begin; i < all.blocks()[b].end; ++i) {
        const std::uint32_t point = point_at(i);
        const OrderedBits<T> key = ordered_coordinate(access_.at(point, d));
        buffers[0][i] = {key, point};
        low = std::min(low, key);
        high = std::max(high, key);
      }
      ends[b] = {low, high};
    });
    OrderedBits<T> low = std::numeric_limits<OrderedBits<T>>::max(), high = 0;
    for (const auto& [lowest, highest] : ends) {
      low = std::min(low, lowest);
      high = std::max(high, highest);
    }
    const auto bits = points() == 0 ? 0 : static_cast<std::uint32_t>(std::bit_width(high - low));
    for (std::uint32_t shift = 0; shift < bits; shift += kPresortBits) {
      const auto digit_of = [low, shift](const Item& item) {
        return static_cast<std::uint32_t>((item.key - low) >> shift) & ((1u << kPresortBits) - 1);
      };
      segmented_pass(
          all, 1 << kPresortBits, buffers[0], buffers[1], [&](std::uint64_t) { return digit_of; }, frame_.threads());
      std::swap(buffers[0], buffers[1]);
    }
  }

  /// Sorts each run of equal keys by the rest of the super-key. False if one is long.
  bool resolve_equals(std::uint32_t d, const Segments& all, Item* items) const {
    std::vector<std::uint64_t> starts(all.blocks().size() + 1, points());  // of the first run that begins in a block
    all.for_blocks(frame_.threads(), [&](std::uint64_t b) {
      std::uint64_t& i = starts[b] = all.blocks()[b].begin;
      while (i > 0 && i < all.blocks()[b].end && items[i].key == items[i - 1].key) ++i;
    });
    std::atomic<bool> is_short = true;
    all.for_blocks(frame_.threads(), [&](std::uint64_t b) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
      for (std::uint64_t i = starts[b], end; i < starts[b + 1] && is_short; i = end) {
        for (end = i + 1; end < starts[b + 1] && items[end].key == items[i].key;) ++end;
        if (end - i == 1) continue;
        if (end - i > kFewEquals) is_short = false;
        runs.emplace_back(i, end);
        for (std::uint64_t place = i; place < end && is_short; ++place) {
          __builtin_prefetch(access_.rows + std::uint64_t{items[place].index} * dims());
        }
      }
      if (!is_short) return;
      for (const auto& [first, end] : runs) {
        std::sort(items + first, items + end,
                  [&](const Item& x, const Item& y) { return split::precedes(access_, x.index, y.index, d); });
      }
    });
    return is_short;
  }

  void keep(const Segments& all, const Item* items, std::uint32_t* order) const {
    all.for_blocks(frame_.threads(), [&](std::uint64_t b) {
      for (std::uint64_t i = all.blocks()[b].begin; i < all.blocks()[b].end; ++i) order[i] = items[i].index;
    });
  }

  TreeFrame<T>& frame_;
  Access access_;
  runtime::LargeBuffer memory_;
  runtime::LargeBuffer scratch_;        ///< half of the items while they are sorted; the others lie in the blocks
  std::vector<std::uint32_t*> orders_;  ///< by dimension
  std::uint32_t* spare_;                ///< takes the place of an order, in the scratch memory
  Local* marks_;                        ///< by point, behind it
};

}  // namespace

template <typename T>
void build_by_presort(TreeFrame<T>& frame, const T* rows) {
  Presort<T> method(frame, rows);
  frame.run(method);
}

template <typename T>
std::uint64_t presort_storage(const TreeToBuild& tree) {
  const std::uint64_t points = tree.geometry.points;
  const std::uint64_t orders = points * sizeof(std::uint32_t) * tree.dims;
  const std::uint64_t scratch = points * 2 * sizeof(T), counts = points / 2;
  const int threads = runtime::resolve_threads(tree.threads);
  std::uint32_t level = 0;
  while (level < tree.geometry.levels && Presort<T>::splits_level(level, points, threads)) ++level;
  const std::uint64_t side_by_side = std::min(static_cast<std::uint64_t>(threads), std::uint64_t{1} << level);
  const std::uint64_t subtrees = side_by_side * ((points >> level) + 1) * (2 * tree.dims + 7);
  return orders + scratch + counts + subtrees;
}

template void build_by_presort(TreeFrame<float>&, const float*);
template void build_by_presort(TreeFrame<double>&, const double*);
template std::uint64_t presort_storage<float>(const TreeToBuild&);
template std::uint64_t presort_storage<double>(const TreeToBuild&);

}  // namespace kith::cpu
