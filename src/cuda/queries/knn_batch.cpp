// kNN for callers on the host; see batch_search.hpp.
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_memory.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/queries/batch_search.hpp"
#include "cuda/runtime/chunks.hpp"
#include "cuda/queries/evaluation_count.hpp"
#include "cuda/queries/query_chunk.hpp"
#include "cuda/queries/tuning.hpp"
#include "cuda/runtime/staging.hpp"
#include "runtime/time_spent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace kith::cuda {

template <typename T>
BatchSearch<T>::BatchSearch(const SearchEngine<T>& engine, Metric metric, std::span<const T> period,
                            const Stream& stream, const SearchBudget& budget)
    : engine_(engine),
      metric_(SearchMetric<T>::of(metric)),
      lengths_(period.size(), stream),
      device_(stream.device()),
      budget_(budget) {
  if (period.empty()) return;
  copy_to_device(lengths_.data(), period.data(), period.size_bytes(), stream, {});
  metric_.lengths = lengths_.data();
}

template <typename T>
std::uint64_t BatchSearch<T>::bytes_in_flight() const {
  return budget_.most_bytes != 0 ? budget_.most_bytes : memory_of_device(device_).free / 2;
}

template <typename T>
std::string BatchSearch<T>::explain(engine::SearchShape shape) const {
  const DeviceScope scope(device_);
  std::string chunks;
  if (!shape.is_radius && shape.queries > 0) {
    const std::vector<std::uint64_t> starts =
        knn_chunks(shape.queries, shape.is_self,
                   knn_query_bytes<T>(engine_.dims(), shape.k, shape.is_self, engine_.knn_extra()), bytes_in_flight());
    if (starts.size() > 2) chunks = fmt::format(", in {} chunks from host memory", starts.size() - 1);
    shape.queries = longest(starts);
  }
  const std::string path = engine_.explain(shape, metric_);
  return path.empty() ? path : path + chunks;
}

/// Without a copy: the kernel reads the queries and writes the answers in host memory. False if they are too many.
template <typename T>
bool BatchSearch<T>::knn_of_few(const engine::QueryBatch<T>& queries, std::uint32_t k, const engine::KnnRules<T>& rules,
                                const engine::RunOptions& run, std::uint32_t* indices, T* reduced,
                                std::uint8_t* exact) const {
  const engine::PointFilter& filter = queries.filter;
  if (queries.is_self() || queries.count > kMostInHostMemory || filter.allowed != nullptr ||
      queries.bounds != nullptr) {
    return false;
  }
  const std::uint64_t row_bytes = engine_.dims() * sizeof(T), entries = queries.count * k;
  const std::uint64_t reduced_at = queries.count * row_bytes, indices_at = reduced_at + entries * sizeof(T),
                      below_at = indices_at + entries * sizeof(std::uint32_t),
                      again_at = below_at + queries.count * sizeof(std::uint32_t),
                      exact_at = again_at + sizeof(std::uint32_t),
                      evaluations_at = (exact_at + queries.count + 7) / 8 * 8, bytes = evaluations_at + 8;
  if (entries > PinnedBuffers::kBytes || bytes > PinnedBuffers::kBytes) return false;
  const StreamPool::Lease stream(streams_);
  const PinnedBuffers::Lease storage(buffers_);
  for (std::uint64_t q = 0; q < queries.count; ++q) {
    std::memcpy(storage.data() + q * row_bytes, queries.row(q), row_bytes);
  }
  KnnRequest<T> request{.metric = metric_,
                        .filter = {filter.exclude_self, filter.earlier_only, nullptr, nullptr},
                        .queries = {.rows = reinterpret_cast<const T*>(storage.data()),
                                    .row_stride = engine_.dims(),
                                    .count = queries.count},
                        .k = k,
                        .bound = rules.bound,
                        .answer = {reinterpret_cast<std::uint32_t*>(storage.data() + indices_at),
                                   reinterpret_cast<T*>(storage.data() + reduced_at)},
                        .asked_again = reinterpret_cast<std::uint32_t*>(storage.data() + again_at),
                        .evaluations = reinterpret_cast<std::uint64_t*>(storage.data() + evaluations_at)};
  *request.asked_again = 0;
  *request.evaluations = 0;
  if (filter.below != nullptr) {
    std::memcpy(storage.data() + below_at, filter.below, queries.count * sizeof(std::uint32_t));
    request.filter.below = reinterpret_cast<const std::uint32_t*>(storage.data() + below_at);
  }
  auto* flags = reinterpret_cast<std::uint8_t*>(storage.data() + exact_at);
  {
    const runtime::TimeSpent spent(runtime::member_of(run.times, &WorkTimes::device_ms));
    engine_.knn(request, rules, flags, *stream);
    (*stream).synchronize();
  }
  std::memcpy(indices, request.answer.indices, entries * sizeof(std::uint32_t));
  std::memcpy(reduced, request.answer.reduced, entries * sizeof(T));
  if (exact != nullptr) std::memcpy(exact, flags, queries.count);
  if (run.times != nullptr) run.times->asked_again += *request.asked_again;
  if (run.times != nullptr) run.times->evaluations += *request.evaluations;
  return true;
}

