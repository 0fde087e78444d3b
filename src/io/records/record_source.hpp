// The columns of a file wherever their values lie: in the file itself, or decoded in memory.
#pragma once

#include "io/records/record_layout.hpp"

#include <kith/io/read_points.hpp>

#include "runtime/input_file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kith::io::inline v0 {

/// What a format's own code finds out; `read_records` does the rest.
struct RecordSource {
  RecordLayout layout;
  std::vector<std::string> defaults = {};                  ///< the columns to take if none are named
  std::unique_ptr<const runtime::InputFile> decoded = {};  ///< where the layout's bytes are; null: in the file itself
  std::vector<std::string> notes = {};
};

RecordSource find_pdb(const runtime::InputFile& file, const ReadOptions& options);
RecordSource find_gro(const runtime::InputFile& file, const ReadOptions& options);
/// XYZ molecules, extended or not, of one frame or several.
RecordSource find_extxyz(const runtime::InputFile& file, const ReadOptions& options);
/// Data files and text dumps.
RecordSource find_lammps(const runtime::InputFile& file, const ReadOptions& options);
/// Legacy and XML.
RecordSource find_vtk(const runtime::InputFile& file, const ReadOptions& options);
/// Plain bytes and Fortran records, as `options.layout` says.
RecordSource find_raw(const runtime::InputFile& file, const ReadOptions& options);

/// By one of the functions above; `format` is one of theirs.
RecordSource find_source(const runtime::InputFile& file, const ReadOptions& options, Format format);

/// The columns that `options` choose.
PointFile read_source(const RecordSource& source, const runtime::InputFile& file, const ReadOptions& options,
                      Format format);

/// Builds a source row by row. Columns are declared before the first row, and each row sets all of them.
class RowBuilder {
 public:
  std::size_t add_number(std::string name) { return add(std::move(name), false); }
  std::size_t add_text(std::string name) { return add(std::move(name), true); }
  void start_row();
  void set(std::size_t column, double value);
  void set(std::size_t column, std::string_view text);
  std::uint64_t rows() const { return rows_; }
  /// All rows, default columns x, y and z.
  RecordSource finish(const std::string& file_name);

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Texts {
    std::vector<std::string> names;
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> codes;
  };

  std::size_t add(std::string name, bool is_text);
  char* at(std::size_t column);

  RecordLayout layout_;
  std::vector<Texts> texts_;  // per column; empty for numbers
  std::vector<char> bytes_;
  std::uint64_t rows_ = 0;
};

}  // namespace kith::io::inline v0
