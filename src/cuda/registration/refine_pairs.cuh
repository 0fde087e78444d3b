// All iterations of many small pairs in one kernel, a block for each pair: the target's tree is in shared memory, and
// points are searched for again only when their match may have changed.
#pragma once

#include "core/order/candidate.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/registration/match_terms.cuh"
#include "cuda/registration/ordered_total.cuh"
#include "cuda/registration/pairs_types.hpp"
#include "cuda/registration/registration_types.hpp"
#include "cuda/registration/small_cloud.cuh"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace kith::cuda {

template <int Unknowns>
struct PairShared {
  static constexpr int kTerms = core::TermPlaces<Unknowns>::kCount;
  static constexpr std::uint32_t kMostBlocks = kMostSmallPoints / core::kSumBlock;
  static constexpr std::uint32_t kGroups = core::kSumBlock / core::kSumGroup;

  core::Frame frame;
  core::StepRule rule;
  core::StageState state;
  std::uint32_t open;  ///< points to search for
  double blocks[kMostBlocks][kTerms];
  double total[kTerms];

  KITH_HOST_DEVICE static constexpr std::uint32_t header() { return (sizeof(PairShared) + 15) / 16 * 16; }
  /// Of the sums of groups, which lie behind the header.
  KITH_HOST_DEVICE static constexpr std::uint32_t group_bytes(std::uint32_t points) {
    return static_cast<std::uint32_t>(core::sum_blocks(points) * kGroups * kTerms * sizeof(double));
  }
  /// Of the list of open points, which follows; the tree lies behind it.
  KITH_HOST_DEVICE static constexpr std::uint32_t list_bytes(std::uint32_t points) {
    return (points * static_cast<std::uint32_t>(sizeof(std::uint16_t)) + 15) / 16 * 16;
  }
  template <typename T, std::uint32_t kDims>
  KITH_HOST_DEVICE static constexpr std::uint32_t bytes(std::uint32_t points, std::uint32_t targets) {
    return header() + group_bytes(points) + list_bytes(points) + SmallTree<T, kDims>::bytes(targets);
  }
};

template <typename T, std::uint32_t kDims>
__device__ __forceinline__ double distance_between(const T (&a)[kDims], const T (&b)[kDims]) {
  double squared = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const double gap = static_cast<double>(a[d]) - static_cast<double>(b[d]);
    squared += gap * gap;
  }
  return core::square_root(squared);
}

/// Squares of distances above it overflow; a little less, because distances are rounded.
template <typename T>
inline constexpr double kMostDistance = sizeof(T) == 4 ? 1.84465e19 * (1 - 1e-5) : 1.34077e154 * (1 - 1e-5);

/// Whether the match of a point may be another one than that of its last search. The rules are those of
/// apps/register/nearest_matches.cpp.
template <typename T, std::uint32_t kDims>
__device__ bool needs_search(const SmallTree<T, kDims>& tree, const KnownMatch<T, kDims>& known,
                             const T (&query)[kDims], double reach) {
  constexpr double kSlack = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  constexpr double kTiny = sizeof(T) == 4 ? 1.0842022e-19 : 1.4916682e-154;  // whose square is the least normal number
  if (known.others < 0) return true;
  const double walked = distance_between<T, kDims>(query, known.place);
  const double others = static_cast<double>(known.others) * (1 - kSlack) - walked * (1 + kSlack);
  if (known.nearest == core::kNoPoint) return !(others > reach);
  T match[kDims];
  tree.load(known.nearest, match);
  const double distance = distance_between<T, kDims>(query, match) * (1 + kSlack);
  return !(distance > kTiny && distance < kMostDistance<T> / 2 && distance < others);
}

