// See physical_memory.hpp.
#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <limits>

namespace kith::runtime {

namespace {

std::uint64_t measured_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

}  // namespace

std::uint64_t physical_memory() {
  static const std::uint64_t bytes = measured_memory();  // asking the system takes longer than a search
  return bytes;
}

void require_memory(std::uint64_t bytes, std::string_view purpose) {
  if (bytes <= physical_memory()) return;
  throw OutOfMemory(fmt::format("not enough memory: {} needs about {} bytes, but the machine has {}", purpose, bytes,
                                physical_memory()));
}

}  // namespace kith::runtime
