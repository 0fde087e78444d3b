// kith box: the points inside boxes, or how many there are.
#include "commands/all_commands.hpp"

#include "interrupt.hpp"
#include "named_rows.hpp"
#include "profile_flag.hpp"
#include "sources.hpp"
#include "prepared_search.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"

#include <kith/io/neighbors_file.hpp>

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <variant>
#include <vector>

namespace kith::cli {
namespace {

using Counts = std::vector<std::uint32_t>;
using FoundInBoxes = std::variant<PointLists, Counts>;

struct BoxFlags {
  SearchFlags search;
  bool count = false;
};

/// The lower or upper ends of boxes that lie side by side in one table.
PointView corners(PointView boxes, std::uint32_t dims, std::uint32_t first_column) {
  const auto* data = static_cast<const std::byte*>(boxes.data());
  if (data != nullptr) data += first_column * size_of(boxes.dtype());
  return PointView(data, boxes.dtype(), boxes.rows(), dims, boxes.row_stride());
}

FoundInBoxes search(const BoxFlags& flags, const PreparedSearch<PointSource>& prepared, const SearchOptions& options) {
  const std::uint32_t dims = prepared.queries().dims() / 2;
  const PointView lower = corners(prepared.queries(), dims, 0);
  const PointView upper = corners(prepared.queries(), dims, dims);
  if (flags.count) return prepared.index().box_count(lower, upper, options);
  return prepared.index().box(lower, upper, options);
}

std::uint64_t points_in(const FoundInBoxes& found) {
  if (const auto* lists = std::get_if<PointLists>(&found)) return lists->indices().size();
  const Counts& counts = std::get<Counts>(found);
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void write(const std::string& path, const FoundInBoxes& found, const ProgressCallback& progress) {
  const ExitOnInterrupt leave(path == "-");
  if (const auto* lists = std::get_if<PointLists>(&found)) {
    io::write_point_lists(path, *lists, progress);
  } else {
    io::write_counts(path, std::get<Counts>(found), progress);
  }
}

int run_box(const BoxFlags& box) {
  const SearchFlags& flags = box.search;
  check_search_flags(flags);
  TerminalProgress progress(flags.output.quiet);
  const PreparedSearch<PointSource> prepared(flags, progress, [&](std::uint64_t boxes, DType) {
    flags.output.explanation(
        box.count
            ? fmt::format("the result will take {}", readable_bytes(static_cast<double>(boxes) * 4))
            : "the result will take 4 bytes per point found and 8 bytes per box; --count tells how many there are "
              "without keeping them");
  });

  SearchTimes times = prepared.times();
  SearchOptions options = prepared.options(progress.callback());
  options.times = &times.search;
  const FoundInBoxes found = search(box, prepared, options);
  stop_if_interrupted();

  const Stopwatch write_watch;
  const std::string path = flags.result_path();
  if (!path.empty()) write(path, found, progress.callback());
  if (!path.empty()) times.write_ms = write_watch.milliseconds();
  progress.erase();

  if (flags.output.json) {
    nlohmann::ordered_json report = prepared.report();
    for (const char* key : {"metric", "squared", "exclude_self"}) report.erase(key);  // of distances
    report["found"] = points_in(found);
    times.add_to(report);
    write_to_stdout(report.dump(2) + "\n");
  }
  flags.output.summary(fmt::format("{} in {} among {} ({})\n{}", counted(points_in(found), "point"),
                                   counted(prepared.query_count(), "box", "boxes"),
                                   counted(prepared.index().size(), "point"), prepared.engine_text(), times.text()));
  if (!prepared.skipped_text().empty()) flags.output.note(prepared.skipped_text());
  if (path != "-" && !path.empty()) flags.output.summary(fmt::format("result in {}", path));
  return 0;
}

}  // namespace

Command box_command() {
  const auto flags = std::make_shared<BoxFlags>();
  SearchFlags& search = flags->search;
  search.columns_per_dim = 2;
  Command command;
  command.name = "box";
  command.summary = "find the points inside boxes, or count them";
  command.synopsis = "POINTS BOXES [--count] [--out b.npz|b.csv] [flags]";
  command.description =
      "Finds the rows of POINTS inside each row of BOXES, faces included, in ascending order. A row of BOXES has two "
      "columns per dimension: all lower bounds, then all upper bounds. Bounds may be infinite; a box whose lower bound "
      "exceeds the upper one is empty. Rows are numbered from 0. All columns of BOXES are read, in the type of the "
      "points.";
  command.arguments = {
      {"POINTS", "FILE", "the points to search, an index or a tree; - is standard input", &search.points_path, true},
      {"BOXES", "FILE", "lower and upper bounds of the boxes", &search.queries_path, true}};
  command.groups = {
      {"What to find", {{"--count", "", "only count them: one number per box", &flags->count}, allow_flag(search)}},
      {"Searching",
       {engine_flag(search.build.engine), device_flag(search.build.device), threads_flag([&search](int threads) {
          search.search.threads = search.build.threads = search.read.threads = threads;
        }),
        memory_flag(), skip_nonfinite_flag(search), leaf_size_flag(search.build), split_flag(search.build),
        table_points_flag(search)}},
      input_flags(search.read),
      query_flags(search.query),
      result_flags(search)};
  command.examples = {{"the points of a scan in each of some boxes", "kith box scan.ply boxes.csv --out inside.npz"},
                      {"how many lie in the unit cube", "echo 0,0,0,1,1,1 | kith box scan.npy - --count"},
                      {"everything below 2 along z", "echo -inf,-inf,-inf,inf,inf,2 | kith box scan.npy -"}};
  command.run = [flags] {
    return run_naming_rows({{"points", flags->search.points_path, &flags->search.read}},
                           [flags] { return run_box(*flags); });
  };
  add_profile_flag(command, flags->search.output);
  return command;
}

}  // namespace kith::cli