template <typename T, std::uint32_t kDims>
__device__ void search_point(const SmallTree<T, kDims>& tree, KnownMatch<T, kDims>& known, const T (&query)[kDims],
                             T limit) {
  NearestAndNext<T> best{limit, limit, core::kNoPoint, core::kNoPoint};
  if (known.nearest != core::kNoPoint) {
    best.offer(reduced_to_point<T, kDims>(query, tree.leaves[known.nearest / kSmallLeaf], known.nearest % kSmallLeaf),
               known.nearest, tree.numbers);
  }
  find_nearest_and_next<T, kDims>(tree, query, best);
  const double others = core::square_root(static_cast<double>(best.next));
  known.others = static_cast<T>(others < kMostDistance<T> ? others : kMostDistance<T>);
  known.nearest = best.place;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) known.place[d] = query[d];
}

/// The matches at the pose of the state. Points are looked at along the source's curve, so that the searches of a warp
/// lie together.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ void find_matches(const PairTask<T>& task, const std::uint16_t* order, PairShared<Unknowns>& shared,
                             std::uint16_t* open, const SmallTree<T, kDims>& tree) {
  auto* const known = static_cast<KnownMatch<T, kDims>*>(task.known);
  double moved[3];
  T query[kDims];
  if (thread_number() == 0) shared.open = 0;
  sync_block();
  for (std::uint32_t first = 0; first < task.points; first += threads_per_block()) {
    const std::uint32_t i = first + thread_number();
    const std::uint32_t point = i < task.points ? order[i] : 0;
    const bool is_open =
        i < task.points &&
        move_row<T, kDims>(task.source + point * task.row_stride, shared.frame, shared.state.motion, moved, query) &&
        needs_search<T, kDims>(tree, known[point], query, shared.state.max_distance);
    const std::uint32_t all = ballot(is_open);
    std::uint32_t at = 0;
    if (lane_number() == 0 && all != 0) at = atomic_add(&shared.open, count_bits(all));
    at = shuffle(at, 0);
    if (is_open) open[at + count_bits(all & ((1u << lane_number()) - 1))] = static_cast<std::uint16_t>(point);
  }
  sync_block();
  const std::uint32_t count = shared.open;
  constexpr double kFarther = 1.25;  // so that points without a match are not searched for again at once
  const T limit = reach_of<T>(shared.state.max_distance * kFarther);
  for (std::uint32_t i = thread_number(); i < count; i += threads_per_block()) {
    const std::uint32_t point = open[i];
    move_row<T, kDims>(task.source + point * task.row_stride, shared.frame, shared.state.motion, moved, query);
    search_point<T, kDims>(tree, known[point], query, limit);
  }
  sync_block();
}

/// The sums over all pairs in the CPU's order, to shared.total. If `matches` is not null, it receives those of pairs.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ void add_pairs(const PairTask<T>& task, const core::PairRule& rule, PairShared<Unknowns>& shared,
                          double* groups, const SmallTree<T, kDims>& tree, std::uint32_t* matches) {
  using Shared = PairShared<Unknowns>;
  constexpr int kTerms = Shared::kTerms;
  const auto* const known = static_cast<const KnownMatch<T, kDims>*>(task.known);
  const auto blocks = static_cast<std::uint32_t>(core::sum_blocks(task.points));
  for (std::uint32_t b = 0; b < blocks; ++b) {
    core::Terms<kTerms> terms{};
    const std::uint32_t point = b * core::kSumBlock + thread_number();
    if (point < task.points) {
      double moved[3];
      T query[kDims], match[kDims];
      std::uint32_t number = core::kNoPoint;
      const std::uint32_t place = known[point].nearest;
      if (place != core::kNoPoint &&
          move_row<T, kDims>(task.source + point * task.row_stride, shared.frame, shared.state.motion, moved, query)) {
        tree.load(place, match);
        const std::uint32_t its_number = tree.numbers[place];
        if (terms_of_match<T, kDims, Unknowns>(rule, shared.frame, shared.state, moved, query, match,
                                               row_at(task.source_normals, std::uint64_t{point} * kDims),
                                               row_at(task.target_normals, std::uint64_t{its_number} * kDims), terms)) {
          number = its_number;
        }
      }
      if (matches != nullptr) matches[point] = number;
    }
    add_group<kTerms>(terms, groups + (b * Shared::kGroups + warp_number()) * kTerms);
  }
  sync_block();
  for (std::uint32_t i = thread_number(); i < blocks * kTerms; i += threads_per_block()) {
    const std::uint32_t b = i / kTerms;
    const std::uint32_t j = i % kTerms;
    double sum = 0;
    for (std::uint32_t g = 0; g < Shared::kGroups; ++g) sum += groups[(b * Shared::kGroups + g) * kTerms + j];
    shared.blocks[b][j] = sum;
  }
  sync_block();
  if (thread_number() < kTerms) {
    shared.total[thread_number()] = sum_of_few_blocks(&shared.blocks[0][thread_number()], kTerms, blocks);
  }
  sync_block();
}

