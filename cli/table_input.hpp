// Files as tables: every column with its own type, for commands that pass them on.
#pragma once

#include "command.hpp"
#include "output_flags.hpp"

#include <kith/io/table.hpp>
#include <kith/progress.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

/// Reads all columns, prints notes and, with --explain, what the file held. An index file gives its points.
io::Table read_table_input(const std::string& path, const io::ReadOptions& options, const OutputFlags& output,
                           const ProgressCallback& progress);

/// Writes the table and prints what could not be written.
void write_table_output(const std::string& path, const io::Table& table, const io::WriteOptions& options,
                        const OutputFlags& output);

/// The names of "a,b,c", none of them empty. Throws UsageError that names the flag.
std::vector<std::string> column_list(const std::string& flag, const std::string& text);

/// The flag --drop, which takes names of columns.
Flag drop_flag(std::vector<std::string>& names, const std::string& text);

/// Leaves these columns out. Throws UsageError if one is not there or none is left.
void drop_columns(io::Table& table, const std::vector<std::string>& names, const std::string& file);

}  // namespace kith::cli
