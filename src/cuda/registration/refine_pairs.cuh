// All iterations of many small pairs in one kernel, a block for each pair: the target's tree is in shared memory, and
// points are searched for again only when their match may have changed.
#pragma once

#include "core/order/candidate.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/registration/match_certainty.cuh"
#include "cuda/registration/match_terms.cuh"
#include "cuda/registration/ordered_total.cuh"
#include "cuda/registration/pairs_types.hpp"
#include "cuda/registration/registration_types.hpp"
#include "cuda/registration/small_cloud.cuh"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

template <int Unknowns>
struct PairShared {
  static constexpr int kTerms = core::TermPlaces<Unknowns>::kCount;
  static constexpr std::uint32_t kMostBlocks = kMostSmallPoints / core::kSumBlock;
  static constexpr std::uint32_t kGroups = core::kSumBlock / core::kSumGroup;

  core::Frame frame;
  core::StepRule rule;
  core::StageState state;
  std::uint32_t open;                                           ///< points to search for
  std::uint32_t open_bits[kMostSmallPoints / core::kSumGroup];  ///< which they are, by group
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
__device__ void search_point(const SmallTree<T, kDims>& tree, const KnownMatches<T, kDims>& known, std::uint32_t point,
                             const T (&query)[kDims], T limit) {
  NearestAndNext<T> best{limit, limit, core::kNoPoint, core::kNoPoint};
  const std::uint32_t before = known.nearest[point];
  if (before != core::kNoPoint) {
    best.offer(reduced_to_point<T, kDims>(query, tree.leaves[before / kSmallLeaf], before % kSmallLeaf), before,
               tree.numbers);
  }
  find_nearest_and_next<T, kDims>(tree, query, best);
  known.others[point] = kept_distance(best.next);
  known.nearest[point] = best.place;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) known.places[d][point] = query[d];
}

/// The terms of 32 points, a lane each, by warp: adds them up if no match may have changed since the last search. Else
/// returns the points to search for, a bit each. If `matches` is not null, it receives those of pairs.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ std::uint32_t add_small_group(const PairTask<T>& task, const core::PairRule& rule, std::uint32_t group,
                                         const PairShared<Unknowns>& shared, double* groups,
                                         const SmallTree<T, kDims>& tree, bool is_searched, std::uint32_t* matches) {
  constexpr int kTerms = PairShared<Unknowns>::kTerms;
  const KnownMatches<T, kDims> known(task.known, task.points);
  const std::uint32_t point = group * core::kSumGroup + lane_number();
  const bool is_there = point < task.points;
  double moved[3];
  T query[kDims], match[kDims] = {}, place[kDims];
  const std::uint32_t row = is_there ? point : 0;
  const std::uint32_t nearest = known.nearest[row];
  const T others = known.others[row];
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) place[d] = known.places[d][row];
  const bool is_finite =
      move_row<T, kDims>(task.source + row * task.row_stride, shared.frame, shared.state.motion, moved, query) &&
      is_there;
  const bool has_match = nearest != core::kNoPoint;
  std::uint32_t number = core::kNoPoint;
  if (has_match) {
    tree.load(nearest, match);
    number = tree.numbers[nearest];
  }
  const std::uint32_t open =
      ballot(!is_searched && is_finite &&
             may_have_changed<T, kDims>(query, place, has_match, match, others, shared.state.max_distance));
  if (open != 0) return open;
  core::Terms<kTerms> terms{};
  const bool is_pair =
      is_finite && has_match &&
      terms_of_match<T, kDims, Unknowns>(rule, shared.frame, shared.state, moved, query, match,
                                         row_at(task.source_normals, std::uint64_t{point} * kDims),
                                         row_at(task.target_normals, std::uint64_t{number} * kDims), terms);
  if (is_there && matches != nullptr) matches[point] = is_pair ? number : core::kNoPoint;
  add_group<kTerms>(terms, groups + group * kTerms);
  return 0;
}

