// How kernels write the entries of a kNN search, in the form that the answer asks for.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/queries/knn_answer.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Entries that are put together where they lie well: at multiples of so many.
inline constexpr std::uint32_t kPutTogether = 4;

/// What a thread writes at a time.
template <typename V>
struct alignas(16) StoredWords {
  V values[16 / sizeof(V)];
};

/// to[i] = as(from[i]) for all.
template <typename V, typename From, typename As>
__device__ __forceinline__ void store_together(V* to, const From (&from)[kPutTogether], const As& as) {
  constexpr std::uint32_t kPerStore = sizeof(StoredWords<V>) / sizeof(V);
#pragma unroll
  for (std::uint32_t first = 0; first < kPutTogether; first += kPerStore) {
    StoredWords<V> stored;
#pragma unroll
    for (std::uint32_t i = 0; i < kPerStore; ++i) stored.values[i] = as(from[first + i]);
    *reinterpret_cast<StoredWords<V>*>(to + first) = stored;
  }
}

/// Reduced distances and numbers; entry 0 is that at `first` of the answer.
template <typename T>
class ReducedRows {
 public:
  __device__ ReducedRows(const KnnAnswer<T>& answer, std::uint64_t first)
      : indices_(answer.indices + first), reduced_(answer.reduced + first) {}

  __device__ void put_number(std::uint64_t at, std::uint32_t number) const { indices_[at] = number; }
  __device__ void put_reduced(std::uint64_t at, T reduced) const { reduced_[at] = reduced; }
  __device__ void put(std::uint64_t at, std::uint32_t number, T reduced) const {
    put_number(at, number);
    put_reduced(at, reduced);
  }
  __device__ __forceinline__ void put_together(std::uint64_t at, const std::uint32_t (&numbers)[kPutTogether],
                                               const T (&reduced)[kPutTogether]) const {
    store_together(indices_ + at, numbers, [](std::uint32_t number) { return number; });
    store_together(reduced_ + at, reduced, [](T each) { return each; });
  }

 private:
  std::uint32_t* indices_;
  T* reduced_;
};

/// What callers see.
template <typename T>
class ReportedRows {
 public:
  __device__ ReportedRows(const KnnAnswer<T>& answer, std::uint64_t first)
      : indices_(answer.indices == nullptr ? nullptr : answer.indices + first),
        wide_(answer.wide == nullptr ? nullptr : answer.wide + first),
        distances_(answer.reduced + first),
        takes_roots_(answer.takes_roots) {}

  __device__ void put_number(std::uint64_t at, std::uint32_t number) const {
    if (wide_ != nullptr) {
      wide_[at] = number;
    } else {
      indices_[at] = number;
    }
  }
  __device__ void put_reduced(std::uint64_t at, T reduced) const {
    distances_[at] = takes_roots_ ? core::square_root(reduced) : reduced;
  }
  __device__ void put(std::uint64_t at, std::uint32_t number, T reduced) const {
    put_number(at, number);
    put_reduced(at, reduced);
  }
  __device__ __forceinline__ void put_together(std::uint64_t at, const std::uint32_t (&numbers)[kPutTogether],
                                               const T (&reduced)[kPutTogether]) const {
    if (wide_ != nullptr) {
      store_together(wide_ + at, numbers, [](std::uint32_t number) { return static_cast<std::int64_t>(number); });
    } else {
      store_together(indices_ + at, numbers, [](std::uint32_t number) { return number; });
    }
    if (takes_roots_) {
      store_together(distances_ + at, reduced, [](T each) { return core::square_root(each); });
    } else {
      store_together(distances_ + at, reduced, [](T each) { return each; });
    }
  }

 private:
  std::uint32_t* indices_;
  std::int64_t* wide_;
  T* distances_;
  bool takes_roots_;
};

/// Calls `write` with the rows of the answer. Both forms are compiled into the kernel.
template <typename T, typename Write>
__device__ __forceinline__ void with_rows(const KnnAnswer<T>& answer, std::uint64_t first, const Write& write) {
  if (answer.is_reported) {
    write(ReportedRows<T>(answer, first));
  } else {
    write(ReducedRows<T>(answer, first));
  }
}

/// Called, not compiled into the kernel: the registers that it takes would slow down the searches it is not for.
template <typename T>
KITH_NOINLINE __device__ void put_reported(std::uint32_t* indices, std::int64_t* wide, T* distances, bool takes_roots,
                                           std::uint64_t at, std::uint32_t number, T reduced) {
  ReportedRows<T>(KnnAnswer<T>{indices, distances, true, takes_roots, wide}, 0).put(at, number, reduced);
}

/// For all others.
template <typename T>
__device__ __forceinline__ void put_answer(const KnnAnswer<T>& answer, std::uint64_t at, std::uint32_t number,
                                           T reduced) {
  if (answer.is_reported) [[unlikely]] {
    return put_reported(answer.indices, answer.wide, answer.reduced, answer.takes_roots, at, number, reduced);
  }
  answer.indices[at] = number;
  answer.reduced[at] = reduced;
}

}  // namespace kith::cuda
