// Writes points as text with a choice of what separates the fields.
#pragma once

#include "io/formats.hpp"

#include <string>

namespace kith::io::inline v0 {

/// CSV unless said otherwise.
struct TextStyle {
  char delimiter = ',';
  bool header = true;
};

/// Numbers are the shortest that read back as the same bits. Throws UsageError if names or labels do not fit the
/// points, IoError, Interrupted.
void write_text_as(runtime::OutputFile& file, PointView points, const WriteOptions& options, TextStyle style);

/// The text as a field: in quotes where the reader would otherwise take it apart, take it for a comment or strip its
/// blanks. Throws UsageError if it holds a line break or NUL.
std::string as_field(const std::string& text, char delimiter);

}  // namespace kith::io::inline v0
