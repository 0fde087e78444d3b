// Approximate kNN, a warp per query: for every k, dims, type, metric and filter. The lanes decide the same things at
// the same time; they share the measuring of nodes and points.
#pragma once

#include "cuda/kd_tree/search/approximate/approximate_walk.cuh"
#include "cuda/kd_tree/search/warp/knn.cuh"
#include "cuda/kd_tree/search/warp/offer_leaf.cuh"
#include "cuda/kd_tree/search/warp/query_warp.cuh"

namespace kith::cuda {

/// Measures four levels at a time: the 2 + 4 + 8 + 16 nodes below a node, a lane each. Lane r has the node that has the
/// place r in the heap whose top, at place 1, is that node.
template <typename T, std::uint32_t kDims>
class WarpScout {
 public:
  __device__ WarpScout(const SearchTree<T>& tree, const Measure<T, kDims>& measure) : tree_(tree), measure_(measure) {}

  __device__ T to_root() const { return measure_.to_box(tree_.lower(0)); }
  __device__ void to_children(std::uint64_t node, T& left, T& right) {
    const std::uint32_t level = 63 - leading_zeros(node + 1);
    std::uint32_t below = level - top_level_;
    if (below >= kLevels || (node + 1) >> below != top_) {
      below = 0;
      top_ = node + 1;
      top_level_ = level;
      measure_below();
    }
    const std::uint32_t place = (1u << below) | (static_cast<std::uint32_t>(node + 1) & ((1u << below) - 1));
    left = shuffle(bound_, 2 * place);
    right = shuffle(bound_, 2 * place + 1);
  }

 private:
  static constexpr std::uint32_t kLevels = 4;

  __device__ void measure_below() {
    const std::uint32_t place = lane_number();
    if (place < 2) return;
    const std::uint32_t below = 31 - leading_zeros(place);
    const std::uint64_t node = (top_ << below | (place & ((1u << below) - 1))) - 1;
    if (node < tree_.geometry.nodes()) bound_ = measure_.to_box(tree_.lower(node));
  }

  const SearchTree<T>& tree_;
  const Measure<T, kDims>& measure_;
  std::uint64_t top_ = 0;  ///< one more than the number of the node whose descendants are measured; 0: none yet
  std::uint32_t top_level_ = 0;
  T bound_ = 0;
};

/// What a warp has of shared memory: the query, the queue, and room for a list.
template <typename T>
struct ApproximateStorage {
  std::uint32_t queue_at = 0;
  std::uint32_t list_at = 0;
  std::uint32_t bytes = 0;

  KITH_HOST_DEVICE ApproximateStorage(std::uint32_t dims, std::uint32_t queued, std::uint32_t list_bytes) {
    const auto rounded = [](std::uint32_t size) { return (size + 15) / 16 * 16; };
    queue_at = rounded(dims * static_cast<std::uint32_t>(sizeof(T)));
    list_at = queue_at + rounded(queued * static_cast<std::uint32_t>(sizeof(engine::BoundedNode<T>)));
    bytes = list_at + rounded(list_bytes);
  }
};

/// `queued`: the nodes that a WarpQueue has room for.
template <typename T, std::uint32_t kDims, template <typename> class List, template <typename> class Frontier>
__global__ void __launch_bounds__(kSearchThreads)
    approximate_by_warps(const __grid_constant__ ApproximateTask<T> task, ListMemory<T> lists, std::uint32_t queued) {
  const KnnTask<T>& knn = task.knn;
  const ApproximateStorage<T> storage(knn.tree.dims, queued, lists.shared_bytes());
  std::byte* shared = shared_memory() + warp_number() * storage.bytes;
  const auto points = static_cast<std::uint32_t>(knn.tree.geometry.points);
  List<T> list(entries_of_list(knn.k, points), lists.of_warp(shared + storage.list_at), lists.capacity);
  Measure<T, kDims> measure(knn.metric, knn.tree.dims);
  Frontier<T> frontier(shared + storage.queue_at, queued);
  const std::uint64_t queries = queries_of(knn.queries);
  for (std::uint64_t i = search_warp(); i < queries; i += search_warps()) {
    const FoundQuery<T> query(knn.tree, knn.queries, knn.filter, i);
    measure.set_query(query.values, query.stride, reinterpret_cast<T*>(shared));
    list.reset(knn.bound);
    WarpScout<T, kDims> scout(knn.tree, measure);
    ApproximateWalk walk(task, query.info.end, scout, frontier, list);
    while (walk.find_leaf()) {
      const SearchLeaf<T> leaf = knn.tree.leaf(walk.leaf());
      offer_leaf(leaf, true, kWarp, leaf.count, knn.filter, measure, query.info, list);
      list.resolve();  // the walk depends on the limit
    }
    const std::uint64_t row = query.info.row;
    list.write(knn.answer, row * knn.k, knn.k, points);
    if (task.exact != nullptr && lane_number() == 0) task.exact[row] = walk.is_certain() ? 1 : 0;
  }
}

}  // namespace kith::cuda
