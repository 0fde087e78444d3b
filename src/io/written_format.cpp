// See written_format.hpp.
#include "io/written_format.hpp"

#include "io/lower_case.hpp"
#include "runtime/output_file.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <string_view>

namespace kith::io::inline v0 {
namespace {

constexpr std::string_view kWritable =
    ".csv, .tsv, .txt, .xyz, .npy, .npz, .ply, .pcd and .las can be written, each also as .gz";

bool is_written(Format format) {
  switch (format) {
    case Format::text:
    case Format::npy:
    case Format::npz:
    case Format::ply:
    case Format::pcd:
    case Format::las:
      return true;
    default:
      return false;
  }
}

}  // namespace

Format format_to_write(const std::string& path, Format wanted) {
  if (wanted == Format::automatic && path == "-") return Format::text;
  const std::string name = lower_case(runtime::without_gz(path));
  if (name.ends_with(".zst")) {
    throw UsageError(
        fmt::format("{}: zstd is read but not written; leave out .zst and compress the file afterwards", path));
  }
  const Format format = wanted == Format::automatic ? format_of_extension(name) : wanted;
  if (format == Format::automatic) {
    throw UsageError(fmt::format("{}: the extension does not say what to write; {}", path, kWritable));
  }
  if (name.ends_with(".laz")) {
    throw UsageError(fmt::format("{}: LAZ is not written; write .las and compress it, e.g. with \"laszip -i {}\"", path,
                                 name.substr(0, name.size() - 1) + "s"));
  }
  if (!is_written(format)) {
    throw UsageError(fmt::format("{}: {} is read but not written; {}", path, name_of(format), kWritable));
  }
  return format;
}

TextStyle text_style_of(const std::string& path) {
  const std::string name = lower_case(runtime::without_gz(path));
  if (name.ends_with(".tsv") || name.ends_with(".tab")) return {.delimiter = '\t', .header = true};
  if (name.ends_with(".xyz")) return {.delimiter = ' ', .header = false};
  return {};
}

}  // namespace kith::io::inline v0
