// The checksum of index files and of folders of shards: XXH3, 64 bits, seed 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kith::runtime {

std::uint64_t checksum_of(std::span<const std::byte> bytes);

}  // namespace kith::runtime
