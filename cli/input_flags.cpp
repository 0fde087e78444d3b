// See input_flags.hpp.
#include "input_flags.hpp"

#include "number_arguments.hpp"
#include "readable.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/io/tree_file.hpp>

#include <fmt/format.h>

#include <limits>
#include <utility>
#include <variant>

namespace kith::cli {
namespace {

constexpr int kMostThreads = 1024;

char delimiter_of(const std::string& text) {
  if (text == "auto") return 0;
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space" || text == "blank") return ' ';
  if (text == "comma") return ',';
  if (text == "semicolon") return ';';
  if (text.size() == 1) return text[0];
  throw UsageError(
      fmt::format("--delimiter: \"{}\" is neither one character nor one of auto, comma, semicolon, space, tab", text));
}

/// The points of an index file, in the numbering of the file that it was built from.
io::PointFile read_index_points(const std::string& path, const io::ReadOptions& options, const OutputFlags& output,
                                const ProgressCallback& progress) {
  refuse_reading_flags(path, options);
  const IndexFileInfo info = describe_index_file(path);
  require_points_index(path, info);
  if (options.dtype && *options.dtype != info.dtype) {
    throw UsageError(
        fmt::format("{} is an index of {} points; they are not converted to {}, build an index of that type", path,
                    name_of(info.dtype), name_of(*options.dtype)));
  }
  LoadOptions load;
  load.device = Device::cpu();
  load.threads = options.threads;
  load.progress = progress;
  io::PointFile file;
  const Index index = Index::load(path, load);
  if (!index.holds_points()) {
    throw UsageError(fmt::format(
        "{} is an index for {} and holds rows made of the points, not the points; name the file that it was built from",
        path, info.metric.name()));
  }
  file.points = index.points(options.threads);
  output.explanation(fmt::format("read {}: index, {} of {}, {}, {}", path, counted(file.points.rows(), "point"),
                                 counted(file.points.dims(), "dimension"), name_of(file.points.dtype()),
                                 readable_bytes(static_cast<double>(file.points.bytes()))));
  return file;
}

/// The points of a tree in order, in the numbering of the file that it was made from.
io::PointFile read_tree_points(const std::string& path, const io::ReadOptions& options, const OutputFlags& output,
                               const ProgressCallback& progress) {
  refuse_reading_flags(path, options);
  const auto tree = io::read_tree(path);
  const auto* in_order = std::get_if<apps::InOrderTree>(&tree);
  if (in_order == nullptr) {
    throw UsageError(
        fmt::format("{} is a node table, which holds no coordinates; name the file that it was made from", path));
  }
  if (options.dtype && *options.dtype != in_order->facts.dtype) {
    throw UsageError(fmt::format("{} is a tree of {} points; they are not converted to {}", path,
                                 name_of(in_order->facts.dtype), name_of(*options.dtype)));
  }
  BuildOptions build{.engine = Engine::brute_force, .device = Device::cpu()};
  build.threads = options.threads;
  build.progress = progress;
  io::PointFile file;
  file.format = io::Format::npz;
  file.points = Index::from_tree(*in_order, build).points(options.threads);
  output.explanation(fmt::format("read {}: tree in order, {} of {}, {}, {}", path, counted(file.points.rows(), "point"),
                                 counted(file.points.dims(), "dimension"), name_of(file.points.dtype()),
                                 readable_bytes(static_cast<double>(file.points.bytes()))));
  return file;
}

}  // namespace

std::vector<std::string> parse_columns(const std::string& flag, const std::string& text) {
  std::vector<std::string> columns = split(text, ',');
  for (const std::string& column : columns) {
    if (column.empty()) throw UsageError(fmt::format("{}: \"{}\" has an empty name; write a,b,c or 1,2,3", flag, text));
  }
  return columns;
}

Flag format_flag(const std::string& name, const std::string& text, std::function<void(io::Format)> take) {
  const std::string formats = fmt::format("{}", fmt::join(io::format_names(), "|"));
  return {name, formats, text, [name, formats, take = std::move(take)](const std::string& value) {
            require_choice(name, formats, value);
            take(io::parse_format(value));
          }};
}

void refuse_reading_flags(const std::string& path, const io::ReadOptions& options) {
  std::string flag;
  if (options.format != io::Format::automatic) flag = "--format";
  if (!options.columns.empty()) flag = "--columns";
  if (!options.label.empty()) flag = "--label";
  if (options.delimiter != 0) flag = "--delimiter";
  if (options.decimal != 0) flag = "--decimal";
  if (options.header) flag = "--header";
  if (!options.array.empty()) flag = "--array";
  if (!options.layout.empty()) flag = "--layout";
  if (!options.extras.empty()) flag = "what names other columns";
  if (flag.empty()) return;
  throw UsageError(fmt::format("{} is {}, which has its points; leave {} out", path,
                               is_index_file(path) ? "an index" : "a tree", flag));
}

bool is_tree_input(const std::string& path, const io::ReadOptions& options) {
  const bool may_be_archive = options.format == io::Format::automatic || options.format == io::Format::npz;
  try {
    return options.array.empty() && may_be_archive && io::is_tree_file(path);
  } catch (const IoError&) {
    return false;  // who reads it says why not
  }
}

void require_points_index(const std::string& path, const IndexFileInfo& info) {
  if (info.content == IndexContent::points) return;
  throw UsageError(fmt::format("{} is an index of {}, not of points; kith knn, radius, info and verify take it", path,
                               name_of(info.content)));
}

Flag dtype_flag(const std::string& text, std::function<void(DType)> take) {
  return {"--dtype", "f32|f64", text, [take = std::move(take)](const std::string& value) {
            require_choice("--dtype", "f32|f64", value);
            take(value == "f32" ? DType::f32 : DType::f64);
          }};
}

Flag threads_flag(std::function<void(int)> take) {
  return {"--threads", "N", "use at most N CPU threads; 0, the default, means all cores. Small jobs use fewer",
          [take = std::move(take)](const std::string& value) {
            take(static_cast<int>(parse_whole("--threads", value, 0, kMostThreads)));
          }};
}

std::uint64_t& memory_given() {
  static std::uint64_t bytes = 0;
  return bytes;
}

Flag memory_flag() {
  return {
      "--memory", "BYTES",
      "take at most this much memory of the device: 500MB, 16GiB, 4G. Work is done in smaller chunks, or refused with "
      "the number of bytes that it needs; on the CPU points and queries count",
      [](const std::string& value) { memory_given() = parse_bytes("--memory", value); }};
}

std::uint64_t bytes_of(PointView points) { return points.rows() * points.dims() * size_of(points.dtype()); }
std::uint64_t bytes_of(SequenceView sequences) { return sequences.item_count() * 4 + sequences.size() * 8; }

Flag seed_flag(std::uint64_t& seed, const std::string& text) {
  return {"--seed", "S", text, [&seed](const std::string& value) {
            seed = parse_whole("--seed", value, 0, std::numeric_limits<std::uint64_t>::max());
          }};
}

FlagGroup input_flags(io::ReadOptions& options) {
  return {
      "Reading points",
      {format_flag("--format", "input format; by default recognised by content and extension",
                   [&options](io::Format format) { options.format = format; }),
       dtype_flag("convert the coordinates; by default they keep the type of the file (text: f64)",
                  [&options](DType dtype) { options.dtype = dtype; }),
       {"--columns", "A,B,C", "use these columns, by name or position (1 is the first), in this order",
        [&options](const std::string& value) { options.columns = parse_columns("--columns", value); }},
       {"--label", "COLUMN", "this column holds labels, not coordinates", &options.label},
       {"--delimiter", "auto|comma|semicolon|space|tab", "text: field separator; any other single character works too",
        [&options](const std::string& value) { options.delimiter = delimiter_of(value); }},
       {"--decimal", "point|comma|auto", "text: decimal mark of numbers",
        [&options](const std::string& value) {
          require_choice("--decimal", "point|comma|auto", value);
          options.decimal = value == "auto" ? '\0' : value == "comma" ? ',' : '.';
        }},
       {"--header", "yes|no|auto", "text: whether the first row names the columns",
        [&options](const std::string& value) {
          require_choice("--header", "yes|no|auto", value);
          if (value != "auto") options.header = value == "yes";
        }},
       {"--array", "NAME", "npz: which array holds the points", &options.array},
       {"--layout", "LAYOUT", "raw numbers: the layout of the file, e.g. \"f32 x,y,z,i\" or \"fortran be f64 x,y,z\"",
        &options.layout}}};
}

std::string header_text(const io::TextReading& text) {
  if (text.header_line) return fmt::format("line {}", *text.header_line);
  if (text.names_line) return fmt::format("none (the comment in line {} names the columns)", *text.names_line);
  return "none";
}

io::PointFile read_input(const std::string& path, const io::ReadOptions& options, const OutputFlags& output,
                         const ProgressCallback& progress) {
  if (is_index_file(path)) return read_index_points(path, options, output, progress);
  if (is_tree_input(path, options)) return read_tree_points(path, options, output, progress);
  io::ReadOptions with_progress = options;
  with_progress.progress = progress;
  io::PointFile file = io::read_points(path, with_progress);
  for (const std::string& note : file.notes) output.note(note);
  output.explanation(fmt::format("read {}: {}, {} of {}, {}, {}", path == "-" ? "standard input" : path,
                                 io::name_of(file.format), counted(file.points.rows(), "point"),
                                 counted(file.points.dims(), "dimension"), name_of(file.points.dtype()),
                                 readable_bytes(static_cast<double>(file.points.bytes()))));
  if (file.text) {
    output.explanation(
        fmt::format("header: {}; comments: {}", header_text(*file.text), counted(file.text->comment_lines, "line")));
  }
  return file;
}

}  // namespace kith::cli
