// A text file cut at line ends into blocks that threads read on their own.
#pragma once

#include "runtime/input_file.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::io::inline v0 {

/// The lines that start in one block. Every line ends with '\n', the last one of the file too.
struct BlockLines {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::uint64_t offset = 0;       ///< byte of the file where `begin` lies
  bool cut_at_long_line = false;  ///< a line above the limit follows; it is left out, and what comes after it
};

/// Block i owns the lines that start in [begin + i * block_bytes, begin + (i + 1) * block_bytes), so every line belongs
/// to exactly one block, whatever the block size. `begin` must be the start of a line.
class TextBlocks {
 public:
  TextBlocks(const runtime::InputFile& file, std::uint64_t begin, std::uint64_t block_bytes);

  std::uint64_t count() const;
  std::uint64_t block_bytes() const { return block_bytes_; }
  std::uint64_t bytes() const { return file_.size() - begin_; }
  /// Reads block `i` into `buffer`, which grows to the block and its last line and can be used again. Throws IoError if
  /// the file shrinks meanwhile.
  BlockLines load(std::uint64_t i, std::vector<char>& buffer) const;

 private:
  const runtime::InputFile& file_;
  std::uint64_t begin_;
  std::uint64_t block_bytes_;
};

}  // namespace kith::io::inline v0
