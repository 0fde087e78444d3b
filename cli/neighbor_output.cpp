// See neighbor_output.hpp.
#include "neighbor_output.hpp"

#include "interrupt.hpp"
#include "neighbor_tables.hpp"
#include "report/report_flag.hpp"
#include "table_input.hpp"

#include <kith/error.hpp>
#include <kith/io/matrix_market.hpp>
#include <kith/io/neighbors_file.hpp>

#include <fmt/format.h>
#include <strings.h>

#include <string_view>

namespace kith::cli {
namespace {

/// By its extension, ".gz" looked through.
bool is_called(const std::string& path, std::string_view extension) {
  const auto ends_with = [](std::string_view name, std::string_view end) {
    return name.size() >= end.size() &&
           strncasecmp(name.data() + name.size() - end.size(), end.data(), end.size()) == 0;
  };
  std::string_view name = path;
  if (ends_with(name, ".gz")) name.remove_suffix(3);
  return ends_with(name, extension);
}

bool is_lists_path(const std::string& path) {
  return path == "-" || is_called(path, ".csv") || is_called(path, ".tsv") || is_called(path, ".npz");
}

/// Points with figures are the only thing that these hold.
bool is_cloud_path(const std::string& path) {
  return is_called(path, ".ply") || is_called(path, ".pcd") || is_called(path, ".las");
}

void check_neighbors_path(const std::string& path) {
  check_output_path(path);
  if (is_lists_path(path) || is_cloud_path(path) || is_called(path, ".mtx")) return;
  throw UsageError(
      fmt::format("--out: {}: results are written as .npz, .csv, .tsv or .mtx, or with figures per query as .ply, .pcd "
                  "or .las, each also as .gz; choose one of these extensions",
                  path));
}

template <typename Found>
void write_any(const std::string& path, const SearchFlags& flags, const Found& found, const ResultColumns& columns,
               const ProgressCallback& progress) {
  const ExitOnInterrupt leave(path == "-");
  io::WriteOptions write;
  write.progress = progress;
  if (flags.stats || is_cloud_path(path)) {
    write_table_output(path, stats_table(found, columns.asked()), write, flags.output);
  } else if (!flags.with.empty()) {
    write_table_output(path, joined_table(found, columns, flags), write, flags.output);
  } else if (is_called(path, ".mtx")) {
    io::write_matrix_market(path, found, progress);
  } else {
    io::write_neighbors(path, found, progress);
  }
}

template <typename Found>
void write_wide(const std::string& path, const Found& found, const ProgressCallback& progress) {
  const ExitOnInterrupt leave(path == "-");
  if (!is_lists_path(path)) {
    throw UsageError(fmt::format("--out: {}: points with 64-bit numbers are written as .npz, .csv or .tsv", path));
  }
  io::write_neighbors(path, found, progress);
}

}  // namespace

FlagGroup neighbor_output_flags(SearchFlags& flags) {
  FlagGroup group = result_flags(flags);
  group.flags.front().text =
      "write the result as .npz, .csv, .tsv or .mtx, with --stats also as .ply, .pcd or .las; without it CSV goes to "
      "standard output";
  group.flags.front().take = Take(&flags.out, check_neighbors_path);
  group.flags.insert(
      group.flags.begin() + 1,
      {{"--with", "points|labels|names|all",
        "csv, tsv: add these columns of the query and the neighbour to each row, or columns by name (A,B,C)",
        [&flags](const std::string& value) { flags.with = parse_columns("--with", value); }},
       {"--stats", "",
        "one row per query: its columns, the smallest, mean and largest distance, and the number of neighbours",
        &flags.stats},
       report_flag(flags.report,
                   "write a page for a browser: how far neighbours are, how many, and how long it took")});
  return group;
}

void check_neighbor_output(const SearchFlags& flags) {
  if (flags.stats && !flags.with.empty()) {
    throw UsageError("--stats has the columns of the queries already; leave --with out");
  }
  const std::string path = flags.result_path();
  const bool is_table = flags.stats || !flags.with.empty();
  if (is_table && is_called(path, ".mtx")) {
    throw UsageError(
        fmt::format("{}: a matrix holds distances only; leave --stats and --with out, or write .csv", path));
  }
  const bool is_text = path.empty() || path == "-" || is_called(path, ".csv") || is_called(path, ".tsv");
  if (!flags.with.empty() && !is_text) {
    throw UsageError(fmt::format("{}: --with puts columns beside pairs, as text; write .csv or .tsv", path));
  }
}

void write_result(const std::string& path, const SearchFlags& flags, const Neighbors& found,
                  const ResultColumns& columns, const ProgressCallback& progress) {
  write_any(path, flags, found, columns, progress);
}
void write_result(const std::string& path, const SearchFlags& flags, const NeighborLists& found,
                  const ResultColumns& columns, const ProgressCallback& progress) {
  write_any(path, flags, found, columns, progress);
}
void write_result(const std::string& path, const SearchFlags&, const WideNeighbors& found, const ResultColumns&,
                  const ProgressCallback& progress) {
  write_wide(path, found, progress);
}
void write_result(const std::string& path, const SearchFlags&, const WideNeighborLists& found, const ResultColumns&,
                  const ProgressCallback& progress) {
  write_wide(path, found, progress);
}

}  // namespace kith::cli
