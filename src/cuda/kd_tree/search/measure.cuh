// Distances from a query to points and boxes under a metric that is known at run time only.
//
// With kDims = 0 the dims are read at run time, the query lies in memory and any metric goes; with kManyDims only L2 on
// plain axes does; otherwise the metric is L2 as well, and the query stays in registers.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/search/warp/load_box.cuh"
#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/queries/point_reduced.cuh"

namespace kith::cuda {

template <typename T, std::uint32_t kDims>
class Measure {
 public:
  __device__ Measure(const SearchMetric<T>&, std::uint32_t) {}

  /// Takes the query, `stride` elements from coordinate to coordinate. `storage` is not needed here.
  __device__ void set_query(const T* query, std::uint64_t stride, T*) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query_[d] = query[d * stride];
  }
  __device__ T to_point(const T* point, std::uint64_t stride) const {
    T sum = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d)
      sum = core::step_of_gap(core::L2{}, sum, T(query_[d] - point[d * stride]));
    return sum;
  }
  /// `lower` is followed by the upper corner.
  __device__ T to_box(const T* lower) const {
    T box[2 * kDims], sum = T(0);
    load_box<T, kDims>(lower, box);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const T below = box[d] - query_[d], above = query_[d] - box[kDims + d];
      sum = core::step_of_gap(core::L2{}, sum, greater(greater(below, above), T(0)));
    }
    return sum;
  }

 private:
  T query_[kDims];
};

/// A query whose dims are read at run time.
template <typename T>
class QueryInStorage {
 public:
  __device__ explicit QueryInStorage(std::uint32_t dims) : dims_(dims) {}

  /// The warp copies the query to `storage`.
  __device__ void set_query(const T* query, std::uint64_t stride, T* storage) {
    sync_warp();  // the last one is no longer read
    for (std::uint32_t d = lane_number(); d < dims_; d += kWarp) storage[d] = query[d * stride];
    sync_warp();
    query_ = storage;
  }

 protected:
  std::uint32_t dims_;
  const T* query_ = nullptr;
};

template <typename T>
class Measure<T, kManyDims> : public QueryInStorage<T> {
 public:
  __device__ Measure(const SearchMetric<T>&, std::uint32_t dims) : QueryInStorage<T>(dims) {}

  __device__ T to_point(const T* point, std::uint64_t stride) const {
    return core::reduced_distance(core::L2{}, this->query_, point, this->dims_, 1, stride);
  }
  __device__ T to_box(const T* lower) const {
    return core::reduced_to_box(core::L2{}, this->query_, lower, lower + this->dims_, this->dims_);
  }
};

template <typename T>
class Measure<T, 0> : public QueryInStorage<T> {
 public:
  __device__ Measure(const SearchMetric<T>& metric, std::uint32_t dims) : QueryInStorage<T>(dims), metric_(metric) {}

  __device__ T to_point(const T* point, std::uint64_t stride) const {
    return reduced_to_point<core::KdTreeReductions>(metric_, this->query_, point, this->dims_, stride);
  }
  __device__ T to_box(const T* lower) const {
    return core::visit_kind<core::KdTreeReductions>(metric_.kind, metric_.p, [&](const auto& each) {
      if constexpr (std::remove_cvref_t<decltype(each)>::kIsCostly) {
        return called_reduced_to_box(each, metric_.lengths, this->query_, lower, this->dims_);
      } else {
        return reduced_to_box(each, metric_.lengths, this->query_, lower, this->dims_);
      }
    });
  }

 private:
  template <typename M>
  __device__ static T reduced_to_box(const M& metric, const T* lengths, const T* query, const T* lower,
                                     std::uint32_t dims) {
    if constexpr (M::kInfo.wraps) {
      if (lengths != nullptr) return core::periodic_reduced_to_box(metric, query, lower, lower + dims, lengths, dims);
    }
    return core::reduced_to_box(metric, query, lower, lower + dims, dims);
  }
  template <typename M>
  __device__ KITH_NOINLINE static T called_reduced_to_box(const M& metric, const T* lengths, const T* query,
                                                          const T* lower, std::uint32_t dims) {
    return reduced_to_box(metric, lengths, query, lower, dims);
  }

  SearchMetric<T> metric_;
};

}  // namespace kith::cuda
