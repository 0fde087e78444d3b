// What src/cuda/runtime/step_device.hpp is on a GPU: kernels run thread by thread on the host.
#pragma once

#include "cuda/emulation/grid.hpp"
#include "cuda/primitives/sort_pairs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace kith::cuda {

/// Memory of the host stands for that of a GPU.
class EmulatedDevice {
 public:
  template <typename... Parameters, typename... Arguments>
  void launch(void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads, std::size_t shared,
              const Arguments&... arguments) {
    ++launches;
    emulation::run_grid(blocks, threads, shared, residence, [&] { kernel(arguments...); });
  }
  /// CUB stands for this on a GPU.
  template <typename Key>
  KeyedPairs<Key> sort(KeyedPairs<Key> pairs, KeyedPairs<Key> other, std::uint32_t count, std::uint32_t first_bit,
                       std::uint32_t end_bit) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
      return std::uint64_t{pairs.keys[i]} << (64 - end_bit) >> (64 - end_bit + first_bit);
    });
    for (std::uint32_t i = 0; i < count; ++i) {
      other.keys[i] = pairs.keys[order[i]];
      other.values[i] = pairs.values[order[i]];
    }
    return other;
  }
  void zero(void* to, std::uint64_t bytes) { std::memset(to, 0, bytes); }
  void read(void* to, const void* from, std::uint64_t bytes) { std::memcpy(to, from, bytes); }
  void write(void* to, const void* from, std::uint64_t bytes) { std::memcpy(to, from, bytes); }
  void phase(const char*) {}
  std::uint32_t resident_blocks() const { return 3; }
  std::uint32_t shared_limit() const { return emulation::shared_limit(); }

  emulation::Residence residence = emulation::Residence::one_by_one;
  std::uint64_t launches = 0;
};

}  // namespace kith::cuda
