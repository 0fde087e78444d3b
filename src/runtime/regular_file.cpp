// See regular_file.hpp.
#include "runtime/regular_file.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kith::runtime {
namespace {

void require_regular(const std::string& name, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return;
  if (S_ISDIR(status.st_mode)) throw IoError(fmt::format("{}: is a directory, not a file", name));
  throw IoError(fmt::format("{}: is a pipe or a device, but a regular file is needed; save it to a file first", name));
}

}  // namespace

RegularFile::RegularFile(const std::string& path) : name_(path) {
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for its writer
  if (descriptor_ < 0) throw IoError(fmt::format("{}: cannot be opened: {}", name_, std::strerror(errno)));
  try {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) throw IoError(fmt::format("{}: {}", name_, std::strerror(errno)));
    require_regular(name_, status);
    size_ = static_cast<std::uint64_t>(status.st_size);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

RegularFile::~RegularFile() { close(descriptor_); }

void RegularFile::read_exact(std::uint64_t offset, void* out, std::size_t bytes) const {
  auto* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw IoError(fmt::format("{}: cannot be read at byte {}: {}", name_, offset, std::strerror(errno)));
    }
    if (got == 0) {
      throw CorruptFile(fmt::format("{}: ends at byte {}, but {} bytes more are needed; the file is cut short", name_,
                                    offset, bytes));
    }
    to += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

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
