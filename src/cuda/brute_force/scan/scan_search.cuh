// See scan_search.hpp; included once per type of coordinates.
#pragma once

#include "cuda/brute_force/filter/hopper_filter.cuh"
#include "cuda/brute_force/scan/box_scan.cuh"
#include "cuda/brute_force/scan/knn_steps.cuh"
#include "cuda/brute_force/scan/scan_search.hpp"
#include "cuda/brute_force/select/select.hpp"
#include "cuda/brute_force/select/sort_lists.cuh"
#include "cuda/brute_force/scan/take_rows.cuh"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/queries/search_launcher.cuh"
#include "cuda/primitives/sum_counts.hpp"

#include <kith/error.hpp>
#include <kith/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kith::cuda {

/// Queries of a self-search lie among the points.
template <typename T>
QuerySource<T> queries_in_rows(const ScanPoints<T>& points, QuerySource<T> queries) {
  if (queries.rows != nullptr) return queries;
  queries.rows = points.rows + std::uint64_t{queries.first} * points.dims;
  queries.row_stride = points.dims;
  return queries;
}

/// The queries [first, first + count) of a request.
template <typename T>
KnnRequest<T> part_of(const KnnRequest<T>& whole, std::uint64_t first, std::uint64_t count) {
  KnnRequest<T> part = whole;
  part.queries.rows += first * whole.queries.row_stride;
  part.queries.count = count;
  part.queries.first += static_cast<std::uint32_t>(first);
  if (part.filter.below != nullptr) part.filter.below += first;
  if (part.bounds != nullptr) part.bounds += first;
  part.answer = whole.answer.from(first * whole.k);
  return part;
}

/// Scratch memory for as many queries as possible up to `queries`, which becomes how many they are.
template <typename T>
DeviceBuffer<std::byte> take_scratch(std::uint64_t& queries, const KnnRounds& rounds, bool filters, std::uint32_t dims,
                                     const Stream& stream) {
  constexpr std::uint64_t kFewest = 256;
  for (;;) {
    try {
      return DeviceBuffer<std::byte>(KnnScratch<T>(queries, rounds.capacity, filters, dims).bytes, stream);
    } catch (const OutOfMemory&) {
      if (queries <= kFewest) throw;
      queries = std::max(queries / 2, kFewest);
    }
  }
}

/// Lists are sorted with numbers of 32 bits.
inline void require_sortable(const KnnRounds& rounds, std::uint32_t k) {
  constexpr std::uint64_t kMostCandidates = std::uint64_t{1} << 30;
  const std::uint64_t placed = rounds.ends.front() * kTilePoints;
  if (placed <= kMostCandidates) return;
  throw OutOfMemory("k = " + std::to_string(k) + " takes lists of " + std::to_string(placed) +
                    " candidates, and brute force on a GPU has room for " + std::to_string(kMostCandidates) +
                    "; ask for a smaller k, or use `device=cpu`");
}

template <typename T>
void scan_knn(const ScannedPoints<T>& points, const KnnRequest<T>& asked, SelectStrategy strategy,
              const Stream& stream) {
  const bool in_many_dims = points.product.values != nullptr && points.points.dims > kMostDimsForHalfSums;
  const KnnRounds rounds = plan_rounds(points.points.count, asked.k, asked.queries.count, in_many_dims);
  require_sortable(rounds, asked.k);
  KnnRequest<T> request = asked;
  request.queries = queries_in_rows(points.points, asked.queries);
  const std::uint64_t count = request.queries.count;
  ScannedPoints<T> scanned = points;
  if (rounds.ends.size() == 1) scanned.product = {};
  if (rounds.ends.size() == 1 || count < tuning().gpu_half_sum_pairs / points.points.count) scanned.half_sums = {};
  const bool filters = scanned.product.values != nullptr;
  const std::uint64_t per_query =
      KnnScratch<T>(kProductQueries, rounds.capacity, filters, points.points.dims).bytes / kProductQueries;
  std::uint64_t at_once = std::clamp<std::uint64_t>(kCandidateBytes / per_query, 1, count);
  if (at_once < count && at_once > kProductQueries) at_once = at_once / kProductQueries * kProductQueries;
  DeviceBuffer<std::byte> scratch = take_scratch<T>(at_once, rounds, filters, points.points.dims, stream);
  const std::uint32_t processors = processors_of(stream.device());
  const SearchLauncher launch(stream);
  const auto select = [&](const SelectTask<T>& task) { select_entries(task, strategy, stream); };
  for (std::uint64_t first = 0; first < count; first += at_once) {
    const KnnRequest<T> part = part_of(request, first, std::min(at_once, count - first));
    KnnSteps(scanned, part, rounds, scratch.data(), processors, launch, select).run();
  }
}