/// A block of kSumBlock threads for each pair.
template <typename T, std::uint32_t kDims, int Unknowns>
__global__ void __launch_bounds__(core::kSumBlock, 2) refine_pairs(const PairTask<T>* tasks) {
  using Shared = PairShared<Unknowns>;
  const PairTask<T>& task = tasks[block_number()];
  auto& shared = *reinterpret_cast<Shared*>(shared_memory());
  auto* const groups = reinterpret_cast<double*>(shared_memory() + Shared::header());
  auto* const open =
      reinterpret_cast<std::uint16_t*>(shared_memory() + Shared::header() + Shared::group_bytes(task.points));
  std::byte* const memory =
      shared_memory() + Shared::header() + Shared::group_bytes(task.points) + Shared::list_bytes(task.points);
  const SmallTree<T, kDims> tree(memory, task.targets);
  for (std::uint32_t i = thread_number(); i < SmallTree<T, kDims>::bytes(task.targets) / sizeof(std::uint64_t);
       i += threads_per_block()) {
    reinterpret_cast<std::uint64_t*>(memory)[i] = reinterpret_cast<const std::uint64_t*>(task.target_tree)[i];
  }
  const std::uint16_t* const order = SmallTree<T, kDims>(const_cast<std::byte*>(task.source_tree), task.points).numbers;
  auto* const known = static_cast<KnownMatch<T, kDims>*>(task.known);
  for (std::uint32_t i = thread_number(); i < task.points; i += threads_per_block()) {
    known[i].others = -1;
    known[i].nearest = core::kNoPoint;
  }
  if (thread_number() == 0) {
    shared.frame = task.frame;
    shared.rule = task.rule;
    shared.state = task.start;
  }
  sync_block();
  while (shared.state.end == core::StageEnd::none) {
    find_matches<T, kDims, Unknowns>(task, order, shared, open, tree);
    add_pairs<T, kDims, Unknowns>(task, shared.rule.pair, shared, groups, tree, nullptr);
    if (thread_number() == 0) {
      core::StageState state = shared.state;
      core::advance<Unknowns>(shared.rule, shared.total, state, task.records[state.iteration]);
      shared.state = state;
    }
    sync_block();
  }
  find_matches<T, kDims, Unknowns>(task, order, shared, open, tree);
  core::PairRule rule = shared.rule.pair;
  add_pairs<T, kDims, Unknowns>(task, rule, shared, groups, tree, task.matches);
  if (thread_number() < Shared::kTerms) task.result->total[thread_number()] = shared.total[thread_number()];
  if (thread_number() == 0) task.result->state = shared.state;
  if (rule.error != core::PairError::gicp) return;
  rule.error = core::PairError::plane;
  sync_block();
  add_pairs<T, kDims, Unknowns>(task, rule, shared, groups, tree, nullptr);
  if (thread_number() < Shared::kTerms) task.result->surfaces[thread_number()] = shared.total[thread_number()];
}

}  // namespace kith::cuda