/// Finds the matches of the points that `shared.open_bits` has, at the pose of the state. They are taken along the
/// source's curve, so that the searches of a warp lie together.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ void search_open_points(const PairTask<T>& task, const std::uint16_t* order, PairShared<Unknowns>& shared,
                                   std::uint16_t* open, const SmallTree<T, kDims>& tree) {
  const KnownMatches<T, kDims> known(task.known, task.points);
  for (std::uint32_t first = 0; first < task.points; first += threads_per_block()) {
    const std::uint32_t i = first + thread_number();
    const std::uint32_t point = i < task.points ? order[i] : 0;
    const bool is_open =
        i < task.points && (shared.open_bits[point / core::kSumGroup] >> point % core::kSumGroup & 1) != 0;
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
    double moved[3];
    T query[kDims];
    move_row<T, kDims>(task.source + point * task.row_stride, shared.frame, shared.state.motion, moved, query);
    search_point<T, kDims>(tree, known, point, query, limit);
  }
  sync_block();
}

/// The sums over all pairs at the pose of the state, in the CPU's order, to shared.total. Once points have settled,
/// this takes one pass over them. `is_searched`: the matches are those of this pose.
template <typename T, std::uint32_t kDims, int Unknowns>
__device__ void add_pairs(const PairTask<T>& task, const core::PairRule& rule, const std::uint16_t* order,
                          PairShared<Unknowns>& shared, double* groups, std::uint16_t* open,
                          const SmallTree<T, kDims>& tree, bool is_searched, std::uint32_t* matches) {
  using Shared = PairShared<Unknowns>;
  constexpr int kTerms = Shared::kTerms;
  const auto blocks = static_cast<std::uint32_t>(core::sum_blocks(task.points));
  const std::uint32_t warps = threads_per_block() / kWarp;
  bool has_open = false;
  for (std::uint32_t g = warp_number(); g < blocks * Shared::kGroups; g += warps) {
    const std::uint32_t bits =
        add_small_group<T, kDims, Unknowns>(task, rule, g, shared, groups, tree, is_searched, matches);
    if (lane_number() == 0) shared.open_bits[g] = bits;
    has_open = has_open || bits != 0;
  }
  if (thread_number() == 0) shared.open = 0;
  if (any_thread(has_open)) {
    search_open_points<T, kDims, Unknowns>(task, order, shared, open, tree);
    for (std::uint32_t g = warp_number(); g < blocks * Shared::kGroups; g += warps) {
      if (shared.open_bits[g] == 0) continue;
      add_small_group<T, kDims, Unknowns>(task, rule, g, shared, groups, tree, true, matches);
    }
    sync_block();
  }
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
  const KnownMatches<T, kDims> known(task.known, task.points);
  for (std::uint32_t i = thread_number(); i < task.points; i += threads_per_block()) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) known.places[d][i] = 0;
    known.others[i] = -1;
    known.nearest[i] = core::kNoPoint;
  }
  if (thread_number() == 0) {
    shared.frame = task.frame;
    shared.rule = task.rule;
    shared.state = task.start;
  }
  sync_block();
  const auto add = [&](const core::PairRule& rule, bool is_searched, std::uint32_t* matches) {
    add_pairs<T, kDims, Unknowns>(task, rule, order, shared, groups, open, tree, is_searched, matches);
  };
  while (shared.state.end == core::StageEnd::none) {
    add(shared.rule.pair, false, nullptr);
    if (thread_number() == 0) {
      core::StageState state = shared.state;
      core::advance<Unknowns>(shared.rule, shared.total, state, task.records[state.iteration]);
      shared.state = state;
    }
    sync_block();
  }
  core::PairRule rule = shared.rule.pair;
  add(rule, false, task.matches);
  if (thread_number() < Shared::kTerms) task.result->total[thread_number()] = shared.total[thread_number()];
  if (thread_number() == 0) task.result->state = shared.state;
  if (rule.error != core::PairError::gicp) return;
  rule.error = core::PairError::plane;
  sync_block();
  add(rule, true, nullptr);
  if (thread_number() < Shared::kTerms) task.result->surfaces[thread_number()] = shared.total[thread_number()];
}

}  // namespace kith::cuda
