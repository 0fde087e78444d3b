// See physical_memory.hpp.
#include "physical_memory.hpp"

#include "readable.hpp"

#include <kith/device.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cli {

void require_memory(std::string_view what, std::uint64_t a, std::uint64_t b, std::uint64_t bytes_each,
                    std::string_view advice) {
  // 2^32 x 2^32 x 16 overflows 64 bits; a double is exact enough to say no.
  const double needed = static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(bytes_each);
  const auto present = static_cast<double>(available_devices().front().memory_bytes);
  if (present == 0 || needed <= present) return;
  throw OutOfMemory(fmt::format("{} would take {} ({} x {} x {} bytes), but this machine has {} of memory; {}", what,
                                readable_bytes(needed), readable_count(a), readable_count(b), bytes_each,
                                readable_bytes(present), advice));
}

}  // namespace kith::cli
