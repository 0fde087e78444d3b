// kNN in a cover tree, a warp per query.
#pragma once

#include "cuda/cover_tree/search/cover_query.cuh"
#include "cuda/cover_tree/search/cover_walk.cuh"
#include "cuda/queries/nearest_in_lanes.cuh"
#include "cuda/queries/nearest_in_memory.cuh"
#include "cuda/queries/search_warp.cuh"

namespace kith::cuda {

/// A list that the walk of a cover tree fills.
template <typename List>
class CoverNearest : public List {
 public:
  static constexpr bool kCountsOnly = false;
  static constexpr bool kHasList = true;
  using List::List;
};

/// How many objects a walk begins with.
KITH_HOST_DEVICE inline std::uint32_t cover_seed(std::uint32_t k) {
  constexpr std::uint32_t kLeast = 64, kMost = 1024;
  const std::uint32_t wanted = k < kMost / 2 ? (2 * k + kWarp - 1) / kWarp * kWarp : kMost;
  return wanted < kLeast ? kLeast : wanted;
}

template <typename Space, template <typename> class List>
__global__ void __launch_bounds__(kSearchThreads)
    cover_knn(const __grid_constant__ CoverKnnTask<Space> task, ListMemory<typename Space::Value> lists,
              CoverFrames<typename Space::Value> frames) {
  using T = typename Space::Value;
  using Collector = CoverNearest<List<T>>;
  const CoverStorage<T> storage(task.space.context_bytes(), frames.shared_bytes(task.tree.height),
                                lists.shared_bytes());
  std::byte* shared = shared_memory() + warp_number() * storage.bytes;
  Collector list(entries_of_list(task.request.k, task.tree.count), lists.of_warp(shared + storage.list_at),
                 lists.capacity);
  CoverWalk<Space, Collector> walk(task.space, task.tree, task.request.filter, shared + storage.context_at,
                                   frames.of_warp(shared + storage.frames_at, task.tree.height),
                                   *reinterpret_cast<CoverQueue*>(shared));
  const KnnRequest<T>& request = task.request;
  const std::uint64_t queries = queries_of(request.queries);
  for (std::uint64_t i = search_warp(); i < queries; i += search_warps()) {
    const CoverQuery<T> query(task.tree, request.queries, request.filter, i);
    const std::uint64_t row = query.info.row;
    const T bound = request.bound_of(row);
    list.reset(bound);
    if (bound >= 0) {
      task.space.prepare(shared + storage.context_at, query.row);
      walk.ask(query.info, list, task.shrink);
      if (task.tree.nodes.kind[0] == CoverKind::inner) {
        if (query.is_own) {
          walk.seed_around(query.position, cover_seed(request.k));
        } else {
          walk.seed_nearest(cover_seed(request.k));
        }
      }
      walk.run();
    }
    list.write(request.answer, row * request.k, request.k, task.tree.count);
    if (task.exact != nullptr) {
      const bool is_exact = !(bound >= 0) || walk.is_exact();
      if (lane_number() == 0) task.exact[row] = is_exact ? 1 : 0;
    }
    sync_warp();  // the next query is not prepared while this one is still read
  }
  report_evaluations(task.request.evaluations, walk.evaluations());
}

}  // namespace kith::cuda
