// A file to read from any offset, by any number of threads. Never mapped, so a file that shrinks is an error, not a
// signal.
#pragma once

#include <kith/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::runtime {

/// A regular file is read where it lies; standard input ("-"), pipes and files compressed by gzip or zstd are first
/// taken into memory. Reading is thread-safe.
class InputFile {
 public:
  /// Throws IoError if the file cannot be opened or is a directory, CorruptFile if a compressed stream is damaged,
  /// Interrupted if `progress` says stop while a pipe or compressed file is taken into memory.
  explicit InputFile(const std::string& path, const ProgressCallback& progress = {});
  /// Bytes that are in memory already, e.g. a member of an archive.
  InputFile(std::string name, std::vector<char> memory);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// As the user named it; "standard input" for "-".
  const std::string& name() const { return name_; }
  /// Bytes, after compression is undone.
  std::uint64_t size() const { return size_; }
  /// Up to `bytes` bytes from `offset`; fewer only at the end of the file. Throws IoError.
  std::size_t read_at(std::uint64_t offset, void* out, std::size_t bytes) const;
  /// Exactly `bytes` bytes; throws CorruptFile that says where the file ends too early.
  void read_exact(std::uint64_t offset, void* out, std::size_t bytes) const;
  /// The first bytes, at most `bytes`, as text.
  std::string head(std::size_t bytes) const;

 private:
  void take_into_memory(const ProgressCallback& progress);
  void inflate_in_memory(const ProgressCallback& progress);
  void keep_in_memory(std::vector<char> bytes);

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  bool in_memory_ = false;
  std::vector<char> memory_;
};

}  // namespace kith::runtime
