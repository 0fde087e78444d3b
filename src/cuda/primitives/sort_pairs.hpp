// Sorts numbers by their keys, keeping the order of equal ones: CUB's radix sort.
#pragma once

#include <cstdint>

namespace kith::cuda {

class Stream;  // cuda/runtime/stream.hpp, which tests without CUDA do not know

/// Keys and what they belong to, in device memory.
struct SortPairs {
  std::uint64_t* keys = nullptr;
  std::uint32_t* values = nullptr;
};

/// Sorts `count` pairs by bits first_bit .. end_bit of their keys, the others being equal. Returns where they are, in
/// `pairs` or in `other`. Puts kernels into the stream; takes less than a byte per pair there for a while, and at least
/// some KiB. Throws OutOfMemory, DeviceError.
SortPairs sort_pairs(SortPairs pairs, SortPairs other, std::uint32_t count, std::uint32_t first_bit,
                     std::uint32_t end_bit, const Stream& stream);

}  // namespace kith::cuda
