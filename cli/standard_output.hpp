// Text on standard output, with every error noticed.
#pragma once

#include <string_view>

namespace kith::cli {

/// Fills closed descriptors 0, 1 and 2 with ones that cannot be used, so that no file that is opened later takes their
/// place and is overwritten by what was meant for standard output.
void guard_standard_descriptors();

/// Writes all of it, made `printable`, unbuffered. Throws IoError if standard output is closed or full.
void write_to_stdout(std::string_view text);

/// A whole line "kith: …" or any text on standard error. Errors are ignored: nothing can report them.
void write_to_stderr(std::string_view text) noexcept;

}  // namespace kith::cli
