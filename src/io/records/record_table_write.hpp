// Writes columns as records of numbers: what PLY, PCD and LAS have in common.
#pragma once

#include "io/records/record_layout.hpp"

#include <kith/io/table.hpp>

#include "runtime/output_file.hpp"

#include <span>
#include <vector>

namespace kith::io::inline v0 {

/// One record per row, little-endian, as the layout says. `columns` has one entry per field, of the field's type (f64
/// where it is scaled), or null where all bits are 0. Throws IoError, Interrupted.
void write_records(runtime::OutputFile& file, const RecordLayout& layout, std::span<const Column* const> columns,
                   const ProgressCallback& progress);

/// One line of blank-separated values per row. Throws IoError, Interrupted.
void write_record_lines(runtime::OutputFile& file, std::span<const Column* const> columns,
                        const ProgressCallback& progress);

/// The field of the same type as a column of numbers.
RecordField field_of(const Column& column, std::uint64_t offset);

/// The columns that a format of numbers takes, with names that a header holds, and what became of the others.
struct NumberColumns {
  std::vector<Column> columns;
  std::vector<std::string> notes;
};

/// Text is left out with a note. Blanks in names become '_', and X, Y, Z of other formats become x, y, z. Where
/// `has_64_bits` is false, 64-bit integers become a type that holds every value; throws UsageError if there is none, or
/// for names twice.
NumberColumns number_columns(const Table& table, Format format, bool has_64_bits);

}  // namespace kith::io::inline v0
