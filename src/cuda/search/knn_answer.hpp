// Where the answers of a kNN search go, and in which form: numbers in 32 or 64 bits, chain values or their roots. Plain
// data, for host and device; all arrays are in device memory.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Entries of all rows, one after the other.
template <typename T>
struct KnnAnswer {
  std::uint32_t* indices = nullptr;
  T* chains = nullptr;
  std::int64_t* wide = nullptr;  ///< if not null, numbers go there instead of to `indices`
  bool takes_roots = false;      ///< square roots of chain values are written: distances under L2

  KITH_HOST_DEVICE void put(std::uint64_t at, std::uint32_t number, T chain) const {
    put_number(at, number);
    put_chain(at, chain);
  }
  KITH_HOST_DEVICE void put_number(std::uint64_t at, std::uint32_t number) const {
    if (wide != nullptr) {
      wide[at] = number;
    } else {
      indices[at] = number;
    }
  }
  KITH_HOST_DEVICE void put_chain(std::uint64_t at, T chain) const { chains[at] = written(chain); }

  /// Entries that put_together takes.
  static constexpr std::uint32_t kTogether = 4;
  /// Whether entries at multiples of kTogether can be put together.
  KITH_HOST_DEVICE bool lies_well() const {
    const auto numbers =
        wide != nullptr ? reinterpret_cast<std::uintptr_t>(wide) : reinterpret_cast<std::uintptr_t>(indices);
    return (numbers | reinterpret_cast<std::uintptr_t>(chains)) % kStore == 0;
  }
  KITH_HOST_DEVICE void put_together(std::uint64_t at, const std::uint32_t (&numbers)[kTogether],
                                     const T (&values)[kTogether]) const {
    if (wide != nullptr) {
      store(wide + at, numbers, [](std::uint32_t number) { return static_cast<std::int64_t>(number); });
    } else {
      store(indices + at, numbers, [](std::uint32_t number) { return number; });
    }
    store(chains + at, values, [this](T chain) { return written(chain); });
  }

  /// The same from entry `at` on.
  KITH_HOST_DEVICE KnnAnswer from(std::uint64_t at) const {
    return {wide != nullptr ? nullptr : indices + at, chains + at, wide != nullptr ? wide + at : nullptr, takes_roots};
  }

 private:
  static constexpr std::size_t kStore = 16;  ///< bytes that a thread writes at a time

  template <typename V>
  struct alignas(kStore) Stored {
    V values[kStore / sizeof(V)];
  };

  KITH_HOST_DEVICE T written(T chain) const { return takes_roots ? core::square_root(chain) : chain; }

  template <typename V, typename From, typename As>
  KITH_HOST_DEVICE static void store(V* to, const From (&from)[kTogether], const As& as) {
    constexpr std::uint32_t kPerStore = kStore / sizeof(V);
    for (std::uint32_t first = 0; first < kTogether; first += kPerStore) {
      Stored<V> stored;
      for (std::uint32_t i = 0; i < kPerStore; ++i) stored.values[i] = as(from[first + i]);
      *reinterpret_cast<Stored<V>*>(to + first) = stored;
    }
  }
};

}  // namespace kith::cuda
