// Which characters separate the fields of a text file and the decimals of its numbers.
#pragma once

#include "io/text/text_sample.hpp"

#include <span>

namespace kith::io::inline v0 {

struct TextMarks {
  char delimiter = ',';  ///< kBlankRun for runs of blanks and tabs
  char decimal = '.';    ///< '.' or ','
};

/// What the first rows tell. A mark that is given (not 0) is kept. A delimiter that cuts all rows into equally many
/// fields is right; a comma that stands inside of numbers which tabs or blanks separate is a decimal comma. Throws
/// BadData if both readings make as much sense.
TextMarks find_marks(std::span<const SampleLine> rows, TextMarks given, const std::string& file_name);

}  // namespace kith::io::inline v0
