// What an engine on the GPU answers: requests whose arrays lie there. Searches for callers, on the host or on the GPU,
// are made of these.
#pragma once

#include "cuda/queries/knn_chunks.hpp"
#include "cuda/queries/requests.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/searcher.hpp"

#include <cstdint>
#include <string>

namespace kith::cuda {

/// Points prepared by one engine, in device memory. Thread-safe. Each call puts kernels into a stream and does not wait
/// for them; the device is current. Throws OutOfMemory, DeviceError.
template <typename T>
class SearchEngine {
 public:
  virtual ~SearchEngine() = default;

  virtual std::uint64_t points() const = 0;
  virtual std::uint32_t dims() const = 0;
  /// What `knn` takes for each query, and what its order takes if it has one.
  virtual KnnExtra knn_extra() const { return {}; }
  /// Whether requests' `evaluations` are counted.
  virtual bool counts_evaluations() const { return false; }

  /// The k nearest of each query; k and the points are at least 1. By the rules: exactly, or with leave to miss
  /// something; `exact` is written in the second case only.
  virtual void knn(const KnnRequest<T>& request, const engine::KnnRules<T>& rules, std::uint8_t* exact,
                   const Stream& stream) const = 0;
  /// Fills request.counts.
  virtual void count(const RadiusRequest<T>& request, const Stream& stream) const = 0;
  /// Fills the lists that begin at request.starts.
  virtual void list(const RadiusRequest<T>& request, const Stream& stream) const = 0;
  /// The same for boxes.
  virtual void count_in_boxes(const BoxRequest<T>& request, const Stream& stream) const = 0;
  virtual void list_in_boxes(const BoxRequest<T>& request, const Stream& stream) const = 0;

  /// Which kernels take such a search, and why faster ones do not, for people; empty if there is but one path.
  virtual std::string explain(const engine::SearchShape&, const SearchMetric<T>&) const { return {}; }

  /// Whether queries that lie close together should ask one after the other.
  virtual bool wants_order() const = 0;
  /// Puts the rows of queries into such an order.
  virtual void order_queries(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t* order,
                             const Stream& stream) const = 0;
  /// Whether a part of a self-search is told by QuerySource::chosen, which choose_points then fills with the points
  /// numbered from `first` to `end`, and `chosen_count` with how many; otherwise `first` and `count` will do.
  virtual bool wants_chosen() const = 0;
  virtual void choose_points(std::uint32_t first, std::uint32_t end, std::uint32_t* chosen, std::uint32_t* chosen_count,
                             const Stream& stream) const = 0;
};

}  // namespace kith::cuda
