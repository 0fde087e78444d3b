// Radius searches for callers on the host; see batch_search.hpp. First all counts, so that the answer is allocated
// once, then the lists.
#include "cuda/runtime/device_scope.hpp"
#include "cuda/queries/batch_search.hpp"
#include "cuda/runtime/chunks.hpp"
#include "cuda/queries/evaluation_count.hpp"
#include "cuda/queries/query_chunk.hpp"
#include "cuda/runtime/staging.hpp"

#include <algorithm>
#include <optional>

namespace kith::cuda {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostQueries = std::uint64_t{1} << 31;

/// What a chunk of a search for lists has on the device.
template <typename T>
struct ListSlot {
  StreamPool::Lease stream;
  QueryChunk<T> queries;
  DeviceBuffer<std::uint64_t> starts;
  DeviceBuffer<std::uint32_t> indices;
  DeviceBuffer<T> reduced;
  EvaluationCount evaluations;

  ListSlot(StreamPool& streams, const SearchEngine<T>& engine, const engine::QueryBatch<T>& batch, std::uint64_t most)
      : stream(streams),
        queries(engine, batch, most, *stream),
        starts(most + 1, *stream),
        evaluations(engine.counts_evaluations(), *stream) {}

  void reserve(std::uint64_t entries) {
    if (entries <= indices.size()) return;
    indices = {};
    reduced = {};
    indices = DeviceBuffer<std::uint32_t>(entries, *stream);
    reduced = DeviceBuffer<T>(entries, *stream);
  }
};

}  // namespace

template <typename T>
void BatchSearch<T>::count(const engine::QueryBatch<T>& queries, T bound, const engine::RunOptions& run,
                           std::uint32_t* counts) const {
  if (queries.count == 0) return;
  if (engine_.points() == 0) {
    std::fill_n(counts, queries.count, 0u);
    return;
  }
  const DeviceScope scope(device_);
  const std::uint64_t per_query = bytes_in_radius(queries) + sizeof(std::uint32_t);
  const std::uint64_t bytes = bytes_in_flight();
  const bool fits_whole = queries.is_self() && queries.count * per_query <= bytes;
  const std::vector<std::uint64_t> starts =
      fits_whole ? std::vector<std::uint64_t>{0, queries.count}
                 : equal_chunks(queries.count, per_query, std::min(bytes / 2, kChunkBytes), kMostQueries);
  struct Slot {
    StreamPool::Lease stream;
    QueryChunk<T> queries;
    DeviceBuffer<std::uint32_t> counts;
    EvaluationCount evaluations;

    Slot(StreamPool& streams, const SearchEngine<T>& engine, const engine::QueryBatch<T>& batch, std::uint64_t most)
        : stream(streams),
          queries(engine, batch, most, *stream),
          counts(most, *stream),
          evaluations(engine.counts_evaluations(), *stream) {}
  };
  std::optional<Slot> slots[2];
  std::optional<FilterOnDevice> filter;
  run_chunks(
      starts, run,
      [&](std::size_t chunk, std::size_t s) {
        if (!slots[s]) slots[s].emplace(streams_, engine_, queries, longest(starts));
        Slot& slot = *slots[s];
        if (!filter) filter.emplace(queries.filter, engine_.points(), *slot.stream, run);
        slot.queries.take(starts[chunk], starts[chunk + 1], run);
        engine_.count(RadiusRequest<T>{.metric = metric_,
                                       .filter = slot.queries.filter(filter->filter()),
                                       .queries = slot.queries.source(),
                                       .bound = bound,
                                       .bounds = slot.queries.bounds(),
                                       .counts = slot.counts.data(),
                                       .evaluations = slot.evaluations.data()},
                      *slot.stream);
      },
      [&](std::size_t chunk, std::size_t s) {
        copy_to_host(counts + starts[chunk], slots[s]->counts.data(),
                     (starts[chunk + 1] - starts[chunk]) * sizeof(std::uint32_t), *slots[s]->stream,
                     CopyOptions::of_search(run));
      });
  for (std::optional<Slot>& slot : slots) {
    if (slot) slot->evaluations.add_to(run, *slot->stream);
  }
}

