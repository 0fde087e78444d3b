// The checksum of index files: XXH3, 64 bits, seed 0. The only file that knows xxhash.
#include "engine/index_file/layout.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kith::engine {

std::uint64_t checksum_of(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace kith::engine
