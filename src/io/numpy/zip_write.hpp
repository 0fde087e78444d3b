// Writes a ZIP archive of stored members, front to back, so that pipes work too; ZIP64 where sizes need it.
#pragma once

#include "runtime/output_file.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// Members are added one by one, then `finish` writes the directory.
class ZipWriter {
 public:
  using Sink = std::function<void(const void*, std::size_t)>;

  explicit ZipWriter(runtime::OutputFile& file) : file_(file) {}

  /// `produce` hands the member's bytes to the sink it is given; it is called twice, first for the checksum. Throws
  /// IoError.
  void add(std::string_view name, const std::function<void(const Sink&)>& produce);
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t checksum;
    std::uint64_t bytes;
    std::uint64_t offset;
  };

  runtime::OutputFile& file_;
  std::vector<Entry> entries_;
};

}  // namespace kith::io::inline v0
