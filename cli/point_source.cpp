// Points for knn, radius and box: see prepared_search.hpp.
#include "sources.hpp"

#include "geographic_note.hpp"
#include "readable.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kith::cli {
namespace {

/// Rows with NaN or, unless they are boxes, infinity.
std::uint64_t rows_left_out(PointView points, bool are_boxes) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      if (are_boxes ? std::isnan(points.at(i, d)) : !std::isfinite(points.at(i, d))) {
        ++count;
        break;
      }
    }
  }
  return count;
}

io::PointFile read_queries(const SearchFlags& flags, const std::vector<std::string>& names, DType dtype,
                           io::Table* table, const ProgressCallback& progress) {
  io::ReadOptions options = flags.read;
  if (is_index_file(flags.queries_path)) {  // the flags are for the columns of the points
    options = {};
    options.threads = flags.read.threads;
  }
  options.table = table;
  options.dtype = dtype;            // one search, one type: the points decide
  if (flags.columns_per_dim > 1) {  // other columns than those of the points
    options.columns.clear();
    options.label.clear();
  }
  PointColumns points{flags.points_path, names};
  if (flags.columns_per_dim > 1) points.names.clear();
  flags.output.explanation(fmt::format("queries are read as {}, the type of the points", name_of(dtype)));
  io::PointFile file = read_query_points(flags.queries_path, flags.query, options, points, flags.output, progress);
  options.table = nullptr;
  *flags.queries_read = options;
  return file;
}

/// The queries must fit the points: as many columns, or for boxes twice as many.
void require_same_dims(const SearchFlags& flags, std::uint32_t points, std::uint32_t queries) {
  const std::uint32_t columns = flags.columns_per_dim;
  if (queries == columns * points) return;
  if (columns > 1) {
    throw UsageError(fmt::format("{} has {}, but boxes around points of {} need {}: all lower, then all upper ends",
                                 flags.queries_path, counted(queries, "column"), counted(points, "dimension"),
                                 columns * points));
  }
  throw UsageError(
      fmt::format("{} has {}, but {} has {}; choose the columns to compare with --columns and "
                  "--query-columns",
                  flags.queries_path, counted(queries, "dimension"), flags.points_path, counted(points, "dimension")));
}

/// A table stays empty if all columns are coordinates; which of them are is known by their names or positions.
void complete_columns(io::Table& table, const io::PointFile& file, const std::vector<std::string>& asked) {
  if (table.columns.empty()) table = io::table_of(file.view(), file.columns);
  std::vector<std::uint32_t> coordinates;
  for (const std::string& name : file.columns.empty() ? asked : file.columns) {
    if (const auto found = table.find(name)) coordinates.push_back(*found);
  }
  if (!coordinates.empty()) table.coordinates = coordinates;
}

}  // namespace

void PointSource::require_flags(const SourceInput& input, bool is_index) const {
  if (is_index && !input.flags.table_points.empty()) refuse_for_index(input.flags, "that has its points", "--points");
  if (is_index || !input.flags.map) return;
  throw UsageError(fmt::format("{} is not an index file; leave --map out", input.flags.points_path));
}

/// Of a node table also the points that it was made from, read as verify_tree_file does.
void PointSource::read_tree(const SourceInput& input) {
  const SearchFlags& flags = input.flags;
  const auto refuse = [&](const std::string& flag) {
    throw UsageError(
        fmt::format("{} is a tree; leave {} out, or search the points that it was made from", flags.points_path, flag));
  };
  if (flags.build.split != SplitRule::widest) refuse("--split");
  tree_ = io::read_tree(flags.points_path);
  const bool is_table = std::holds_alternative<apps::NodeTable>(*tree_);
  const apps::TreeFacts facts = std::visit([](const auto& layout) { return layout.facts; }, *tree_);
  if (flags.read.dtype && *flags.read.dtype != facts.dtype) {
    refuse(fmt::format("--dtype {}", name_of(*flags.read.dtype)));
  }
  if (is_table && flags.table_points.empty()) {
    throw UsageError(
        fmt::format("{} is a node table, which holds no coordinates; give --points the file that it was "
                    "made from",
                    flags.points_path));
  }
  if (is_table) {
    io::ReadOptions read = flags.read;
    read.dtype = facts.dtype;
    read.missing_as_nan = true;
    if (flags.wants_columns()) read.table = &input.columns.points;
    points_ = read_input(flags.table_points, read, flags.output, input.progress.callback());
    if (flags.wants_columns()) complete_columns(input.columns.points, points_, flags.read.columns);
  } else {
    if (!flags.table_points.empty()) refuse("--points");
    if (flags.self()) refuse_reading_flags(flags.points_path, flags.read);
  }
  rows_ = facts.rows;
  dims_ = facts.dims;
  dtype_ = facts.dtype;
  squared_ = flags.search.squared;
  period_ = flags.build.period;
  flags.output.explanation(fmt::format("{} is a {}: {}, {} of {}, {}", flags.points_path,
                                       is_table ? "node table" : "tree in order", counted(rows_, "point"),
                                       counted(dims_, "dimension"), name_of(dtype_), name_of(facts.split)));
}

