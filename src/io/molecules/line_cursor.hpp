// The lines of a text file, one after the other, numbered for messages; between them the cursor may jump over other
// data.
#pragma once

#include "runtime/input_file.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/io/read_points.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

class LineCursor {
 public:
  LineCursor(const runtime::InputFile& file, const ReadOptions& options);

  /// The next line without its end (LF or CR LF); false at the end of the file. Valid until the next call. Throws
  /// CorruptFile if a line is longer than 16 MiB.
  bool next(std::string_view& line);
  /// The next line that holds more than blanks.
  bool next_filled(std::string_view& line);
  /// Where the next line starts in the file.
  std::uint64_t offset() const { return offset_; }
  /// Goes on at another byte, as if the line `number` was the last one taken.
  void seek(std::uint64_t offset, std::uint64_t number) {
    offset_ = offset;
    number_ = number;
  }
  /// The number of the line that was taken last, from 1.
  std::uint64_t number() const { return number_; }

  /// The number that `word` is. Nothing but blanks is missing: NaN with `missing_as_nan`. Throws BadData that names the
  /// line and `what`.
  double value(std::string_view word, std::string_view what) const;
  /// A whole number from 0 on. Throws CorruptFile that names the line and `what`.
  std::uint64_t count(std::string_view word, std::string_view what) const;
  /// Throws CorruptFile with the file and the line.
  [[noreturn]] void fail(std::string_view why) const;

 private:
  const runtime::InputFile& file_;
  bool missing_as_nan_;
  runtime::ProgressMeter meter_;
  std::vector<char> window_;
  std::uint64_t begin_ = 0;  // of the window in the file
  std::uint64_t offset_ = 0;
  std::uint64_t number_ = 0;
};

/// `text` without the blanks around it.
std::string_view without_blanks(std::string_view text);
/// The part of a line of fixed columns, without blanks; empty where the line is shorter.
std::string_view fixed_field(std::string_view line, std::size_t begin, std::size_t length);
/// The words of a line between blanks, into a vector that keeps its memory from line to line.
void split_words(std::string_view line, std::vector<std::string_view>& words);
/// "--period 1,2,3", or nothing if a length is not above 0.
std::string period_advice(double x, double y, double z);

}  // namespace kith::io::inline v0
