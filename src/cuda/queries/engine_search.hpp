// Searchers over an engine on the GPU: batches of the host and arrays of the GPU become requests to it.
#pragma once

#include "cuda/queries/array_search.hpp"
#include "cuda/queries/batch_search.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/object_searcher.hpp"
#include "engine/searcher.hpp"
#include "runtime/large_buffer.hpp"

#include <kith/metric.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kith::cuda {

/// Points with coordinates. What is not a search takes a searcher on the host, which is made when it is first needed.
template <typename T>
class PointSearch : public engine::Searcher<T> {
 public:
  using Batch = engine::QueryBatch<T>;
  using Boxes = engine::BoxBatch<T>;
  using RunOptions = engine::RunOptions;

  PointSearch(std::shared_ptr<const SearchEngine<T>> engine, Metric metric, std::vector<T> period, Stream stream)
      : stream_(std::move(stream)),
        engine_(std::move(engine)),
        metric_(metric),
        period_(std::move(period)),
        search_(*engine_, metric_, period_, stream_),
        array_search_(*engine_, metric_, search_.metric(), stream_.device()) {}

  void knn(const Batch& queries, std::uint32_t k, const engine::KnnRules<T>& rules, const RunOptions& run,
           std::uint32_t* indices, T* reduced, std::uint8_t* exact) const override {
    search_.knn(queries, k, rules, run, indices, reduced, exact);
  }
  engine::ReducedLists<T> radius(const Batch& queries, T bound, std::uint32_t most,
                                 const RunOptions& run) const override {
    return search_.radius(queries, bound, most, run);
  }
  void count(const Batch& queries, T bound, const RunOptions& run, std::uint32_t* counts) const override {
    search_.count(queries, bound, run, counts);
  }
  engine::IndexLists box(const Boxes& boxes, const RunOptions& run) const override { return search_.box(boxes, run); }
  void box_count(const Boxes& boxes, const RunOptions& run, std::uint32_t* counts) const override {
    search_.box_count(boxes, run, counts);
  }
  const engine::DeviceSearcher<T>* on_device() const override { return &array_search_; }
  std::string explain(const engine::SearchShape& shape) const override { return search_.explain(shape); }
  void copy_rows(T* rows, int threads) const override { on_host({threads, nullptr}).copy_rows(rows, threads); }
  void save(engine::IndexFileWriter& writer, const RunOptions& run) const override { on_host(run).save(writer, run); }

 protected:
  const Stream& stream() const { return stream_; }
  Metric metric() const { return metric_; }
  const std::vector<T>& period() const { return period_; }

  /// A searcher over the same points on the CPU.
  virtual std::unique_ptr<engine::Searcher<T>> make_on_host(const RunOptions& run) const = 0;
  /// The first call makes it, and others wait for it; if it fails the next one tries again.
  const engine::Searcher<T>& on_host(const RunOptions& run) const {
    std::call_once(once_, [&] { keep(make_on_host(run)); });
    return *on_host_;
  }
  /// One that is there already.
  void adopt(std::unique_ptr<engine::Searcher<T>> on_host) {
    std::call_once(once_, [&] { keep(std::move(on_host)); });
  }
  std::uint64_t host_bytes() const {
    return is_on_host_.load(std::memory_order_acquire) ? on_host_->memory_bytes() : 0;
  }

 private:
  void keep(std::unique_ptr<engine::Searcher<T>> on_host) const {
    on_host_ = std::move(on_host);
    is_on_host_.store(true, std::memory_order_release);
  }

  Stream stream_;
  std::shared_ptr<const SearchEngine<T>> engine_;
  Metric metric_;
  std::vector<T> period_;
  BatchSearch<T> search_;
  ArraySearch<T> array_search_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<engine::Searcher<T>> on_host_;
  mutable std::atomic<bool> is_on_host_{false};
};

/// Objects whose rows are words, which travel as f32 through everything that searches by coordinates do. `Base` is the
/// searcher of a backend that this is.
template <typename Base, typename Rows>
class ObjectSearch : public Base {
 public:
  using Queries = engine::ObjectQueries<Rows>;
  using RunOptions = engine::RunOptions;

  void knn(const Queries& queries, std::uint32_t k, const engine::KnnRules<float>& rules, const RunOptions& run,
           std::uint32_t* indices, float* distances, std::uint8_t* exact) const override {
    const Asked asked = ask(queries, run);
    asked.search.knn(asked.batch, k, rules, run, indices, distances, exact);
  }
  engine::ReducedLists<float> radius(const Queries& queries, float bound, std::uint32_t most,
                                     const RunOptions& run) const override {
    const Asked asked = ask(queries, run);
    return asked.search.radius(asked.batch, bound, most, run);
  }
  void count(const Queries& queries, float bound, const RunOptions& run, std::uint32_t* counts) const override {
    const Asked asked = ask(queries, run);
    asked.search.count(asked.batch, bound, run, counts);
  }

 protected:
  /// A batch of queries as rows of words, and what searches them.
  struct Asked {
    const BatchSearch<float>& search;
    engine::QueryBatch<float> batch;
    runtime::LargeBuffer rows = {};  ///< those of the batch, unless they are the caller's
  };
  virtual Asked ask(const Queries& queries, const RunOptions& run) const = 0;

  /// The batch of queries whose rows lie at `words`, so many words apart; null: a self-search.
  static engine::QueryBatch<float> batch_of(const Queries& queries, const void* words, std::uint32_t width) {
    return {.rows = static_cast<const float*>(words),
            .row_stride = width,
            .count = queries.count,
            .filter = queries.filter,
            .bounds = queries.bounds};
  }
};

}  // namespace kith::cuda
