// See query_file.hpp.
#include "query_file.hpp"

#include "input_flags.hpp"

#include <kith/error.hpp>
#include <kith/index_file.hpp>
#include <kith/io/text_header.hpp>

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace kith::cli {
namespace {

using Names = std::vector<std::string>;

bool is_same_name(const std::string& one, const std::string& other) {
  return strcasecmp(one.c_str(), other.c_str()) == 0;
}

/// Where the column stands: the only one of that name, or the only one but for upper and lower case.
std::optional<std::size_t> place_of(const Names& names, const std::string& name) {
  const auto only = [&](const auto& fits) -> std::optional<std::size_t> {
    const auto first = std::ranges::find_if(names, fits);
    if (first == names.end() || std::find_if(first + 1, names.end(), fits) != names.end()) return std::nullopt;
    return static_cast<std::size_t>(first - names.begin());
  };
  const auto exact = only([&](const std::string& other) { return other == name; });
  return exact ? exact : only([&](const std::string& other) { return is_same_name(other, name); });
}

/// Where all of the wanted columns stand; nothing if one is missing.
std::optional<std::vector<std::size_t>> places_of(const Names& names, const Names& wanted) {
  std::vector<std::size_t> places;
  for (const std::string& name : wanted) {
    const auto place = place_of(names, name);
    if (!place || std::ranges::find(places, *place) != places.end()) return std::nullopt;
    places.push_back(*place);
  }
  return places;
}

template <typename T>
void copy_columns(const io::PointFile& from, const std::vector<std::size_t>& places, PointSet& to) {
  const std::span<T> values = to.values<T>();
  for (std::uint64_t row = 0; row < to.rows(); ++row) {
    const T* old_row = from.view().row<T>(row);
    for (std::size_t i = 0; i < places.size(); ++i) values[row * places.size() + i] = old_row[places[i]];
  }
}

/// The columns at these places, in this order.
void take_columns(io::PointFile& file, const std::vector<std::size_t>& places) {
  PointSet taken(file.points.dtype(), file.points.rows(), static_cast<std::uint32_t>(places.size()));
  if (taken.dtype() == DType::f32) {
    copy_columns<float>(file, places, taken);
  } else {
    copy_columns<double>(file, places, taken);
  }
  Names names;
  for (const std::size_t place : places) names.push_back(file.columns[place]);
  file.points = std::move(taken);
  file.columns = std::move(names);
}

std::string short_list(const Names& names) {
  constexpr std::size_t kShown = 8;
  const Names first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)));
  return fmt::format("{}{}", fmt::join(first, ", "), names.size() > kShown ? ", ..." : "");
}

class QueryReader {
 public:
  QueryReader(const std::string& path, const QueryFlags& flags, const PointColumns& points, const OutputFlags& output)
      : path_(path), flags_(flags), points_(points), output_(output) {}

  io::PointFile read(io::ReadOptions& options, const ProgressCallback& progress) {
    const bool is_index = is_index_file(path_);
    if (flags_.format != io::Format::automatic) options.format = flags_.format;
    if (!flags_.columns.empty()) options.columns = flags_.columns;
    if (flags_.label) options.label = *flags_.label;
    if (path_ != "-" && !is_index) choose_by_header(options);
    io::PointFile file = read_input(path_, options, output_, progress);
    if (flags_.columns.empty()) pair(file);
    return file;
  }

 private:
  /// A look at the names of a text file tells which of its columns to read: others may hold text.
  void choose_by_header(io::ReadOptions& options) {
    io::ReadOptions all = options;
    all.columns = points_.names;  // a row with these names is a header
    const std::optional<io::TextHeader> header = io::read_text_header(path_, all);
    if (!header || header->names.empty()) return;
    const bool may_lack_label = !flags_.label && !options.label.empty();
    if (may_lack_label && is_name_of_point_file(options.label) && !place_of(header->names, options.label)) {
      options.label.clear();
    }
    if (!flags_.columns.empty() || points_.names.empty()) return;
    const auto places = places_of(header->names, points_.names);
    if (!places) return;
    is_paired_by_name_ = !std::ranges::equal(otherwise_read(*header, options), points_.names, is_same_name);
    options.columns.clear();
    for (const std::size_t place : *places) options.columns.push_back(header->names[place]);
  }

  /// The columns that would be read without a look at the names of the points.
  static Names otherwise_read(const io::TextHeader& header, const io::ReadOptions& options) {
    Names names;
    for (const std::string& column : options.columns) {
      std::size_t position = column == "last" ? header.names.size() : 0;
      std::from_chars(column.data(), column.data() + column.size(), position);
      const bool is_position = !place_of(header.names, column) && position >= 1 && position <= header.names.size();
      names.push_back(is_position ? header.names[position - 1] : column);
    }
    for (const std::string& name : header.names) {
      if (options.columns.empty() && (options.label.empty() || name != options.label)) names.push_back(name);
    }
    return names;
  }

  /// A label that was given by position is at that place in both files.
  static bool is_name_of_point_file(const std::string& label) {
    return label != "last" && !std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
  }

  void pair(io::PointFile& file) {
    if (file.columns.empty() || points_.names.empty()) return;
    if (!std::ranges::equal(file.columns, points_.names, is_same_name)) {
      const auto places = places_of(file.columns, points_.names);
      if (!places) {
        note_positions(file);
        return;
      }
      take_columns(file, *places);
      is_paired_by_name_ = true;
    }
    if (!is_paired_by_name_) return;
    output_.note(fmt::format("{}: columns are paired with those of {} by name: {}", shown_path(path_),
                             shown_path(points_.path), short_list(points_.names)));
  }

  void note_positions(const io::PointFile& file) const {
    if (file.columns.size() != points_.names.size()) return;  // an error is about to say so
    Names pairs;
    for (std::size_t i = 0; i < points_.names.size(); ++i) {
      pairs.push_back(fmt::format("{} with {}", file.columns[i], points_.names[i]));
    }
    output_.note(fmt::format("{}: columns are paired with those of {} by position: {}; --query-columns takes others",
                             shown_path(path_), shown_path(points_.path), short_list(pairs)));
  }

  static std::string shown_path(const std::string& path) { return path == "-" ? "standard input" : path; }

  const std::string& path_;
  const QueryFlags& flags_;
  const PointColumns& points_;
  const OutputFlags& output_;
  bool is_paired_by_name_ = false;  // and their order, or what lies between them, is not that of the points
};

}  // namespace

FlagGroup query_flags(QueryFlags& flags) {
  Flag format = format_flag("--query-format", "the format of QUERIES, if it differs from that of POINTS",
                            [&flags](io::Format value) { flags.format = value; });
  return {"Reading queries (otherwise as the points)",
          {{"--query-columns", "A,B,C", "use these columns of QUERIES, in the order of those of POINTS",
            [&flags](const std::string& value) { flags.columns = parse_columns("--query-columns", value); }},
           {"--query-label", "COLUMN", "this column of QUERIES is not a coordinate; \"\" for none",
            [&flags](const std::string& value) { flags.label = value; }},
           format}};
}

void require_queries_for(const QueryFlags& flags, const std::string& queries_path) {
  if (!queries_path.empty() || !flags.any_given()) return;
  throw UsageError("--query-columns, --query-label and --query-format go with QUERIES; name a file of them");
}

io::PointFile read_query_points(const std::string& path, const QueryFlags& flags, io::ReadOptions& options,
                                const PointColumns& points, const OutputFlags& output,
                                const ProgressCallback& progress) {
  return QueryReader(path, flags, points, output).read(options, progress);
}

}  // namespace kith::cli
