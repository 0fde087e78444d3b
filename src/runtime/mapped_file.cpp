// See mapped_file.hpp.
#include "runtime/mapped_file.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace kith::runtime {

std::shared_ptr<const std::byte> map_file(const RegularFile& file) {
  const std::size_t bytes = file.size();
  void* start = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (start == MAP_FAILED) {
    throw IoError(fmt::format("{}: cannot be mapped: {}; load it without mapping", file.name(), std::strerror(errno)));
  }
  return {static_cast<const std::byte*>(start),
          [bytes](const std::byte* mapped) { munmap(const_cast<std::byte*>(mapped), bytes); }};
}

}  // namespace kith::runtime
