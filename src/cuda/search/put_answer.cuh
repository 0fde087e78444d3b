// How kernels write the entries of a kNN search, in the form that the answer asks for.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/intrinsics.cuh"
#include "cuda/search/knn_answer.hpp"

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

/// Chain values and numbers.
template <typename T>
struct ChainRows {
  std::uint32_t* indices;
  T* chains;

  __device__ __forceinline__ void put(std::uint64_t at, std::uint32_t number, T chain) const {
    indices[at] = number;
    chains[at] = chain;
  }
  __device__ __forceinline__ void put_together(std::uint64_t at, const std::uint32_t (&numbers)[kPutTogether],
                                               const T (&values)[kPutTogether]) const {
    store_together(indices + at, numbers, [](std::uint32_t number) { return number; });
    store_together(chains + at, values, [](T chain) { return chain; });
  }
};

/// What callers see.
template <typename T>
struct ReportedRows {
  std::uint32_t* indices;
  std::int64_t* wide;
  T* distances;
  bool takes_roots;

  __device__ __forceinline__ void put(std::uint64_t at, std::uint32_t number, T chain) const {
    if (wide != nullptr) {
      wide[at] = number;
    } else {
      indices[at] = number;
    }
    distances[at] = takes_roots ? core::square_root(chain) : chain;
  }
  __device__ __forceinline__ void put_together(std::uint64_t at, const std::uint32_t (&numbers)[kPutTogether],
                                               const T (&chains)[kPutTogether]) const {
    if (wide != nullptr) {
      store_together(wide + at, numbers, [](std::uint32_t number) { return static_cast<std::int64_t>(number); });
    } else {
      store_together(indices + at, numbers, [](std::uint32_t number) { return number; });
    }
    if (takes_roots) {
      store_together(distances + at, chains, [](T chain) { return core::square_root(chain); });
    } else {
      store_together(distances + at, chains, [](T chain) { return chain; });
    }
  }
};

/// Calls `write` with the rows of the answer, entry 0 being that at `at`. Both forms are compiled into the kernel: for
/// those that are often asked for what callers see.
template <typename T, typename Write>
__device__ __forceinline__ void with_rows(const KnnAnswer<T>& answer, std::uint64_t at, const Write& write) {
  if (answer.is_reported) {
    write(ReportedRows<T>{answer.indices == nullptr ? nullptr : answer.indices + at,
                          answer.wide == nullptr ? nullptr : answer.wide + at, answer.chains + at, answer.takes_roots});
  } else {
    write(ChainRows<T>{answer.indices + at, answer.chains + at});
  }
}

/// Called, not compiled into the kernel: the registers that it takes would slow down the searches it is not for.
template <typename T>
KITH_NOINLINE __device__ void put_reported(std::uint32_t* indices, std::int64_t* wide, T* distances, bool takes_roots,
                                           std::uint64_t at, std::uint32_t number, T chain) {
  ReportedRows<T>{indices, wide, distances, takes_roots}.put(at, number, chain);
}

/// For all others.
template <typename T>
__device__ __forceinline__ void put_answer(const KnnAnswer<T>& answer, std::uint64_t at, std::uint32_t number,
                                           T chain) {
  if (answer.is_reported) [[unlikely]] {
    return put_reported(answer.indices, answer.wide, answer.chains, answer.takes_roots, at, number, chain);
  }
  answer.indices[at] = number;
  answer.chains[at] = chain;
}

}  // namespace kith::cuda
