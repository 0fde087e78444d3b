// Sorts numbers by their keys, keeping the order of equal ones: CUB's radix sort.
#pragma once

#include <cstdint>

namespace kith::cuda {

class Stream;  // cuda/runtime/stream.hpp, which tests without CUDA do not know

/// Keys and what they belong to, in device memory.
template <typename Key>
struct KeyedPairs {
  Key* keys = nullptr;
  std::uint32_t* values = nullptr;
};
using SortPairs = KeyedPairs<std::uint64_t>;

/// For keys of 32 and 64 bits. Sorts `count` pairs by bits first_bit .. end_bit of their keys, the others being equal.
/// Returns where they are, in `pairs` or in `other`. Puts kernels into the stream; takes less than a byte per pair
/// there for a while, and at least some KiB. Throws OutOfMemory, DeviceError.
template <typename Key>
KeyedPairs<Key> sort_pairs(KeyedPairs<Key> pairs, KeyedPairs<Key> other, std::uint32_t count, std::uint32_t first_bit,
                           std::uint32_t end_bit, const Stream& stream);
/// The most that it takes there.
inline std::uint64_t most_sort_bytes(std::uint64_t count) { return count / 2 + (std::uint64_t{1} << 20); }

}  // namespace kith::cuda
