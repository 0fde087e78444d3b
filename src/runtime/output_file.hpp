// A file that appears whole or not at all: written beside its place, flushed to the disk, renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kith::runtime {

class GzipStream;

/// What a name that ends with ".gz" means.
enum class Compression : std::uint8_t { never, by_name };

/// The name without ".gz", in any case, at its end.
std::string_view without_gz(std::string_view path);

/// Buffered. Until `commit` returns, the old file (or its absence) is untouched; without `commit` the temporary file is
/// removed. "-" writes to standard output, and "/dev/…", pipes and other non-regular files are written in place.
class OutputFile {
 public:
  /// Throws IoError if the directory cannot be written.
  explicit OutputFile(const std::string& path, Compression compression = Compression::never);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws IoError.
  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Bytes written so far, before compression.
  std::uint64_t position() const { return flushed_ + buffer_.size(); }
  /// Flushes, syncs, renames, syncs the directory. Throws IoError; then nothing has changed on the disk.
  void commit();

 private:
  void flush();
  void put(const char* data, std::size_t bytes);
  void write_all(const char* data, std::size_t bytes);

  std::string path_;
  std::string temporary_;  // empty: written in place
  int descriptor_ = -1;
  std::uint64_t flushed_ = 0;
  std::vector<char> buffer_;
  std::unique_ptr<GzipStream> gzip_;  // null: not compressed
};

}  // namespace kith::runtime