template <typename T>
void BatchSearch<T>::knn(const engine::QueryBatch<T>& queries, std::uint32_t k, const engine::KnnRules<T>& rules,
                         const engine::RunOptions& run, std::uint32_t* indices, T* reduced, std::uint8_t* exact) const {
  if (exact != nullptr && (rules.is_exact() || k == 0 || engine_.points() == 0)) {
    std::fill_n(exact, queries.count, std::uint8_t{1});
    exact = nullptr;
  }
  if (queries.count == 0 || k == 0) return;
  if (engine_.points() == 0) {
    std::fill_n(indices, queries.count * k, 0u);
    std::fill_n(reduced, queries.count * k, std::numeric_limits<T>::infinity());
    return;
  }
  const DeviceScope scope(device_);
  if (knn_of_few(queries, k, rules, run, indices, reduced, exact)) return;

  const KnnQueryBytes each = knn_query_bytes<T>(engine_.dims(), k, queries.is_self(), engine_.knn_extra(),
                                                bytes_of_rules(queries, exact != nullptr));
  const std::vector<std::uint64_t> starts = knn_chunks(queries.count, queries.is_self(), each, bytes_in_flight());
  struct Slot {
    StreamPool::Lease stream;
    QueryChunk<T> queries;
    DeviceBuffer<std::uint32_t> indices;
    DeviceBuffer<T> reduced;
    DeviceBuffer<std::uint8_t> exact;
    DeviceBuffer<std::uint32_t> asked_again;
    EvaluationCount evaluations;

    Slot(StreamPool& streams, const SearchEngine<T>& engine, const engine::QueryBatch<T>& batch, std::uint64_t most,
         std::uint32_t entries, bool has_flags)
        : stream(streams),
          queries(engine, batch, most, *stream),
          indices(most * entries, *stream),
          reduced(most * entries, *stream),
          exact(has_flags ? most : 0, *stream),
          asked_again(1, *stream),
          evaluations(engine.counts_evaluations(), *stream) {
      check(cudaMemsetAsync(asked_again.data(), 0, asked_again.bytes(), (*stream).get()), "writing zeros");
    }
  };
  std::optional<Slot> slots[2];
  std::optional<FilterOnDevice> filter;
  run_chunks(
      starts, run,
      [&](std::size_t chunk, std::size_t s) {
        if (!slots[s]) slots[s].emplace(streams_, engine_, queries, longest(starts), k, exact != nullptr);
        Slot& slot = *slots[s];
        if (!filter) filter.emplace(queries.filter, engine_.points(), *slot.stream, run);
        slot.queries.take(starts[chunk], starts[chunk + 1], run);
        engine_.knn(KnnRequest<T>{.metric = metric_,
                                  .filter = slot.queries.filter(filter->filter()),
                                  .queries = slot.queries.source(),
                                  .k = k,
                                  .bound = rules.bound,
                                  .bounds = slot.queries.bounds(),
                                  .answer = {slot.indices.data(), slot.reduced.data()},
                                  .asked_again = slot.asked_again.data(),
                                  .evaluations = slot.evaluations.data()},
                    rules, slot.exact.data(), *slot.stream);
      },
      [&](std::size_t chunk, std::size_t s) {
        const std::uint64_t first = starts[chunk] * k, entries = starts[chunk + 1] * k - first;
        const CopyOptions options = CopyOptions::of_search(run);
        copy_to_host(indices + first, slots[s]->indices.data(), entries * sizeof(std::uint32_t), *slots[s]->stream,
                     options);
        copy_to_host(reduced + first, slots[s]->reduced.data(), entries * sizeof(T), *slots[s]->stream, options);
        if (exact == nullptr) return;
        copy_to_host(exact + starts[chunk], slots[s]->exact.data(), starts[chunk + 1] - starts[chunk],
                     *slots[s]->stream, options);
      });
  for (std::optional<Slot>& slot : slots) {
    if (run.times == nullptr || !slot) continue;
    std::uint32_t asked_again = 0;
    copy_to_host(&asked_again, slot->asked_again.data(), sizeof asked_again, *slot->stream, {.threads = 1});
    run.times->asked_again += asked_again;
    slot->evaluations.add_to(run, *slot->stream);
  }
}

template BatchSearch<float>::BatchSearch(const SearchEngine<float>&, Metric, std::span<const float>, const Stream&,
                                         const SearchBudget&);
template std::uint64_t BatchSearch<float>::bytes_in_flight() const;
template std::string BatchSearch<float>::explain(engine::SearchShape) const;
template void BatchSearch<float>::knn(const engine::QueryBatch<float>&, std::uint32_t, const engine::KnnRules<float>&,
                                      const engine::RunOptions&, std::uint32_t*, float*, std::uint8_t*) const;
template BatchSearch<double>::BatchSearch(const SearchEngine<double>&, Metric, std::span<const double>, const Stream&,
                                          const SearchBudget&);
template std::uint64_t BatchSearch<double>::bytes_in_flight() const;
template std::string BatchSearch<double>::explain(engine::SearchShape) const;
template void BatchSearch<double>::knn(const engine::QueryBatch<double>&, std::uint32_t,
                                       const engine::KnnRules<double>&, const engine::RunOptions&, std::uint32_t*,
                                       double*, std::uint8_t*) const;

}  // namespace kith::cuda
