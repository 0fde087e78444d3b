// See sort_pairs.hpp.
#include "cuda/primitives/sort_pairs.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>

namespace kith::cuda {

template <typename Key>
KeyedPairs<Key> sort_pairs(KeyedPairs<Key> pairs, KeyedPairs<Key> other, std::uint32_t count, std::uint32_t first_bit,
                           std::uint32_t end_bit, const Stream& stream) {
  cub::DoubleBuffer<Key> keys(pairs.keys, other.keys);
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

template KeyedPairs<std::uint32_t> sort_pairs(KeyedPairs<std::uint32_t>, KeyedPairs<std::uint32_t>, std::uint32_t,
                                              std::uint32_t, std::uint32_t, const Stream&);
template KeyedPairs<std::uint64_t> sort_pairs(KeyedPairs<std::uint64_t>, KeyedPairs<std::uint64_t>, std::uint32_t,
                                              std::uint32_t, std::uint32_t, const Stream&);

}  // namespace kith::cuda
