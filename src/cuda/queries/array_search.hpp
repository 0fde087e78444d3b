// Searches for callers whose arrays lie on the GPU, in their own streams.
#pragma once

#include "cuda/runtime/device_buffer.hpp"
#include "cuda/queries/search_engine.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/device_searcher.hpp"

#include <kith/metric.hpp>

#include <cstdint>
#include <string_view>

namespace kith::cuda {

/// Thread-safe. The engine and the lengths of the axes outlive it.
///
/// bytes per query, until the search is done: dims * sizeof(T) + sizeof(T) for queries of their own, 4 for their order,
/// and what the engine says
template <typename T>
class ArraySearch final : public engine::DeviceSearcher<T> {
 public:
  ArraySearch(const SearchEngine<T>& engine, Metric metric, const SearchMetric<T>& search_metric, int device)
      : engine_(engine), metric_(metric), search_metric_(search_metric), device_(device) {}

  void require_here(const void* memory, std::string_view what) const override;
  void knn(const engine::QueryBatch<T>& queries, std::uint32_t k, const engine::KnnRules<T>& rules,
           const engine::DeviceRun& run, const engine::DeviceNeighbors<T>& rows) const override;
  void count(const engine::QueryBatch<T>& queries, const engine::DeviceReach<T>& reach, const engine::DeviceRun& run,
             std::uint32_t* counts) const override;
  void offsets(const std::uint32_t* counts, std::uint64_t count, const engine::DeviceRun& run,
               std::uint64_t* offsets) const override;
  void widen(const std::uint32_t* numbers, std::uint64_t count, const engine::DeviceRun& run,
             std::int64_t* wide) const override;
  void pack(const std::uint8_t* flags, std::uint64_t count, const engine::DeviceRun& run,
            std::uint64_t* words) const override;
  void radius(const engine::QueryBatch<T>& queries, const engine::DeviceReach<T>& reach, const engine::DeviceRun& run,
              const std::uint64_t* offsets, const engine::DeviceNeighbors<T>& lists) const override;
  void box_count(const engine::BoxBatch<T>& boxes, const engine::DeviceRun& run, std::uint32_t* counts) const override;
  void box(const engine::BoxBatch<T>& boxes, const engine::DeviceRun& run, const std::uint64_t* offsets,
           std::uint32_t* indices) const override;

 private:
  /// The queries of a batch as a search wants them.
  struct Prepared {
    DeviceBuffer<T> rows;
    DeviceBuffer<T> bounds;
    DeviceBuffer<std::uint32_t> order;
    QuerySource<T> source;
  };
  Prepared prepare(const engine::QueryBatch<T>& queries, const engine::DeviceReach<T>& reach,
                   const engine::DeviceRun& run, const Stream& stream) const;
  /// Reduced distances become what the metric reports; `entries` of them, or as many as the device has counted.
  void report(const engine::DeviceRun& run, std::uint64_t entries, const std::uint64_t* entries_on_device, T* distances,
              const Stream& stream) const;
  /// Whether kernels write what is reported: square roots of reduced distances.
  bool takes_roots(const engine::DeviceRun& run) const { return metric_.kind() == Metric::Kind::l2 && !run.squared; }
  RadiusRequest<T> radius_request(const engine::QueryBatch<T>& queries, const Prepared& prepared, T bound) const;
  BoxRequest<T> box_request(const engine::BoxBatch<T>& boxes) const;
  Stream stream_of(const engine::DeviceRun& run) const {
    return Stream(static_cast<cudaStream_t>(run.stream), device_);
  }

  const SearchEngine<T>& engine_;
  Metric metric_;
  SearchMetric<T> search_metric_;
  int device_;
};

}  // namespace kith::cuda
