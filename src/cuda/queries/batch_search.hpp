// Searches for callers on the host: batches of queries go through the GPU in chunks that its memory has room for; while
// one chunk is searched, the next one is copied there and the last one back.
#pragma once

#include "cuda/runtime/device_buffer.hpp"
#include "cuda/queries/knn_chunks.hpp"
#include "cuda/queries/search_engine.hpp"
#include "cuda/runtime/pinned_buffers.hpp"
#include "cuda/runtime/stream_pool.hpp"
#include "engine/searcher.hpp"

#include <kith/metric.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith::cuda {

/// How much GPU memory a search may take.
struct SearchBudget {
  std::uint64_t most_bytes = 0;  ///< for queries and answers in flight; 0: half of what is free
};

/// Thread-safe. The engine outlives it. See engine::Searcher for what calls return. Bounds of the queries themselves
/// count for exact kNN too.
template <typename T>
class BatchSearch {
 public:
  /// What a kNN search takes for each query, and for each of its neighbours.
  static std::uint64_t bytes_per_query(const SearchEngine<T>& engine) {
    return knn_query_bytes<T>(engine.dims(), 0, false, engine.knn_extra()).all();
  }
  static constexpr std::uint64_t kBytesPerNeighbor = cuda::kBytesPerNeighbor<T>;

  BatchSearch(const SearchEngine<T>& engine, Metric metric, std::span<const T> period, const Stream& stream,
              const SearchBudget& budget = {});

  void knn(const engine::QueryBatch<T>& queries, std::uint32_t k, const engine::KnnRules<T>& rules,
           const engine::RunOptions& run, std::uint32_t* indices, T* reduced, std::uint8_t* exact) const;
  engine::ReducedLists<T> radius(const engine::QueryBatch<T>& queries, T bound, std::uint32_t most,
                                 const engine::RunOptions& run) const;
  void count(const engine::QueryBatch<T>& queries, T bound, const engine::RunOptions& run, std::uint32_t* counts) const;
  engine::IndexLists box(const engine::BoxBatch<T>& boxes, const engine::RunOptions& run) const;
  void box_count(const engine::BoxBatch<T>& boxes, const engine::RunOptions& run, std::uint32_t* counts) const;

  /// SearchEngine::explain, of one chunk.
  std::string explain(engine::SearchShape shape) const;

  /// What the kernels read; valid as long as this lives.
  const SearchMetric<T>& metric() const { return metric_; }

 private:
  /// What a search may take now: of two chunks each gets half.
  std::uint64_t bytes_in_flight() const;
  /// What queries take besides that have bounds of their own, or flags.
  static std::uint64_t bytes_of_rules(const engine::QueryBatch<T>& queries, bool has_flags) {
    return (queries.bounds == nullptr ? 0 : sizeof(T)) + (queries.filter.below == nullptr ? 0 : sizeof(std::uint32_t)) +
           (has_flags ? 1 : 0);
  }
  /// What each query of a radius search takes besides its list.
  std::uint64_t bytes_in_radius(const engine::QueryBatch<T>& queries) const {
    return engine_.dims() * sizeof(T) + KnnExtra().in_flight + bytes_of_rules(queries, false);
  }
  bool knn_of_few(const engine::QueryBatch<T>& queries, std::uint32_t k, const engine::KnnRules<T>& rules,
                  const engine::RunOptions& run, std::uint32_t* indices, T* reduced, std::uint8_t* exact) const;
  void list_chunks(const engine::QueryBatch<T>& queries, T bound, const engine::RunOptions& run,
                   engine::ReducedLists<T>& lists) const;
  void nearest_chunks(const engine::QueryBatch<T>& queries, T bound, std::uint32_t most, const engine::RunOptions& run,
                      engine::ReducedLists<T>& lists) const;

  const SearchEngine<T>& engine_;
  SearchMetric<T> metric_;
  DeviceBuffer<T> lengths_;
  int device_;
  SearchBudget budget_;
  mutable StreamPool streams_;
  mutable PinnedBuffers buffers_;
};

}  // namespace kith::cuda
