// What the MemoryLimit of this thread allows.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace kith::runtime {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// Bytes of a GPU's memory that may be in use; kNoLimit if all.
std::uint64_t device_memory_limit();
/// Bytes of host memory that work on the CPU may take: the limit, less what the caller holds; kNoLimit if all.
std::uint64_t host_memory_limit();

/// Throws OutOfMemory, which names `bytes` and what is allowed, if work on the CPU may not take as many.
void require_allowed(std::uint64_t bytes, std::string_view purpose);

}  // namespace kith::runtime
