// How kernels write the entries of a kNN search, in the form that the answer asks for.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/intrinsics.cuh"
#include "cuda/search/knn_answer.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// A function of its own, which is called: the registers that it takes would slow down the searches it is not for.
template <typename T>
KITH_NOINLINE __device__ void put_reported(std::uint32_t* indices, std::int64_t* wide, T* distances, bool takes_roots,
                                           std::uint64_t at, std::uint32_t number, T chain) {
  if (wide != nullptr) {
    wide[at] = number;
  } else {
    indices[at] = number;
  }
  distances[at] = takes_roots ? core::square_root(chain) : chain;
}

template <typename T>
__device__ __forceinline__ void put_answer(const KnnAnswer<T>& answer, std::uint64_t at, std::uint32_t number,
                                           T chain) {
  if (answer.is_reported) [[unlikely]] {
    return put_reported(answer.indices, answer.wide, answer.chains, answer.takes_roots, at, number, chain);
  }
  answer.indices[at] = number;
  answer.chains[at] = chain;
}

/// Entries that put_together takes.
inline constexpr std::uint32_t kPutTogether = 4;

/// What a thread writes at a time.
template <typename V>
struct alignas(16) StoredWords {
  V values[16 / sizeof(V)];
};

/// Whether entries at multiples of kPutTogether can be put together.
template <typename T>
__device__ __forceinline__ bool lies_well(const KnnAnswer<T>& answer) {
  const auto numbers = answer.wide != nullptr ? reinterpret_cast<std::uintptr_t>(answer.wide)
                                              : reinterpret_cast<std::uintptr_t>(answer.indices);
  return (numbers | reinterpret_cast<std::uintptr_t>(answer.chains)) % sizeof(StoredWords<T>) == 0;
}

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

/// For searches that are often asked for what callers see.
template <typename T>
__device__ __forceinline__ void put_together(const KnnAnswer<T>& answer, std::uint64_t at,
                                             const std::uint32_t (&numbers)[kPutTogether],
                                             const T (&chains)[kPutTogether]) {
  if (answer.is_reported && answer.wide != nullptr) {
    store_together(answer.wide + at, numbers, [](std::uint32_t number) { return static_cast<std::int64_t>(number); });
  } else {
    store_together(answer.indices + at, numbers, [](std::uint32_t number) { return number; });
  }
  if (answer.is_reported && answer.takes_roots) {
    store_together(answer.chains + at, chains, [](T chain) { return core::square_root(chain); });
  } else {
    store_together(answer.chains + at, chains, [](T chain) { return chain; });
  }
}

}  // namespace kith::cuda
