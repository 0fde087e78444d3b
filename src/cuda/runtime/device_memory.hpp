// Memory of a GPU, from the device's pool, which keeps what was given back until memory runs short.
#pragma once

#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// What a GPU has.
struct DeviceMemory {
  std::uint64_t free = 0;  ///< what an allocation could get now: free, or kept by the pool
  std::uint64_t total = 0;
};

/// Throws DeviceError.
DeviceMemory memory_of_device(int ordinal);

/// Throws OutOfMemory, which names the bytes that are needed and free, if the device has less than `bytes` now.
void require_device_memory(int ordinal, std::uint64_t bytes, const char* purpose);

/// Bytes without a value, ready for work that is put into the stream later; null for none. If the pool and the device
/// have not enough, all work is waited for, what the pool keeps is given back, and it is tried once more. Throws
/// OutOfMemory, which names the bytes that were needed and are free.
void* allocate_on_device(std::uint64_t bytes, const Stream& stream);
/// Gives memory back to the pool once the work that is in the stream now is done. Null is fine.
void free_on_device(void* memory, const Stream& stream) noexcept;

/// Gives all memory that the pool of a device keeps unused back to the device.
void trim_device_memory(int ordinal);

}  // namespace kith::cuda
