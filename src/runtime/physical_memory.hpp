// How much memory the machine has, so that a request that can never be met is refused before it is made.
#pragma once

#include <cstdint>
#include <string_view>

namespace kith::runtime {

/// Bytes of memory of the machine; the largest number there is if that is not known.
std::uint64_t physical_memory();

/// Throws OutOfMemory if `bytes` is more than the machine has. Systems that promise memory they do not have would
/// otherwise end the process when it is used.
void require_memory(std::uint64_t bytes, std::string_view purpose);

}  // namespace kith::runtime
