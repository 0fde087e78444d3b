// The builder by sorted orders on a GPU: for each dimension the numbers of all points, sorted once by its super-key,
// and then divided level by level without losing the order.
//
// Bytes per point beyond the two copies of the points, D dims of T: 4 D; for a while up to a half more for sorts.
// Passes over all points: D radix sorts (2 D - 1 and a gather each, where many points share a coordinate), a level as
// presort_level.cuh says while nodes have more than 2048 points, the rest in shared memory, one gather of rows.
#pragma once

#include "cuda/kd_tree/build/builders/gather_points.cuh"
#include "cuda/kd_tree/build/builders/presort_local.cuh"
#include "cuda/kd_tree/build/builders/presort_orders.cuh"

#include <algorithm>

namespace kith::cuda {

/// `Device`: StepDevice, or what stands for it in tests.
template <typename T, typename Device>
class Presort {
 public:
  Presort(Device& device, const ArrangeTask<T>& task)
      : device_(device),
        task_(task),
        points_(task.shape.geometry.points),
        dims_(task.shape.dims),
        memory_(lay_out_presort<T>(task.shape, task.copy, task.scratch)) {}

  ArrangedPoints<T> run() {
    if (points_ > 0) {
      sort_orders();
      split_levels();
    }
    return gathered(device_, task_, order(0));
  }

 private:
  using Pairs = KeyedPairs<OrderedKey<T>>;

  std::uint32_t* order(std::uint32_t d) const { return memory_.orders[0] + d * memory_.stride; }

  template <typename... Parameters, typename... Arguments>
  void launch_for(std::uint64_t threads, void (*kernel)(Parameters...), const Arguments&... arguments) {
    constexpr std::uint64_t kMostBlocks = 1u << 20;
    const std::uint64_t blocks = (threads + kPresortThreads - 1) / kPresortThreads;
    device_.launch(kernel, static_cast<std::uint32_t>(std::min(blocks, kMostBlocks)), kPresortThreads, 0, arguments...);
  }

  /// Stably, of the points in the order `from`, or of all by number if it is null. The pairs may be where they are put
  /// or elsewhere; the order of d receives nothing else.
  Pairs sort_by(std::uint32_t d, const std::uint32_t* from, std::uint32_t* to) {
    const Pairs pairs{memory_.pairs[0].keys, to};
    device_.phase("keys");
    launch_for(points_, write_keys<T>, task_.source, points_, d, from, pairs, task_.refused);
    device_.phase("sort");
    return device_.sort(pairs, memory_.pairs[1], static_cast<std::uint32_t>(points_), 0, 8 * sizeof(OrderedKey<T>));
  }

  bool has_long_runs() {
    std::uint32_t has = 0;
    device_.read(&has, memory_.has_long_runs, sizeof has);
    return has != 0;
  }

  /// Sorts by each dimension; the few that are equal in it are put right. Where many are, an order is a stable sort of
  /// that of the next dimension, which begins with a sort by all of them.
  void sort_orders() {
    device_.zero(memory_.has_long_runs, sizeof(std::uint32_t));
    bool runs_are_short = true;
    for (std::uint32_t d = 0; d < dims_ && runs_are_short; ++d) {
      const Pairs sorted = sort_by(d, nullptr, order(d));
      if (dims_ == 1) {
        keep(sorted, order(d));
      } else {
        device_.phase("ties");
        launch_for(points_, sort_runs<T>, task_.source, points_, dims_, d, sorted, order(d), memory_.has_long_runs);
        if (d == 0 || d + 1 == dims_) runs_are_short = !has_long_runs();
      }
    }
    if (runs_are_short) return;
    const auto resort_by = [&](std::uint32_t d, const std::uint32_t* from, std::uint32_t* to) {
      keep(sort_by(d, from, to), to);
    };
    resort_by(dims_ - 2, nullptr, order(0));
    for (std::uint32_t d = dims_ - 2; d-- > 0;) resort_by(d, order(0), order(0));
    for (std::uint32_t d = dims_; d-- > 0;) resort_by(d, order(d + 1 == dims_ ? 0 : d + 1), order(d));
  }
  void keep(const Pairs& sorted, std::uint32_t* to) {
    if (sorted.values != to) {
      launch_for(points_, copy_order<T>, static_cast<const std::uint32_t*>(sorted.values), points_, to);
    }
  }

  /// The numbers of the points in the order of the leaves become the order of the first dimension.
  void split_levels() {
    const core::KdGeometry& geometry = task_.shape.geometry;
    const LocalPlan plan(task_.shape, task_.shared_bytes);
    PresortLevel<T> level{task_, 0, memory_.stride, memory_.orders[0], memory_.orders[1], memory_.sides, memory_.tiles};
    if (memory_.tile_count > 0) device_.zero(memory_.tiles, memory_.tile_count * sizeof(std::uint64_t));
    for (; level.level < plan.level; ++level.level) {
      const auto tiles = static_cast<std::uint32_t>(presort_tiles(geometry, level.level)), nodes = 1u << level.level;
      device_.phase("splits");
      launch_for(nodes, split_presorted_nodes<T>, level);
      if (level.level + 1 == geometry.levels) {
        device_.launch(take_leaves<T>, nodes * tiles, kPresortThreads, 0, level, tiles, order(0));
        return;
      }
      device_.zero(memory_.sides, (points_ + 31) / 32 * sizeof(std::uint32_t));
      device_.launch(mark_right_halves<T>, nodes * tiles, kPresortThreads, 0, level, tiles);
      device_.phase("divide");
      device_.launch(divide_orders<T>, nodes * tiles * dims_, kPresortThreads,
                     (kPresortThreads / kWarp + 1) * sizeof(std::uint32_t), level, tiles);
      level.orders = level.divided;
      level.divided = level.orders == memory_.orders[0] ? memory_.orders[1] : memory_.orders[0];
    }
    if (plan.level == geometry.levels) return;  // a single leaf: any order will do
    device_.phase("subtrees");
    const PresortLocal<T> local{level, plan.most, memory_.local, order(0)};
    if (dims_ > 1) device_.launch(number_locally<T>, 1u << plan.level, kPresortThreads, 0, local);
    device_.launch(split_presorted_subtrees<T>, 1u << plan.level, plan.most / kLocalEach,
                   LocalLayout(plan.most, dims_).bytes, local);
  }

  Device& device_;
  const ArrangeTask<T>& task_;
  std::uint64_t points_;
  std::uint32_t dims_;
  PresortMemory<T> memory_;
};

}  // namespace kith::cuda
