// See write_points.hpp: chooses the writer by the format or the extension; the file appears when all is written.
#include <kith/io/write_points.hpp>

#include "io/formats.hpp"
#include "io/text_writer.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kith::io {
namespace {

constexpr std::string_view kWritable = ".csv, .tsv, .txt, .xyz, .npy, .npz, .ply and .pcd can be written";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

Format format_to_write(const std::string& path, const WriteOptions& options) {
  if (lower_case(path).ends_with(".gz")) {
    throw UsageError(
        fmt::format("{}: gzip is read but not written; leave out .gz and compress the file afterwards", path));
  }
  if (lower_case(path).ends_with(".zst")) {
    throw UsageError(
        fmt::format("{}: zstd is read but not written; leave out .zst and compress the file afterwards", path));
  }
  if (options.format != Format::automatic) return options.format;
  if (path == "-") return Format::text;
  const Format format = format_of_extension(path);
  if (format == Format::automatic) {
    throw UsageError(fmt::format("{}: the extension does not say what to write; {}", path, kWritable));
  }
  return format;
}

TextStyle style_of(const std::string& path) {
  const std::string name = lower_case(path);
  if (name.ends_with(".tsv") || name.ends_with(".tab")) return {.delimiter = '\t', .header = true};
  if (name.ends_with(".xyz")) return {.delimiter = ' ', .header = false};
  return {};
}

}  // namespace

void write_points(const std::string& path, PointView points, const WriteOptions& options) {
  if (points.device() != Device::cpu()) {
    throw UsageError(fmt::format("{}: the points lie on another device; copy them to the host first", path));
  }
  const Format format = format_to_write(path, options);
  const bool can_write = format == Format::text || format == Format::npy || format == Format::npz ||
                         format == Format::ply || format == Format::pcd;
  if (!can_write) {
    throw UsageError(fmt::format("{}: {} is read but not written; {}", path, name_of(format), kWritable));
  }
  if ((options.labels != nullptr || !options.appended.empty()) && format != Format::text) {
    throw UsageError(fmt::format("{}: {} are written to text only; use .csv", path,
                                 options.labels != nullptr ? "labels" : "further columns"));
  }
  runtime::OutputFile file(path);
  switch (format) {
    case Format::npy:
      write_npy(file, points, options);
      break;
    case Format::npz:
      write_npz(file, points, options);
      break;
    case Format::ply:
      write_ply(file, points, options);
      break;
    case Format::pcd:
      write_pcd(file, points, options);
      break;
    default:
      write_text_as(file, points, options, style_of(path));
      break;
  }
  file.commit();
}

}  // namespace kith::io
