// Records of numbers as the columns of a table, each with its own type.
#pragma once

#include "io/records/record_layout.hpp"
#include "io/records/record_text.hpp"

#include <kith/io/table.hpp>

#include <span>
#include <string>

namespace kith::io::inline v0 {

/// The type of the column that holds a field's values: booleans become u8, halves f32, scaled integers f64.
ColumnType column_type_of(const RecordField& field);

/// Reads all fields into `*options.table`. `defaults` names the coordinates; empty means all. Throws as `read_records`.
void read_record_columns(const runtime::InputFile& file, const RecordLayout& layout, const ReadOptions& options,
                         Format format, std::span<const std::string> defaults);

/// The same for records as lines of text. A column whose values its declared type does not hold becomes f64.
void read_text_record_columns(const runtime::InputFile& file, const TextRecords& records, const ReadOptions& options,
                              Format format, std::span<const std::string> defaults);

}  // namespace kith::io::inline v0
