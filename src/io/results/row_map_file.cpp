// See row_map_file.hpp.
#include <kith/io/row_map_file.hpp>

#include "io/numpy/array_archive.hpp"
#include "io/numpy/npy_header.hpp"
#include "runtime/output_file.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/compile.h>
#include <fmt/format.h>
#include <strings.h>

#include <iterator>
#include <string_view>

namespace kith::io::inline v0 {
namespace {

bool ends_with(const std::string& path, std::string_view extension) {
  return path.size() >= extension.size() &&
         strcasecmp(path.c_str() + path.size() - extension.size(), extension.data()) == 0;
}

void write_lines(runtime::OutputFile& file, char separator, std::span<const std::uint32_t> map,
                 std::span<const std::uint32_t> kept, const ProgressCallback& progress) {
  runtime::ProgressMeter meter(&progress, "writing", map.size());
  file.write(fmt::format("row{0}kept{0}kept_row\n", separator));
  fmt::memory_buffer line;
  for (std::size_t row = 0; row < map.size(); ++row) {
    line.clear();
    if (map[row] < kept.size()) {
      fmt::format_to(std::back_inserter(line), FMT_COMPILE("{}{}{}{}{}\n"), row, separator, map[row], separator,
                     kept[map[row]]);
    } else {
      fmt::format_to(std::back_inserter(line), FMT_COMPILE("{}{}{}\n"), row, separator, separator);
    }
    file.write(line.data(), line.size());
    if ((row & 0xfff) == 0) meter.report(row);
  }
  meter.finish();
}

}  // namespace

void write_row_map(const std::string& path, std::span<const std::uint32_t> map, std::span<const std::uint32_t> kept,
                   const ProgressCallback& progress) {
  const bool is_text = path == "-" || ends_with(path, ".csv") || ends_with(path, ".tsv");
  if (!is_text && !ends_with(path, ".npy") && !ends_with(path, ".npz")) {
    throw UsageError(fmt::format(
        "{}: maps are written as .npy, .npz, .csv or .tsv, or as CSV to \"-\"; change the extension", path));
  }
  runtime::OutputFile file(path);
  if (is_text) {
    write_lines(file, ends_with(path, ".tsv") ? '\t' : ',', map, kept, progress);
  } else if (ends_with(path, ".npy")) {
    const std::uint64_t shape[] = {map.size()};
    file.write(npy_header_bytes(npy_descr_of<std::uint32_t>(), shape));
    file.write(map.data(), map.size_bytes());
  } else {
    ArrayArchive archive(file, progress, map.size_bytes() + kept.size_bytes());
    archive.add("map", map);
    archive.add("kept", kept);
    archive.finish();
  }
  file.commit();
}

}  // namespace kith::io::inline v0
