// Chooses the writer of a table by the format or the extension; the file appears when all is written. See table.hpp.
#include <kith/io/table.hpp>

#include "io/tables/table_formats.hpp"
#include "io/written_format.hpp"

namespace kith::io::inline v0 {

std::vector<std::string> write_table(const std::string& path, const Table& table, const WriteOptions& options) {
  const Format format = format_to_write(path, options.format);
  runtime::OutputFile file(path, runtime::Compression::by_name);
  Notes notes;
  switch (format) {
    case Format::npy:
      notes = write_npy_table(file, table, options);
      break;
    case Format::npz:
      notes = write_npz_table(file, table, options);
      break;
    case Format::ply:
      notes = write_ply_table(file, table, options);
      break;
    case Format::pcd:
      notes = write_pcd_table(file, table, options);
      break;
    case Format::las:
      notes = write_las_table(file, table, options);
      break;
    default:
      notes = write_text_table(file, table, options, text_style_of(path));
      break;
  }
  file.commit();
  return notes;
}

}  // namespace kith::io::inline v0
