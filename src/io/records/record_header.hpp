// The lines of a text header in front of data: bounded, numbered for messages.
#pragma once

#include "runtime/input_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// Walks over the header line by line; lines end with LF or CR LF.
class HeaderLines {
 public:
  explicit HeaderLines(const runtime::InputFile& file);

  /// The next line without its end; false if no complete line is left within the bound. Valid while this object lives.
  bool next(std::string_view& line);
  /// Where the next line starts in the file.
  std::uint64_t offset() const { return offset_; }
  /// How many lines were taken.
  std::uint64_t number() const { return number_; }
  /// A count without sign. Throws CorruptFile that names `what`.
  std::uint64_t count(std::string_view word, std::string_view what) const;
  /// Throws CorruptFile with the file and the number of the line.
  [[noreturn]] void fail(std::string_view why) const;

 private:
  std::string file_name_;
  std::string text_;
  std::size_t offset_ = 0;
  std::uint64_t number_ = 0;
};

/// The words of a line between blanks.
std::vector<std::string_view> words_of(std::string_view line);

}  // namespace kith::io::inline v0