void PointSource::read_points(const SourceInput& input) {
  const SearchFlags& flags = input.flags;
  if (is_tree_input(flags.points_path, flags.read)) return read_tree(input);
  if (!flags.table_points.empty()) {
    throw UsageError(fmt::format("{} is not a node table; leave --points out", flags.points_path));
  }
  io::ReadOptions read = flags.read;
  if (flags.wants_columns()) read.table = &input.columns.points;
  points_ = read_input(flags.points_path, read, flags.output, input.progress.callback());
  if (flags.wants_columns()) complete_columns(input.columns.points, points_, flags.read.columns);
  wrap_input(points_, flags.points_path, flags.axes, flags.output);
  if (flags.columns_per_dim == 1) note_on_degrees(points_.columns, flags.build.metric, flags.output);
  const PointView view = points_.view();
  rows_ = view.rows();
  dims_ = view.dims();
  dtype_ = view.dtype();
  squared_ = flags.search.squared;
  period_ = flags.build.period;
}

void PointSource::require_fitting(const SourceInput& input, const IndexFileInfo& info) {
  const SearchFlags& flags = input.flags;
  require_points_index(flags.points_path, info);
  if (flags.read.dtype && *flags.read.dtype != info.dtype) {
    refuse_for_index(flags, fmt::format("of {} points", name_of(info.dtype)),
                     fmt::format("--dtype {}", name_of(*flags.read.dtype)));
  }
  if (!flags.build.period.empty()) refuse_for_index(flags, "that has its period", "--period");
  if (!flags.build.metric_params.empty()) refuse_for_index(flags, "that has its parameters", "--metric-params");
  if (flags.build.split != SplitRule::widest) refuse_for_index(flags, "that has its splits", "--split");
  if (flags.build.builder != Builder::automatic && name_of(flags.build.builder) != info.builder) {
    refuse_for_index(flags, "that is built already", fmt::format("--builder {}", name_of(flags.build.builder)));
  }
  if (flags.self()) refuse_reading_flags(flags.points_path, flags.read);
  rows_ = info.rows;
  dims_ = info.dims;
  dtype_ = info.dtype;
  squared_ = flags.search.squared;
}

void PointSource::read_queries(const SourceInput& input) {
  const SearchFlags& flags = input.flags;
  io::Table* table = flags.wants_columns() ? &input.columns.queries : nullptr;
  queries_file_ = cli::read_queries(flags, points_.columns, dtype_, table, input.progress.callback());
  queries_ = queries_file_->view();
  const bool own = !flags.query.columns.empty();
  if (table != nullptr) complete_columns(*table, *queries_file_, own ? flags.query.columns : flags.read.columns);
  const std::uint32_t columns = flags.columns_per_dim * dims_;
  if (queries_.rows() == 0) queries_ = PointView(nullptr, dtype_, 0, columns, columns);
  // A file without rows says nothing about its dims; take them from the other one.
  if (rows_ == 0) dims_ = queries_.dims() / flags.columns_per_dim;
  require_same_dims(flags, dims_, queries_.dims());
  skipped_queries_ = flags.search.skip_nonfinite ? rows_left_out(queries_, flags.columns_per_dim > 1) : 0;
}

Index PointSource::build(const SourceInput& input, const BuildOptions& options) const {
  if (tree_) {
    try {
      if (const auto* table = std::get_if<apps::NodeTable>(&*tree_)) {
        return Index::from_tree(*table, points_.view(), options);
      }
      const Index index = Index::from_tree(std::get<apps::InOrderTree>(*tree_), options);
      take_columns(input, index);
      return index;
    } catch (const BadRow&) {
      throw;
    } catch (const BadData& error) {
      throw BadData(fmt::format("{}: {}", input.flags.points_path, error.what()));
    }
  }
  return Index::build(points(), options);
}

void PointSource::take_columns(const SourceInput& input, const Index& index) const {
  if (!input.flags.wants_columns() || !index.holds_points()) return;
  input.columns.points = io::table_of(index.points(input.flags.read.threads).view());
}

void PointSource::add_facts(nlohmann::ordered_json& report, const PointFacts& index) const {
  report["dims"] = index.dims;
  report["dtype"] = name_of(index.dtype);
  report["metric"] = index.metric.name();
  report["squared"] = squared_;
}

void PointSource::add_skipped(nlohmann::ordered_json& report, const PointFacts& index) const {
  if (!period_.empty()) report["period"] = period_;
  report["skipped_points"] = index.skipped;
  report["skipped_queries"] = skipped_queries(index);
}

std::string PointSource::skipped_text(const PointFacts& index) const {
  if (index.skipped == 0 && skipped_queries(index) == 0) return "";
  if (tree_ && skipped_queries_.value_or(0) == 0) {
    return fmt::format("{} of the {} that the tree was made from are not in it", readable_count(index.skipped),
                       counted(index.points, "point"));
  }
  return fmt::format("{} and {} with NaN or infinity were left out", counted(index.skipped, "point"),
                     counted(skipped_queries(index), "query", "queries"));
}

}  // namespace kith::cli
