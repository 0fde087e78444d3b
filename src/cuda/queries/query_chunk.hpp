// A part of a batch of queries on its way through the GPU.
#pragma once

#include "cuda/runtime/device_buffer.hpp"
#include "cuda/queries/search_engine.hpp"
#include "cuda/runtime/stream_pool.hpp"
#include "engine/searcher.hpp"

#include <cstdint>
#include <vector>

namespace kith::cuda {

/// The filter of a batch, but for `below`, which goes with the chunks. The bitmap is on the device when this is made.
class FilterOnDevice {
 public:
  FilterOnDevice(const engine::PointFilter& filter, std::uint64_t points, const Stream& stream,
                 const engine::RunOptions& run);
  SearchFilter filter() const;

 private:
  SearchFilter filter_;
  DeviceBuffer<std::uint64_t> allowed_;
};

/// Rows of a host array `count` x `dims`, `stride` elements apart, put side by side in device memory.
template <typename T>
void copy_rows_to_device(T* to, const T* rows, std::int64_t stride, std::uint32_t dims, std::uint64_t count,
                         const Stream& stream, const engine::RunOptions& run);

/// Queries [first, end) of a batch in device memory, in the order that the engine wants. One after the other may take
/// its place.
template <typename T>
class QueryChunk {
 public:
  /// Room for up to `most` queries. `stream` outlives this.
  QueryChunk(const SearchEngine<T>& engine, const engine::QueryBatch<T>& batch, std::uint64_t most,
             const Stream& stream);

  void take(std::uint64_t first, std::uint64_t end, const engine::RunOptions& run);
  const QuerySource<T>& source() const { return source_; }
  SearchFilter filter(SearchFilter whole) const;
  /// Of the queries themselves; null if they have none.
  const T* bounds() const { return bounds_.data(); }

 private:
  const SearchEngine<T>& engine_;
  const engine::QueryBatch<T>& batch_;
  Stream stream_;
  DeviceBuffer<T> rows_;
  DeviceBuffer<std::uint32_t> chosen_;  ///< and their count
  DeviceBuffer<std::uint32_t> below_;
  DeviceBuffer<T> bounds_;
  QuerySource<T> source_;
};

}  // namespace kith::cuda
