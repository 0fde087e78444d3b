// Files as tables: every column with its own type, for commands that pass them on.
#pragma once

#include "command.hpp"
#include "output_flags.hpp"

#include <kith/io/table.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

/// Reads all columns, prints notes and, with --explain, what the file held. An index file gives its points.
io::Table read_table_input(const std::string& path, const io::ReadOptions& options, const OutputFlags& output,
                           const ProgressCallback& progress);

/// Writes the table and prints what could not be written.
void write_table_output(const std::string& path, const io::Table& table, const io::WriteOptions& options,
                        const OutputFlags& output);

/// The flag --drop, which takes names of columns.
Flag drop_flag(std::vector<std::string>& names, const std::string& text);

/// The flags that say how files are read, without those that choose coordinates and labels: --format, --columns,
/// --delimiter and so on.
FlagGroup table_input_flags(io::ReadOptions& options);

/// The rows whose floating-point numbers are all finite.
std::vector<std::uint32_t> finite_rows(const io::Table& table);

/// Leaves these columns out. Throws UsageError if one is not there or none is left.
void drop_columns(io::Table& table, const std::vector<std::string>& names, const std::string& file);

}  // namespace kith::cli
