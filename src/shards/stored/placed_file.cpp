// See placed_file.hpp.
#include "shards/stored/placed_file.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace kith::shards {
namespace {

[[noreturn]] void fail_at(const std::string& path, std::string_view doing) {
  throw IoError(fmt::format("{}: cannot be {}: {}", path, doing, std::strerror(errno)));
}

}  // namespace

PlacedFile::PlacedFile(const std::string& path, std::uint64_t bytes) : path_(path) {
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_at(path, "created");
  struct stat status {};
  if (fstat(descriptor_, &status) != 0 ||
      (static_cast<std::uint64_t>(status.st_size) != bytes && ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)) {
    const int reason = errno;
    close(descriptor_);
    errno = reason;
    fail_at(path, fmt::format("made {} bytes long", bytes));
  }
}

PlacedFile::~PlacedFile() { close(descriptor_); }

void PlacedFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = pwrite(descriptor_, from, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_at(path_, "written");
    from += put;
    offset += static_cast<std::uint64_t>(put);
    bytes -= static_cast<std::size_t>(put);
  }
}

void PlacedFile::read_at(std::uint64_t offset, void* out, std::size_t bytes) const {
  auto* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_at(path_, "read");
    if (got == 0) throw CorruptFile(fmt::format("{}: ends at byte {}; the file is cut short", path_, offset));
    to += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

void PlacedFile::flush() {
  if (fsync(descriptor_) != 0) fail_at(path_, "flushed to the disk");
}

void PlacedFile::forget(std::uint64_t offset, std::uint64_t bytes) {
#ifdef FALLOC_FL_PUNCH_HOLE
  // Where the file system cannot do it, the disk stays as full as it is.
  [[maybe_unused]] const int done = fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                              static_cast<off_t>(offset), static_cast<off_t>(bytes));
#else
  (void)offset;
  (void)bytes;
#endif
}

}  // namespace kith::shards