/// All of each list, at the offsets that are known.
template <typename T>
void BatchSearch<T>::list_chunks(const engine::QueryBatch<T>& queries, T bound, const engine::RunOptions& run,
                                 engine::ReducedLists<T>& lists) const {
  const std::uint64_t per_query = bytes_in_radius(queries) + sizeof(std::uint64_t);
  const std::uint64_t bytes = queries.is_self() ? bytes_in_flight() / 2 : std::min(bytes_in_flight() / 2, kChunkBytes);
  const std::vector<std::uint64_t> starts =
      chunks_by_answer(lists.offsets, per_query, sizeof(T) + sizeof(std::uint32_t), bytes, kMostQueries);
  std::optional<ListSlot<T>> slots[2];
  std::optional<FilterOnDevice> filter;
  run_chunks(
      starts, run,
      [&](std::size_t chunk, std::size_t s) {
        if (!slots[s]) slots[s].emplace(streams_, engine_, queries, longest(starts));
        ListSlot<T>& slot = *slots[s];
        const std::uint64_t first = starts[chunk], end = starts[chunk + 1];
        if (!filter) filter.emplace(queries.filter, engine_.points(), *slot.stream, run);
        slot.queries.take(first, end, run);
        slot.reserve(lists.offsets[end] - lists.offsets[first]);
        copy_to_device(slot.starts.data(), lists.offsets.data() + first, (end - first + 1) * sizeof(std::uint64_t),
                       *slot.stream, CopyOptions::of_search(run));
        engine_.list(RadiusRequest<T>{.metric = metric_,
                                      .filter = slot.queries.filter(filter->filter()),
                                      .queries = slot.queries.source(),
                                      .bound = bound,
                                      .bounds = slot.queries.bounds(),
                                      .starts = slot.starts.data(),
                                      .starts_base = lists.offsets[first],
                                      .indices = slot.indices.data(),
                                      .reduced = slot.reduced.data(),
                                      .evaluations = slot.evaluations.data()},
                     *slot.stream);
      },
      [&](std::size_t chunk, std::size_t s) {
        const std::uint64_t first = lists.offsets[starts[chunk]], entries = lists.offsets[starts[chunk + 1]] - first;
        const CopyOptions options = CopyOptions::of_search(run);
        copy_to_host(lists.indices.data() + first, slots[s]->indices.data(), entries * sizeof(std::uint32_t),
                     *slots[s]->stream, options);
        copy_to_host(lists.reduced.data() + first, slots[s]->reduced.data(), entries * sizeof(T), *slots[s]->stream,
                     options);
      });
  for (std::optional<ListSlot<T>>& slot : slots) {
    if (slot) slot->evaluations.add_to(run, *slot->stream);
  }
}

/// The first `most` of each list: what a kNN search within the bound finds, without the places that stay empty.
template <typename T>
void BatchSearch<T>::nearest_chunks(const engine::QueryBatch<T>& queries, T bound, std::uint32_t most,
                                    const engine::RunOptions& run, engine::ReducedLists<T>& lists) const {
  constexpr std::uint64_t kMostEntries = std::uint64_t{1} << 25;
  const std::uint64_t at_once = std::max<std::uint64_t>(kMostEntries / most, 1);
  std::vector<std::uint32_t> indices;
  std::vector<T> reduced;
  const bool is_whole = queries.is_self();  // parts of a self-search would be chosen anew each time
  for (std::uint64_t first = 0; first < queries.count;) {
    const std::uint64_t end = is_whole ? queries.count : std::min(queries.count, first + at_once);
    engine::QueryBatch<T> part = queries;
    if (!is_whole) {
      part.rows = queries.row(first);
      part.count = end - first;
      if (part.filter.below != nullptr) part.filter.below += first;
      if (part.bounds != nullptr) part.bounds += first;
    }
    indices.resize(part.count * most);
    reduced.resize(part.count * most);
    knn(part, most, {.bound = bound}, run, indices.data(), reduced.data(), nullptr);
    for (std::uint64_t q = first; q < end; ++q) {
      const std::uint64_t offset = lists.offsets[q], length = lists.offsets[q + 1] - offset;
      std::copy_n(indices.data() + (q - first) * most, length, lists.indices.data() + offset);
      std::copy_n(reduced.data() + (q - first) * most, length, lists.reduced.data() + offset);
    }
    first = end;
  }
}

template <typename T>
engine::ReducedLists<T> BatchSearch<T>::radius(const engine::QueryBatch<T>& queries, T bound, std::uint32_t most,
                                               const engine::RunOptions& run) const {
  std::vector<std::uint32_t> counts(queries.count);
  count(queries, bound, run, counts.data());
  std::uint32_t largest = 0;
  engine::ReducedLists<T> lists;
  lists.offsets.resize(queries.count + 1, 0);
  for (std::uint64_t q = 0; q < queries.count; ++q) {
    largest = std::max(largest, counts[q]);
    lists.offsets[q + 1] = lists.offsets[q] + (most == 0 ? counts[q] : std::min(counts[q], most));
  }
  lists.indices.resize(lists.offsets.back());
  lists.reduced.resize(lists.offsets.back());
  if (lists.indices.empty()) return lists;
  const DeviceScope scope(device_);
  if (most == 0 || largest <= most) {
    list_chunks(queries, bound, run, lists);
  } else {
    nearest_chunks(queries, bound, most, run, lists);
  }
  return lists;
}

template void BatchSearch<float>::count(const engine::QueryBatch<float>&, float, const engine::RunOptions&,
                                        std::uint32_t*) const;
template void BatchSearch<double>::count(const engine::QueryBatch<double>&, double, const engine::RunOptions&,
                                         std::uint32_t*) const;
template engine::ReducedLists<float> BatchSearch<float>::radius(const engine::QueryBatch<float>&, float, std::uint32_t,
                                                                const engine::RunOptions&) const;
template engine::ReducedLists<double> BatchSearch<double>::radius(const engine::QueryBatch<double>&, double,
                                                                  std::uint32_t, const engine::RunOptions&) const;

}  // namespace kith::cuda
