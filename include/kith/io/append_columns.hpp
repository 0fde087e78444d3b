// Copies the rows of a text file as they stood, with further columns behind them.
#pragma once

#include <kith/io/read_points.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace kith::io::inline v0 {

/// A column that a file gets.
struct AppendedColumn {
  std::string name;
  /// Appends the field of a row to `to`, which is empty: plain text, quotes are put where it needs them. Called once
  /// per row, in order, from one thread.
  std::function<void(std::uint64_t row, std::string& to)> write;
};

/// Writes every row of the text file `in` as it stood, line end included, with a field per column behind it; the names
/// go into the header, or the comment above the first row, if that names the columns. Fields are separated as in the
/// file (blanks and tabs: by one blank), and numbers get a decimal comma where the file has those. Blank lines and
/// other comments are left out. `in` is read as `options` say (delimiter, header, format) and must have `rows` rows.
/// Gzip is undone. The output appears whole or not at all and may be the input; "-" is standard output.
///
/// Throws UsageError if `in` is standard input, a pipe or no text, or a field holds a line break; IoError, also if the
/// number of rows is another; BadData, CorruptFile as read_points; Interrupted.
KITH_EXPORT void append_columns(const std::string& in, const ReadOptions& options, const std::string& out,
                                std::span<const AppendedColumn> columns, std::uint64_t rows,
                                const ProgressCallback& progress = {});

}  // namespace kith::io::inline v0
