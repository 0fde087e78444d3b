// Where labels and values go: behind the rows that they were found for.
#include "commands/classify_report.hpp"

#include "interrupt.hpp"

#include <kith/io/append_columns.hpp>
#include <kith/io/class_file.hpp>
#include <kith/io/write_points.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {
namespace {

using io::AppendedColumn;

/// The shortest text that reads back as the same bits.
void append_number(double value, std::string& to) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  to.append(text, end);
}

/// The truth as it stood in a file that is not text.
std::optional<AppendedColumn> truth_column(const ClassifyFlags& flags, const ClassifyInput& input) {
  if (!input.test.has_target) return std::nullopt;
  // A place is no name.
  const bool is_place = flags.target().find_first_not_of("0123456789") == std::string::npos || flags.target() == "last";
  AppendedColumn column;
  column.name = !is_place ? flags.target() : flags.is_regression() ? "value" : "label";
  column.write = [&flags, &input](std::uint64_t row, std::string& to) {
    if (flags.is_regression()) {
      append_number(input.test.content.extras.view().at(row, 0), to);
    } else {
      const io::Labels& labels = *input.test.content.labels;
      to += labels.names[labels.codes[row]];
    }
  };
  return column;
}

void write_rows(const ClassifyFlags& flags, const ClassifyInput& input, std::vector<AppendedColumn> columns,
                const ProgressCallback& progress) {
  const io::PointFile& test = input.test.content;
  const std::string path = flags.result_path();
  const ExitOnInterrupt leave(path == "-");
  if (test.format == io::Format::text) {
    io::append_columns(flags.test, input.test.read, path, columns, test.points.rows(), progress);
    return;
  }
  io::WriteOptions write;
  write.format = io::Format::text;
  write.columns = test.columns;
  if (const auto truth = truth_column(flags, input)) columns.insert(columns.begin(), *truth);
  write.appended = std::move(columns);
  write.progress = progress;
  io::write_points(path, test.view(), write);
}

}  // namespace

void write_labels(const ClassifyFlags& flags, const ClassifyInput& input, const apps::Classified& found,
                  const ProgressCallback& progress) {
  if (flags.result_path().empty()) return;
  if (flags.is_class_file()) {
    const ExitOnInterrupt leave(flags.result_path() == "-");
    io::write_classified(flags.result_path(), input.class_file, found.labels, found.shares, progress);
    return;
  }
  std::vector<AppendedColumn> columns;
  columns.push_back({"predicted", [&](std::uint64_t row, std::string& to) {
                       const std::uint64_t query = input.query_of(row);
                       if (query != kLeftOut) to += input.names[found.labels[query]];
                     }});
  for (std::uint32_t label = 0; flags.proba && label < input.classes; ++label) {
    columns.push_back({fmt::format("p_{}", input.names[label]), [&, label](std::uint64_t row, std::string& to) {
                         const std::uint64_t query = input.query_of(row);
                         if (query != kLeftOut) append_number(found.shares[query * input.classes + label], to);
                       }});
  }
  write_rows(flags, input, std::move(columns), progress);
}

void write_values(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const double> found,
                  const ProgressCallback& progress) {
  if (flags.result_path().empty()) return;
  std::vector<AppendedColumn> columns;
  columns.push_back({"predicted", [&](std::uint64_t row, std::string& to) {
                       const std::uint64_t query = input.query_of(row);
                       if (query != kLeftOut) append_number(found[query], to);
                     }});
  write_rows(flags, input, std::move(columns), progress);
}

}  // namespace kith::cli
