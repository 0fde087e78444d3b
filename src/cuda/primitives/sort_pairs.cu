// See sort_pairs.hpp.
#include "cuda/primitives/sort_pairs.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>

namespace kith::cuda {

SortPairs sort_pairs(SortPairs pairs, SortPairs other, std::uint32_t count, std::uint32_t first_bit,
                     std::uint32_t end_bit, const Stream& stream) {
  cub::DoubleBuffer<std::uint64_t> keys(pairs.keys, other.keys);
  cub::DoubleBuffer<std::uint32_t> values(pairs.values, other.values);
  const auto sort = [&](void* memory, std::size_t& bytes) {
    check(cub::DeviceRadixSort::SortPairs(memory, bytes, keys, values, count, static_cast<int>(first_bit),
                                          static_cast<int>(end_bit), stream.get()),
          "sorting");
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  DeviceBuffer<std::byte> memory(bytes, stream);
  sort(memory.data(), bytes);
  return {keys.Current(), values.Current()};
}

}  // namespace kith::cuda
