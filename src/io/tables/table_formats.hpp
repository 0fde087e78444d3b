// The writers of tables, one for each format; table_write.cpp chooses between them.
#pragma once

#include "io/text/text_writer.hpp"

#include <kith/io/table.hpp>

#include "runtime/output_file.hpp"

#include <string>
#include <vector>

namespace kith::io::inline v0 {

/// What a person should know of what was written.
using Notes = std::vector<std::string>;

Notes write_text_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options, TextStyle style);
Notes write_npy_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options);
Notes write_npz_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options);
Notes write_ply_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options);
Notes write_pcd_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options);
Notes write_las_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options);

}  // namespace kith::io::inline v0
