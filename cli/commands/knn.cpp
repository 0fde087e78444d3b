// kith knn: the k nearest neighbours of every query.
#include "commands/all_commands.hpp"

#include "profile_flag.hpp"
#include "sources.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "neighbor_output.hpp"
#include "number_arguments.hpp"
#include "physical_memory.hpp"
#include "prepared_search.hpp"
#include "readable.hpp"
#include "report/search_report.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "shard_sources.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

namespace kith::cli {
namespace {

struct KnnFlags {
  SearchFlags search;
  std::uint32_t k = 0;
};

void estimate_result(const KnnFlags& flags, std::uint64_t queries, DType dtype) {
  const std::uint64_t bytes_each = sizeof(std::uint32_t) + size_of(dtype);
  flags.search.output.explanation(
      fmt::format("the result will take {}: {} x {}, {} bytes each",
                  readable_bytes(static_cast<double>(queries) * flags.k * static_cast<double>(bytes_each)),
                  counted(queries, "query", "queries"), counted(flags.k, "neighbour"), bytes_each));
  require_memory("the result", queries, flags.k, bytes_each,
                 "ask for a smaller k or search with fewer queries at a time");
}

/// How many answers are certainly exact.
template <typename Number>
std::uint64_t certified(const NeighborsOf<Number>& found) {
  return static_cast<std::uint64_t>(std::count(found.exact().begin(), found.exact().end(), std::uint8_t{1}));
}

double parse_eps(const std::string& text) {
  const double eps = parse_distance("--eps", text);
  if (std::isinf(eps)) throw UsageError("--eps: inf bounds nothing; give a finite number");
  return eps;
}

/// Searches among points, rows of bits or sequences, and tells what was found.
template <typename Source>
int find_nearest(const KnnFlags& knn, const PreparedSearch<Source>& prepared, TerminalProgress& progress) {
  const SearchFlags& flags = knn.search;
  const auto& index = prepared.index();
  SearchTimes times = prepared.times();
  SearchOptions options = prepared.options(progress.callback());
  options.times = &times.search;
  if (flags.output.explain) flags.output.explanation(index.explain_knn(knn.k, prepared.queries_given(), options));
  const auto found = flags.self() ? index.knn_self(knn.k, options) : index.knn(prepared.queries(), knn.k, options);
  stop_if_interrupted();

  const Stopwatch write_watch;
  const std::string path = flags.result_path();
  if (!path.empty()) write_result(path, flags, found, prepared.columns(), progress.callback());
  if (!path.empty()) times.write_ms = write_watch.milliseconds();
  progress.erase();
  const std::string evaluations = times.evaluations_text(prepared.query_count());
  if (!evaluations.empty()) flags.output.explanation(evaluations);

  nlohmann::ordered_json report = prepared.report();
  report["k"] = knn.k;
  if (std::isfinite(options.max_distance)) report["within"] = options.max_distance;
  if (!found.exact().empty()) {
    report["eps"] = flags.search.eps;
    report["max_leaves"] = flags.search.max_leaves;
    report["certified"] = certified(found);
  }
  times.add_to(report);
  if (flags.output.json) write_to_stdout(report.dump(2) + "\n");
  flags.output.summary(fmt::format("{} of each of {} among {} ({})\n{}", counted(knn.k, "nearest neighbour"),
                                   counted(prepared.query_count(), "query", "queries"), counted(index.size(), "point"),
                                   prepared.engine_text(), times.text()));
  if (!found.exact().empty()) {
    flags.output.summary(fmt::format("approximate: {} of {} are certified exact", readable_count(certified(found)),
                                     counted(found.queries(), "answer")));
  }
  if (!prepared.skipped_text().empty()) flags.output.note(prepared.skipped_text());
  if (path != "-" && !path.empty()) flags.output.summary(fmt::format("result in {}", path));
  if constexpr (std::is_same_v<decltype(found), const Neighbors>) {  // of 64-bit numbers no page is asked for
    if (!flags.report.empty()) {
      write_search_report(
          flags.report,
          {.command = "kith knn",
           .flags = flags,
           .facts = report,
           .times = times,
           .explanation = index.explain() + "\n" + index.explain_knn(knn.k, prepared.queries_given(), options),
           .skipped = prepared.skipped_text()},
          found);
    }
  }
  return 0;
}

int run_knn(const KnnFlags& knn) {
  const SearchFlags& flags = knn.search;
  check_search_flags(flags);
  check_neighbor_output(flags);
  TerminalProgress progress(flags.output.quiet);
  const auto check = [&](std::uint64_t queries, DType dtype) { estimate_result(knn, queries, dtype); };
  if (shards::is_stored_shards(flags.points_path)) {
    refuse_metric_of_sequences(flags);
    if (has_narrow_numbers(flags.points_path)) {
      return find_nearest(knn, PreparedSearch<StoredSource<std::uint32_t>>(flags, progress, check), progress);
    }
    return find_nearest(knn, PreparedSearch<StoredSource<std::uint64_t>>(flags, progress, check), progress);
  }
  const IndexContent content = content_of(flags.points_path, flags.sequences);
  if (!flags.devices.empty()) {
    if (content != IndexContent::points) throw UsageError("--device: only points are shared among several devices");
    return find_nearest(knn, PreparedSearch<SeveralDevicesSource>(flags, progress, check), progress);
  }
  if (content == IndexContent::bits)
    return find_nearest(knn, PreparedSearch<BitSource>(flags, progress, check), progress);
  if (content == IndexContent::sequences) {
    return find_nearest(knn, PreparedSearch<SequenceSource>(flags, progress, check), progress);
  }
  refuse_metric_of_sequences(flags);
  return find_nearest(knn, PreparedSearch<PointSource>(flags, progress, check), progress);
}

}  // namespace

Command knn_command() {
  const auto flags = std::make_shared<KnnFlags>();
  Command command;
  command.name = "knn";
  command.summary = "find the k nearest neighbours of every query";
  command.synopsis = "POINTS [QUERIES] -k K [--out n.npz|n.csv] [flags]";
  command.description =
      "Finds the K nearest rows of POINTS for each row of QUERIES, ordered by distance; ties go to the lower row "
      "number. Without QUERIES, every point is a query and finds itself first, unless --exclude-self. Rows are "
      "numbered from 0. If there are fewer than K points, the rest of the list holds the number of points as index and "
      "inf as distance. QUERIES are read with the same flags as POINTS and converted to the same type.";
  command.arguments = search_arguments(flags->search);
  command.groups = {
      {"What to find",
       {{"-k", "K", "number of neighbours; may be 0 or exceed the number of points",
         [flags](const std::string& value) {
           flags->k =
               static_cast<std::uint32_t>(parse_whole("-k", value, 0, std::numeric_limits<std::uint32_t>::max()));
         },
         true},
        {"--within", "R", "only neighbours at distance R or less; the rest of a list is filled as missing",
         [flags](const std::string& value) { flags->search.search.max_distance = parse_distance("--within", value); }},
        {"--eps", "E", "approximate, trees only: each distance may be up to 1 + E times the true one",
         [flags](const std::string& value) { flags->search.search.eps = parse_eps(value); }},
        whole_flag("--max-leaves", "N", "approximate, k-d tree only: visit at most N leaves per query",
                   flags->search.search.max_leaves, 1),
        allow_flag(flags->search),
        earlier_only_flag(flags->search)}},
      search_flags(flags->search),
      input_flags(flags->search.read),
      query_flags(flags->search.query),
      sequence_flags(flags->search.sequences),
      neighbor_output_flags(flags->search)};
  command.examples = {
      {"the 8 nearest neighbours of every point of a scan", "kith knn scan.ply -k 8 --exclude-self --out near.npz"},
      {"the nearest training row of each test row, as CSV", "kith knn train.csv test.csv -k 1 --label class"},
      {"points from another program, Manhattan distance", "cat points.csv | kith knn - -k 3 --metric l1"},
      {"at most 5 within half a metre, periodic along x and y",
       "kith knn atoms.csv -k 5 --within 0.5 --period 10,10,0"},
      {"the 10 nearest codes by Hamming distance", "kith knn codes.npy -k 10 --metric hamming"},
      {"the 5 most similar words for each query", "kith knn words.txt queries.txt -k 5 --metric edit"},
      {"sets of numbers, one per line, by overlap", "kith knn baskets.txt -k 3 --metric jaccard"},
      {"the nearest airport of each city, with all columns of both",
       "kith knn airports.csv cities.csv -k 1 --columns x,y --with all --out nearest.csv"},
      {"neighbour distances of each point, next to its other columns",
       "kith knn scan.ply -k 8 --exclude-self --stats --out stats.ply"},
      {"a page that shows how far neighbours are",
       "kith knn scan.ply -k 8 --exclude-self --out near.npz --report report.html"},
      {"only the timings, as JSON", "kith knn scan.npy -k 8 --json --explain"}};
  // The flags point into *flags: the shared pointer in `run` keeps it alive as long as the command.
  command.run = [flags] {
    const SearchFlags& search = flags->search;
    return run_naming_rows(
        {{"points", search.points_path, &search.read}, {"queries", search.queries_path, search.queries_read.get()}},
        [flags] { return run_knn(*flags); });
  };
  add_profile_flag(command, flags->search.output);
  return command;
}

}  // namespace kith::cli
