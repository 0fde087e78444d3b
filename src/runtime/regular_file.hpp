// A regular file of known size, to be read from any offset by any number of threads. Pipes and directories are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace kith::runtime {

/// Opening never waits, not even for a pipe without a writer.
class RegularFile {
 public:
  /// Throws IoError if the path cannot be opened or is anything but a regular file.
  explicit RegularFile(const std::string& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  const std::string& name() const { return name_; }
  /// Bytes when it was opened.
  std::uint64_t size() const { return size_; }
  int descriptor() const { return descriptor_; }
  /// Exactly `bytes` bytes from `offset`. Throws IoError, or CorruptFile if the file has become shorter.
  void read_exact(std::uint64_t offset, void* out, std::size_t bytes) const;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Maps all of a file that is not empty, read only, until the last copy of the pointer is gone. A file that shrinks
/// while it is mapped ends the process with a signal, so this is for files that no one else changes. Throws IoError.
std::shared_ptr<const std::byte> map_file(const RegularFile& file);

}  // namespace kith::runtime
