// kith radius: all neighbours within a distance, or how many there are.
#include "commands/all_commands.hpp"

#include "profile_flag.hpp"
#include "sources.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "neighbor_output.hpp"
#include "number_arguments.hpp"
#include "prepared_search.hpp"
#include "readable.hpp"
#include "report/search_report.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "shard_sources.hpp"

#include <kith/error.hpp>
#include <kith/io/neighbors_file.hpp>

#include <fmt/format.h>

#include <limits>
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace kith::cli {
namespace {

using Counts = std::vector<std::uint32_t>;
using FoundWithin = std::variant<NeighborLists, WideNeighborLists, Counts>;

struct RadiusFlags {
  SearchFlags search;
  std::optional<double> radius;
  bool count = false;
};

template <typename Source>
FoundWithin search_within(const RadiusFlags& flags, const PreparedSearch<Source>& prepared, const Radii& radius,
                          const SearchOptions& options) {
  const auto& index = prepared.index();
  const bool self = flags.search.self();
  if (flags.count) return self ? index.count_self(radius, options) : index.count(prepared.queries(), radius, options);
  return self ? index.radius_self(radius, options) : index.radius(prepared.queries(), radius, options);
}

/// "0.5", or "0.1 to 2" if each query has its own.
std::string radius_text(const RadiusFlags& flags, std::span<const double> radii) {
  if (flags.radius) return fmt::format("{}", *flags.radius);
  if (radii.empty()) return "radii of their own";
  const auto [least, most] = std::minmax_element(radii.begin(), radii.end());
  return fmt::format("{} to {}", *least, *most);
}

std::uint64_t neighbors_in(const FoundWithin& found) {
  if (const auto* lists = std::get_if<NeighborLists>(&found)) return lists->indices().size();
  if (const auto* lists = std::get_if<WideNeighborLists>(&found)) return lists->indices().size();
  const Counts& counts = std::get<Counts>(found);
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void write(const std::string& path, const SearchFlags& flags, const FoundWithin& found, const ResultColumns& columns,
           const ProgressCallback& progress) {
  const ExitOnInterrupt leave(path == "-");
  if (const auto* lists = std::get_if<NeighborLists>(&found)) {
    write_result(path, flags, *lists, columns, progress);
  } else if (const auto* wide = std::get_if<WideNeighborLists>(&found)) {
    write_result(path, flags, *wide, columns, progress);
  } else {
    io::write_counts(path, std::get<Counts>(found), progress);
  }
}

void check_flags(const RadiusFlags& flags) {
  check_search_flags(flags.search);
  check_neighbor_output(flags.search);
  if (const Metric metric = flags.search.build.metric; !metric.info().has_distances) {
    throw UsageError(fmt::format("--metric {} has no distances: it is {}; use kith knn, or another metric",
                                 metric.name(), metric.info().summary));
  }
  if (!flags.radius && flags.search.radius_path.empty()) {
    throw UsageError("--radius is required, or --radius-file with a radius for each query");
  }
  if (flags.radius && !flags.search.radius_path.empty()) {
    throw UsageError("--radius and --radius-file both say how far to look; leave one of them out");
  }
  if (!flags.count) return;
  if (flags.search.wants_columns()) {
    throw UsageError("--count reports numbers only; leave it out for --stats, --with and files of points");
  }
  if (flags.search.search.max_neighbors > 0) {
    throw UsageError("--count counts all neighbours; leave --max-neighbors out");
  }
  if (flags.search.search.squared) throw UsageError("--count reports no distances; leave --squared out");
}

void estimate_result(const RadiusFlags& radius, std::uint64_t queries, DType dtype) {
  const std::uint64_t bytes_each = sizeof(std::uint32_t) + size_of(dtype);
  radius.search.output.explanation(
      radius.count ? fmt::format("the result will take {}", readable_bytes(static_cast<double>(queries) * 4))
                   : fmt::format("the result will take {} per neighbour found and 8 bytes per query; --count tells how "
                                 "many there are without keeping them",
                                 readable_bytes(static_cast<double>(bytes_each))));
}

/// Searches among points, rows of bits or sequences, and tells what was found.
template <typename Source>
int find_within(const RadiusFlags& radius, const PreparedSearch<Source>& prepared, TerminalProgress& progress) {
  const SearchFlags& flags = radius.search;
  SearchTimes times = prepared.times();
  SearchOptions options = prepared.options(progress.callback());
  options.times = &times.search;
  if (flags.output.explain)
    flags.output.explanation(prepared.index().explain_radius(prepared.queries_given(), options));
  const Radii radii = radius.radius ? Radii(*radius.radius) : Radii(prepared.radii());
  const FoundWithin found = search_within(radius, prepared, radii, options);
  stop_if_interrupted();

  const Stopwatch write_watch;
  const std::string path = flags.result_path();
  if (!path.empty()) write(path, flags, found, prepared.columns(), progress.callback());
  if (!path.empty()) times.write_ms = write_watch.milliseconds();
  progress.erase();
  const std::string evaluations = times.evaluations_text(prepared.query_count());
  if (!evaluations.empty()) flags.output.explanation(evaluations);

  nlohmann::ordered_json report = prepared.report();
  if (radius.radius) {
    report["radius"] = *radius.radius;
  } else {
    report["radius_file"] = flags.radius_path;
  }
  report["max_neighbors"] = flags.search.max_neighbors;
  report["neighbors"] = neighbors_in(found);
  times.add_to(report);
  if (flags.output.json) write_to_stdout(report.dump(2) + "\n");
  flags.output.summary(fmt::format("{} within {} of {} among {} ({})\n{}", counted(neighbors_in(found), "neighbour"),
                                   radius_text(radius, prepared.radii()),
                                   counted(prepared.query_count(), "query", "queries"),
                                   counted(prepared.index().size(), "point"), prepared.engine_text(), times.text()));
  if (!prepared.skipped_text().empty()) flags.output.note(prepared.skipped_text());
  if (path != "-" && !path.empty()) flags.output.summary(fmt::format("result in {}", path));
  if (!flags.report.empty()) {
    const DoneSearch done{.command = "kith radius",
                          .flags = flags,
                          .facts = report,
                          .times = times,
                          .explanation = prepared.index().explain() + "\n" +
                                         prepared.index().explain_radius(prepared.queries_given(), options),
                          .skipped = prepared.skipped_text()};
    std::visit(
        [&]<typename Found>(const Found& result) {  // of 64-bit numbers no page is asked for
          if constexpr (!std::is_same_v<Found, WideNeighborLists>) write_search_report(flags.report, done, result);
        },
        found);
  }
  return 0;
}

int run_radius(const RadiusFlags& radius) {
  const SearchFlags& flags = radius.search;
  check_flags(radius);
  TerminalProgress progress(flags.output.quiet);
  const auto check = [&](std::uint64_t queries, DType dtype) { estimate_result(radius, queries, dtype); };
  if (shards::is_stored_shards(flags.points_path)) {
    refuse_metric_of_sequences(flags);
    if (has_narrow_numbers(flags.points_path)) {
      return find_within(radius, PreparedSearch<StoredSource<std::uint32_t>>(flags, progress, check), progress);
    }
    return find_within(radius, PreparedSearch<StoredSource<std::uint64_t>>(flags, progress, check), progress);
  }
  const IndexContent content = content_of(flags.points_path, flags.sequences);
  if (!flags.devices.empty()) {
    if (content != IndexContent::points) throw UsageError("--device: only points are shared among several devices");
    return find_within(radius, PreparedSearch<SeveralDevicesSource>(flags, progress, check), progress);
  }
  if (content == IndexContent::bits)
    return find_within(radius, PreparedSearch<BitSource>(flags, progress, check), progress);
  if (content == IndexContent::sequences) {
    return find_within(radius, PreparedSearch<SequenceSource>(flags, progress, check), progress);
  }
  refuse_metric_of_sequences(flags);
  return find_within(radius, PreparedSearch<PointSource>(flags, progress, check), progress);
}

}  // namespace

Command radius_command() {
  const auto flags = std::make_shared<RadiusFlags>();
  Command command;
  command.name = "radius";
  command.summary = "find all neighbours within a distance, or count them";
  command.synopsis =
      "POINTS [QUERIES] -r R|--radius-file FILE [--max-neighbors M] [--count] [--out n.npz|n.csv] [flags]";
  command.description =
      "Finds all rows of POINTS within distance R of each row of QUERIES, ordered by distance; ties go to the lower "
      "row number. With --radius-file each query has its own R. Without QUERIES, every point is a query and finds "
      "itself first, unless --exclude-self. Rows are numbered from 0.";
  command.arguments = search_arguments(flags->search);
  command.groups = {
      {"What to find",
       {{"-r,--radius", "R", "the search radius; points at exactly this distance count",
         [flags](const std::string& value) { flags->radius = parse_distance("--radius", value); }},
        {"--radius-file", "FILE", "a radius for each query, in the order of the queries", &flags->search.radius_path},
        whole_flag("--max-neighbors", "M", "keep the nearest M of each list", flags->search.search.max_neighbors, 1),
        {"--count", "", "only count them: one number per query", &flags->count},
        allow_flag(flags->search),
        earlier_only_flag(flags->search)}},
      search_flags(flags->search),
      input_flags(flags->search.read),
      query_flags(flags->search.query),
      sequence_flags(flags->search.sequences),
      neighbor_output_flags(flags->search)};
  command.examples = {
      {"all neighbours within half a metre", "kith radius scan.ply -r 0.5 --exclude-self --out near.npz"},
      {"the number of neighbours of each point", "kith radius scan.ply -r 0.5 --count --out crowd.csv"},
      {"all codes with at most 12 different bits", "kith radius codes.npy -r 12 --metric hamming --out near.npz"},
      {"all pairs of words within two edits", "kith radius words.txt -r 2 --metric edit --exclude-self"},
      {"a page that shows how many there are",
       "kith radius scan.ply -r 0.5 --exclude-self --out near.npz --report report.html"},
      {"a different radius for each point", "kith radius scan.ply --radius-file sizes.npy --out near.npz"},
      {"at most the 30 nearest within 1", "kith radius scan.npy queries.npy -r 1 --max-neighbors 30 --out near.npz"}};
  command.run = [flags] {
    const SearchFlags& search = flags->search;
    return run_naming_rows(
        {{"points", search.points_path, &search.read}, {"queries", search.queries_path, search.queries_read.get()}},
        [flags] { return run_radius(*flags); });
  };
  add_profile_flag(command, flags->search.output);
  return command;
}

}  // namespace kith::cli
