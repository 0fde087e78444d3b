// Which columns of a test file are those of the training file, and whether the truth is among them.
#include "commands/classify_input.hpp"

#include "input_flags.hpp"
#include "readable.hpp"

#include <kith/error.hpp>
#include <kith/io/text_header.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>
#include <vector>

namespace kith::cli {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

/// Where the training file has a column that was read from it, by name, position or "last".
std::uint32_t place_of(const io::TextHeader& header, const std::string& column) {
  const auto named = std::ranges::find(header.names, column);
  if (named != header.names.end()) return static_cast<std::uint32_t>(named - header.names.begin());
  std::uint32_t position = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), position);
  return error == std::errc() && end == column.data() + column.size() ? position - 1 : header.columns - 1;
}

class TestReader {
 public:
  TestReader(const ClassifyFlags& flags, const io::PointFile& train, const ProgressCallback& progress)
      : flags_(flags), train_(train), progress_(progress) {}

  TestFile run() {
    io::ReadOptions options = with_target(flags_.read, target());
    const std::optional<io::TextHeader> train = io::read_text_header(flags_.train, options);
    if (!train_.columns.empty()) options.columns = train_.columns;  // a row with these names is a header
    const std::optional<io::TextHeader> test = io::read_text_header(flags_.test, options);
    // Nothing separates fields in a file of one column, but something must once there are two.
    if (test && test->columns == 1 && flags_.read.delimiter == 0) {
      delimiter_ = flags_.test.ends_with(".tsv") || flags_.test.ends_with(".tsv.gz") ? '\t' : ',';
    }
    TestFile file;
    if (train && test) {
      const bool by_name = !train->names.empty() && !test->names.empty();
      file = by_name ? read_by_name(*train, *test) : read_by_position(*train, *test);
    } else {
      file = read_by_trial();
    }
    if (file.content.points.dims() != train_.points.dims()) {
      throw UsageError(fmt::format("{} has {}, but {} has {}; choose the columns to compare with --columns",
                                   flags_.test, counted(file.content.points.dims(), "dimension"), flags_.train,
                                   counted(train_.points.dims(), "dimension")));
    }
    return file;
  }

 private:
  const std::string& target() const { return flags_.target(); }

  io::ReadOptions with_target(io::ReadOptions options, const std::string& column) const {
    if (flags_.is_regression()) {
      options.extras = {column};
    } else {
      options.label = column;
    }
    return options;
  }

  /// `column` is the name or place of what is to be predicted, empty if the file does not have it.
  TestFile read(const Names& columns, const std::string& column) const {
    TestFile file;
    file.read = flags_.read;
    file.read.label.clear();
    file.read.columns = columns;
    if (delimiter_ != 0) file.read.delimiter = delimiter_;
    file.read.dtype = train_.points.dtype();
    file.has_target = !column.empty();
    if (file.has_target) file.read = with_target(file.read, column);
    file.content = read_input(flags_.test, file.read, flags_.output, progress_);
    return file;
  }

  TestFile read_by_name(const io::TextHeader& train, const io::TextHeader& test) const {
    if (train.names == test.names) return read(flags_.read.columns, target());
    Names missing;
    for (const std::string& name : train_.columns) {
      if (!has(test.names, name)) missing.push_back(name);
    }
    if (!missing.empty()) {
      throw UsageError(fmt::format("{} has no column \"{}\"{}, which {} has; it has {}", flags_.test, missing[0],
                                   missing.size() == 1 ? "" : fmt::format(" and {} more", missing.size() - 1),
                                   flags_.train, listed(test.names)));
    }
    const std::string& predicted = train.names[place_of(train, target())];
    return read(train_.columns, has(test.names, predicted) ? predicted : "");
  }

  static std::string listed(const Names& names) {
    constexpr std::size_t kShown = 20;
    const Names first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)));
    return fmt::format("{}{}", fmt::join(first, ", "), names.size() > kShown ? ", ..." : "");
  }

  TestFile read_by_position(const io::TextHeader& train, const io::TextHeader& test) const {
    const std::uint32_t predicted = place_of(train, target());
    const bool has_target = test.columns == train.columns;
    if (!has_target && test.columns + 1 != train.columns) {
      throw UsageError(fmt::format(
          "{} has {}, but {} has {}; without names in both they must be as many, or one less if \"{}\" is missing",
          flags_.test, counted(test.columns, "column"), flags_.train, counted(train.columns, "column"), target()));
    }
    std::vector<std::uint32_t> places;
    for (const std::string& column : flags_.read.columns) places.push_back(place_of(train, column));
    for (std::uint32_t place = 0; flags_.read.columns.empty() && place < train.columns; ++place) {
      if (place != predicted) places.push_back(place);
    }
    Names columns;
    for (const std::uint32_t place : places) {
      const bool moved_up = !has_target && place > predicted;
      columns.push_back(std::to_string(moved_up ? place : place + 1));
    }
    return read(columns, has_target ? std::to_string(predicted + 1) : "");
  }

  /// For files whose columns are only known once they are read.
  TestFile read_by_trial() const {
    const auto try_columns = [&](const Names& columns) {
      try {
        return read(columns, target());
      } catch (const UsageError&) {  // if another column is missing, it is so without this one, too
        return read(columns, "");
      }
    };
    TestFile file = try_columns(flags_.read.columns);
    const bool took_a_coordinate = file.has_target && file.content.points.dims() + 1 == train_.points.dims();
    if (took_a_coordinate && flags_.read.columns.empty()) return read({}, "");
    const bool named = !file.content.columns.empty() && !train_.columns.empty();
    if (named && file.content.columns != train_.columns) return try_columns(train_.columns);
    return file;
  }

  const ClassifyFlags& flags_;
  const io::PointFile& train_;
  const ProgressCallback& progress_;
  char delimiter_ = 0;  // 0: as the flags say
};

}  // namespace

TestFile read_test_file(const ClassifyFlags& flags, const io::PointFile& train, const ProgressCallback& progress) {
  return TestReader(flags, train, progress).run();
}

}  // namespace kith::cli