template <typename T>
ScanTask<T> radius_scan(const ScannedPoints<T>& points, const RadiusRequest<T>& request) {
  const QuerySource<T> queries = queries_in_rows(points.points, request.queries);
  return {.points = points.points,
          .metric = request.metric,
          .filter = request.filter,
          .queries = {.rows = queries.rows,
                      .row_stride = queries.row_stride,
                      .count = queries.count,
                      .first = queries.first},
          .order = points.order,
          .end_tile = points.order.tiles,
          .bound = request.bound,
          .bounds = request.bounds};
}

template <typename T>
void scan_count(const ScannedPoints<T>& points, const RadiusRequest<T>& request, const Stream& stream) {
  ScanTask<T> task = radius_scan(points, request);
  task.mode = ScanMode::count;
  task.lists.counts = request.counts;
  check(cudaMemsetAsync(request.counts, 0, request.queries.count * sizeof(std::uint32_t), stream.get()), "searching");
  launch_scan(task, processors_of(stream.device()), SearchLauncher(stream));
}

template <typename T>
void scan_list(const ScannedPoints<T>& points, const RadiusRequest<T>& request, const Stream& stream) {
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  DeviceBuffer<std::uint32_t> counts(request.queries.count, stream);
  ScanTask<T> task = radius_scan(points, request);
  task.mode = ScanMode::list;
  task.lists.counts = counts.data();
  task.starts = request.starts;
  task.starts_base = request.starts_base;
  task.indices = request.indices;
  task.wide = request.wide;
  task.reduced = request.reduced;
  const SearchLauncher launch(stream);
  check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream.get()), "searching");
  launch_scan(task, processors_of(stream.device()), launch);
  const std::uint64_t blocks = (request.queries.count * kWarp + kSortListThreads - 1) / kSortListThreads;
  launch(sort_lists<T>, static_cast<std::uint32_t>(std::min(blocks, kMostBlocks)), kSortListThreads, std::size_t{0},
         request);
}

/// Few boxes are scanned in pieces, so that all processors have work: counts of pieces first, then their sums, which
/// are also where their lists begin, because the caller's lists follow each other.
template <typename T>
void scan_in_boxes(const ScannedPoints<T>& points, const BoxRequest<T>& request, bool lists, const Stream& stream) {
  const std::uint32_t processors = processors_of(stream.device());
  const SearchLauncher launch(stream);
  BoxScanTask<T> task{.points = points.points,
                      .filter = request.filter,
                      .lower = request.lower,
                      .upper = request.upper,
                      .count = request.count,
                      .pieces = box_scan_pieces(request.count, points.points.count, processors),
                      .counts = request.counts,
                      .starts = request.starts,
                      .starts_base = request.starts_base,
                      .indices = request.indices};
  if (task.pieces == 1) return launch_box_scan(task, lists, launch);
  const std::uint64_t pieces = task.count * task.pieces;
  DeviceBuffer<std::uint32_t> counts(pieces, stream);
  DeviceBuffer<std::uint64_t> starts(pieces + 1, stream);
  task.counts = counts.data();
  launch_box_scan(task, false, launch);
  sum_counts(counts.data(), pieces, starts.data(), stream);
  if (!lists) {
    launch(differences<std::uint64_t>, 1u + static_cast<std::uint32_t>(task.count / kDifferenceThreads),
           kDifferenceThreads, std::size_t{0}, static_cast<const std::uint64_t*>(starts.data()), task.count,
           task.pieces, request.counts);
    return;
  }
  task.starts = starts.data();
  task.starts_base = 0;
  launch_box_scan(task, true, launch);
}

template <typename T>
void take_rows_to(const T* from, std::uint64_t row_stride, std::uint32_t dims, std::uint64_t rows, T* to,
                  std::uint32_t* refused, const Stream& stream) {
  const std::uint64_t blocks = (rows * dims + kTakeThreads - 1) / kTakeThreads;
  const std::uint64_t most = 16 * std::uint64_t{processors_of(stream.device())};
  const SearchLauncher launch(stream);
  launch(take_rows<T>, static_cast<std::uint32_t>(std::min(blocks, most)), kTakeThreads, std::size_t{0}, from,
         row_stride, dims, rows, to, refused);
}

}  // namespace kith::cuda
