// See text_writer.hpp.
#include "io/text/text_writer.hpp"

#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kLongestNumber = 32;  // the shortest form of a double has at most 24 characters
constexpr std::uint64_t kRowsPerReport = 4096;

void require_fitting(PointView points, const WriteOptions& options) {
  if (!options.columns.empty() && options.columns.size() != points.dims()) {
    throw UsageError(
        fmt::format("{} column names were given for points of {} dimensions", options.columns.size(), points.dims()));
  }
  if (options.labels == nullptr) return;
  if (options.labels->codes.size() != points.rows()) {
    throw UsageError(fmt::format("{} labels were given for {} points", options.labels->codes.size(), points.rows()));
  }
  for (const std::uint32_t code : options.labels->codes) {
    if (code >= options.labels->names.size()) {
      throw UsageError(
          fmt::format("label code {} has no name; there are {} names", code, options.labels->names.size()));
    }
  }
}

std::string header_line(PointView points, const WriteOptions& options, char delimiter) {
  std::string line;
  for (std::uint32_t d = 0; d < points.dims(); ++d) {
    if (d > 0) line += delimiter;
    if (!options.columns.empty()) {
      line += as_field(options.columns[d], delimiter);
    } else if (points.dims() <= 3) {
      line += "xyz"[d];
    } else {
      line += fmt::format("c{}", d);
    }
  }
  const auto add = [&](const std::string& name) {
    if (!line.empty()) line += delimiter;
    line += name;
  };
  if (options.labels != nullptr) add("label");
  for (const AppendedColumn& column : options.appended) add(as_field(column.name, delimiter));
  return line + '\n';
}

template <typename T>
char* print_number(char* out, T value) {
  if (std::isnan(value)) {  // "-nan" and payloads mean nothing to readers
    for (const char c : {'n', 'a', 'n'}) *out++ = c;
    return out;
  }
  return std::to_chars(out, out + kLongestNumber, value).ptr;
}

template <typename T>
void write_rows(runtime::OutputFile& file, PointView points, const WriteOptions& options, char delimiter) {
  std::vector<std::string> labels;
  if (options.labels != nullptr) {
    for (const std::string& name : options.labels->names) labels.push_back(as_field(name, delimiter));
  }
  runtime::ProgressMeter meter(&options.progress, "writing", points.rows());
  std::vector<char> line(points.dims() * (kLongestNumber + 1) + 1);
  std::string others;  // the fields behind the coordinates, and the line break
  std::string field;
  const auto add = [&](std::string_view text) {
    if (points.dims() > 0 || !others.empty()) others += delimiter;
    others += text;
  };
  for (std::uint64_t row = 0; row < points.rows(); ++row) {
    char* end = line.data();
    const T* const values = points.row<T>(row);
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      if (d > 0) *end++ = delimiter;
      end = print_number(end, values[d]);
    }
    file.write(line.data(), static_cast<std::size_t>(end - line.data()));
    others.clear();
    if (!labels.empty()) add(labels[options.labels->codes[row]]);
    for (const AppendedColumn& column : options.appended) {
      field.clear();
      column.write(row, field);
      add(as_field(field, delimiter));
    }
    others += '\n';
    file.write(others);
    if (row % kRowsPerReport == 0) meter.report(row);
  }
  meter.finish();
}

}  // namespace

std::string as_field(const std::string& text, char delimiter) {
  if (text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    throw UsageError("a name with a line break or NUL byte cannot be written as text; rename the column or label");
  }
  const bool blank_around = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  const bool plain = !text.empty() && text.find_first_of("\"\t") == std::string::npos &&
                     text.find(delimiter) == std::string::npos && !blank_around && text[0] != '#' && text[0] != '%' &&
                     !text.starts_with("//");
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void write_text_as(runtime::OutputFile& file, PointView points, const WriteOptions& options, TextStyle style) {
  require_fitting(points, options);
  if (style.header) file.write(header_line(points, options, style.delimiter));
  if (points.dtype() == DType::f32) {
    write_rows<float>(file, points, options, style.delimiter);
  } else {
    write_rows<double>(file, points, options, style.delimiter);
  }
}

void write_text(runtime::OutputFile& file, PointView points, const WriteOptions& options) {
  write_text_as(file, points, options, {});
}

}  // namespace kith::io::inline v0
