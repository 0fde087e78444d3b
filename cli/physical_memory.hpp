// Refuses work whose result cannot fit into memory, before it begins.
#pragma once

#include <cstdint>
#include <string_view>

namespace kith::cli {

/// Throws OutOfMemory, with the figures and `advice`, if a x b x `bytes_each` bytes exceed the memory of this machine.
/// `what` is what would fill it, e.g. "the result".
void require_memory(std::string_view what, std::uint64_t a, std::uint64_t b, std::uint64_t bytes_each,
                    std::string_view advice);

}  // namespace kith::cli
