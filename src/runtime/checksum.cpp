// See checksum.hpp. The only file that knows xxhash.
#include "runtime/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kith::runtime {

std::uint64_t checksum_of(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace kith::runtime
