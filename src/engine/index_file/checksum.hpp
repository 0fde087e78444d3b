// The checksum of index files: XXH3, 64 bits, seed 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kith::engine {

std::uint64_t checksum_of(std::span<const std::byte> bytes);

}  // namespace kith::engine
