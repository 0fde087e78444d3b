// What a searcher on a GPU offers to callers whose arrays lie there: work is enqueued in their stream without waiting.
#pragma once

#include "core/metric/row_map.hpp"
#include "engine/searcher.hpp"

#include <kith/point_view.hpp>

#include <cstdint>
#include <string_view>

namespace kith::engine {

/// How the work is put down and what is reported.
struct DeviceRun {
  void* stream = nullptr;  ///< a cudaStream_t of the searcher's device
  bool squared = false;
  core::RowMap map = {};  ///< what becomes of queries; its values are in host memory
  std::uint32_t bits =
      0;  ///< if not 0, queries are rows of so many bits, as BitView has them, and their stride is in bytes
};

/// Where the rows of a kNN search, or the lists of a radius search, go.
template <typename T>
struct DeviceNeighbors {
  std::uint32_t* indices = nullptr;
  std::int64_t* wide = nullptr;  ///< if not null, the numbers go there instead
  T* distances = nullptr;
  std::uint8_t* exact = nullptr;  ///< if not null, 1 for each query whose list is certainly exact, else 0 (kNN)
};

/// How far radius searches and counts look.
template <typename T>
struct DeviceReach {
  T bound = 0;                    ///< a reduced distance, for all queries
  const double* radii = nullptr;  ///< if not null, a distance for each; a query with NaN or less than 0 finds nothing
};

/// All pointers are to memory of the device, those of the filters too. Queries are the caller's own: not mapped, not
/// wrapped, and one that cannot be searched finds nothing. Answers are reported distances. The facade has checked the
/// rest. Throws DeviceError, OutOfMemory.
template <typename T>
class DeviceSearcher {
 public:
  virtual ~DeviceSearcher() = default;

  /// Throws UsageError, which begins with `what`, unless the memory is the device's (or managed by CUDA).
  virtual void require_here(const void* memory, std::string_view what) const = 0;

  virtual void knn(const QueryBatch<T>& queries, std::uint32_t k, const KnnRules<T>& rules, const DeviceRun& run,
                   const DeviceNeighbors<T>& rows) const = 0;
  virtual void count(const QueryBatch<T>& queries, const DeviceReach<T>& reach, const DeviceRun& run,
                     std::uint32_t* counts) const = 0;
  /// offsets[i] is the sum of the counts before i, for i up to `count`.
  virtual void offsets(const std::uint32_t* counts, std::uint64_t count, const DeviceRun& run,
                       std::uint64_t* offsets) const = 0;
  virtual void widen(const std::uint32_t* numbers, std::uint64_t count, const DeviceRun& run,
                     std::int64_t* wide) const = 0;
  /// Bit i % 64 of word i / 64 is whether flags[i] is not 0; bits behind the last are 0.
  virtual void pack(const std::uint8_t* flags, std::uint64_t count, const DeviceRun& run,
                    std::uint64_t* words) const = 0;
  /// The lists that `count` counted.
  virtual void radius(const QueryBatch<T>& queries, const DeviceReach<T>& reach, const DeviceRun& run,
                      const std::uint64_t* offsets, const DeviceNeighbors<T>& lists) const = 0;

  /// Corners side by side.
  virtual void box_count(const BoxBatch<T>& boxes, const DeviceRun& run, std::uint32_t* counts) const = 0;
  virtual void box(const BoxBatch<T>& boxes, const DeviceRun& run, const std::uint64_t* offsets,
                   std::uint32_t* indices) const = 0;
};

}  // namespace kith::engine
