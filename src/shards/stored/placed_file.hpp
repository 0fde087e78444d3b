// A file that is written and read at any place, e.g. by work that stops and goes on later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kith::shards {

/// The file exists from the beginning; what was not written yet is zero.
class PlacedFile {
 public:
  /// Opens the file, or makes one; it then has `bytes` bytes. Throws IoError.
  PlacedFile(const std::string& path, std::uint64_t bytes);
  ~PlacedFile();
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  /// Throws IoError.
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  /// Throws IoError, or CorruptFile if the file is shorter.
  void read_at(std::uint64_t offset, void* out, std::size_t bytes) const;
  /// Returns once all of it is on the disk. Throws IoError.
  void flush();
  /// Gives the disk back what these bytes take, as far as it can; they are zero then.
  void forget(std::uint64_t offset, std::uint64_t bytes);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace kith::shards
