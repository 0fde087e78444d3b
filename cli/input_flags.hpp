// The flags of every command that reads points, and the reading itself.
#pragma once

#include "command.hpp"
#include "output_flags.hpp"

#include <kith/index_file.hpp>
#include <kith/io/read_points.hpp>
#include <kith/progress.hpp>
#include <kith/sequence_set.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kith::cli {

/// --format, --dtype, --columns, --label, --delimiter, --decimal, --header, --array, filled into `options`.
FlagGroup input_flags(io::ReadOptions& options);

/// "a,b,c" or "1,2,3" as the flag took it. Throws UsageError if a name is empty.
std::vector<std::string> parse_columns(const std::string& flag, const std::string& text);

/// A flag such as --format, which takes the name of a format.
Flag format_flag(const std::string& name, const std::string& text, std::function<void(io::Format)> take);

/// The flag --dtype alone, as the other commands have it.
Flag dtype_flag(const std::string& text, std::function<void(DType)> take);

/// The flag --threads.
Flag threads_flag(std::function<void(int)> take);

/// --memory. It is in `memory_given`, 0 if it was not given, and the limit of all that the command does.
Flag memory_flag();
std::uint64_t& memory_given();
/// What points and sequences take in memory.
std::uint64_t bytes_of(PointView points);
std::uint64_t bytes_of(SequenceView sequences);

/// The flag --seed.
Flag seed_flag(std::uint64_t& seed, const std::string& text);

/// Whether the file is a tree from kith export. With --array, and as another format, it is read as any other file.
bool is_tree_input(const std::string& path, const io::ReadOptions& options);

/// Throws UsageError if a flag says how to read columns: an index file or a tree has its points already.
void refuse_reading_flags(const std::string& path, const io::ReadOptions& options);

/// Throws UsageError unless the index file holds points.
void require_points_index(const std::string& path, const IndexFileInfo& info);

/// Which line of a text file is the header: "line 3", "none", or "none (the comment in line 1 names the columns)".
std::string header_text(const io::TextReading& text);

/// Reads the file, prints its notes and, with --explain, what it held. An index file gives the points that it was built
/// from, and so does a tree in order; rows that were left out hold NaN.
io::PointFile read_input(const std::string& path, const io::ReadOptions& options, const OutputFlags& output,
                         const ProgressCallback& progress);

}  // namespace kith::cli
