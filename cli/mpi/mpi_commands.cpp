// See mpi_commands.hpp. Every rank reads its share of the files and searches; rank 0 writes the result.
#include "mpi/mpi_commands.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "mpi/file_shares.hpp"
#include "number_arguments.hpp"
#include "own_files.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"
#include "value_file.hpp"

#include <kith/apps/wrap_points.hpp>
#include <kith/error.hpp>
#include <kith/io/neighbors_file.hpp>
#include <kith/mpi/distributed_index.hpp>
#include <kith/mpi/gather.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace kith::cli {
namespace {

using mpi::DistributedIndex;

struct RankFlags {
  SearchFlags search;
  std::vector<std::string> points;
  std::uint32_t k = 0;
  double radius = 0;
};

/// One number fewer than 32 bits have is left for missing neighbours.
constexpr std::uint64_t kMostNarrow = std::numeric_limits<std::uint32_t>::max() - 1;

std::vector<std::uint32_t> narrow(std::span<const std::uint64_t> numbers) {
  std::vector<std::uint32_t> result(numbers.size());
  std::transform(numbers.begin(), numbers.end(), result.begin(),
                 [](std::uint64_t number) { return static_cast<std::uint32_t>(number); });
  return result;
}

/// As kith knn writes it, unless there are more points than 32 bits can number.
void write(const std::string& path, const WideNeighbors& found, std::uint64_t points,
           const ProgressCallback& progress) {
  if (points > kMostNarrow) return io::write_neighbors(path, found, progress);
  io::write_neighbors(path,
                      Neighbors(found.queries(), found.k(), static_cast<std::uint32_t>(points), narrow(found.indices()),
                                found.distances()),
                      progress);
}

void write(const std::string& path, const WideNeighborLists& found, std::uint64_t points,
           const ProgressCallback& progress) {
  if (points > kMostNarrow) return io::write_neighbors(path, found, progress);
  const std::span<const std::uint64_t> offsets = found.offsets();
  io::write_neighbors(path,
                      NeighborLists(static_cast<std::uint32_t>(points), {offsets.begin(), offsets.end()},
                                    narrow(found.indices()), found.distances()),
                      progress);
}

void write(const std::string& path, const std::vector<std::uint64_t>& counts, std::uint64_t points,
           const ProgressCallback& progress) {
  if (points > kMostNarrow) return io::write_wide_counts(path, counts, progress);
  io::write_counts(path, narrow(counts), progress);
}

std::uint64_t queries_of(const WideNeighbors& found) { return found.queries(); }
std::uint64_t queries_of(const WideNeighborLists& found) { return found.queries(); }
std::uint64_t queries_of(const std::vector<std::uint64_t>& counts) { return counts.size(); }

/// Runs one command on this rank.
class RankRun {
 public:
  explicit RankRun(const RankFlags& flags) : flags_(flags.search), files_(flags.points) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    output_ = flags_.output;
    if (rank_ != 0) output_.quiet = true;  // notes of a rank stay its own
    progress_.emplace(output_.quiet);
  }

  /// Reads, builds, lets `search(index, queries, options)` find something, and writes that. `what` tells of it.
  template <typename Search, typename What>
  int run(const Search& search, const What& what) {
    const std::string path = flags_.result_path();
    mpi::agree(MPI_COMM_WORLD, [&] { check(); });
    const Stopwatch read_watch;
    PointSet points = read(files_, flags_.read);
    double read_ms = read_watch.milliseconds();

    const Stopwatch build_watch;
    BuildOptions build = flags_.build;
    build.progress = progress_->callback();
    const DistributedIndex index = DistributedIndex::build(MPI_COMM_WORLD, points.view(), build);
    points = {};
    const double build_ms = build_watch.milliseconds();
    output_.explanation(index.explain());

    const Stopwatch more_read_watch;
    shards::ShardSearchOptions options;
    options.squared = flags_.search.squared;
    options.exclude_self = flags_.search.exclude_self;
    options.max_neighbors = flags_.search.max_neighbors;
    options.max_distance = flags_.search.max_distance;
    options.earlier_only = flags_.search.earlier_only;
    options.skip_nonfinite = flags_.search.skip_nonfinite;
    options.threads = flags_.search.threads;
    options.progress = progress_->callback();
    PointSet queries;
    if (!flags_.self()) {
      io::ReadOptions as_points = flags_.read;
      as_points.dtype = index.dtype();
      queries = read({flags_.queries_path}, as_points);
    }
    std::vector<std::uint64_t> allowed;
    mpi::agree(MPI_COMM_WORLD, [&] {
      if (flags_.allow_path.empty()) return;
      allowed = read_row_mask("--allow", flags_.allow_path, index.size(), output_, progress_->callback());
    });
    options.allowed = allowed;
    read_ms += more_read_watch.milliseconds();

    const Stopwatch search_watch;
    const auto own = search(index, queries.view(), options);
    const double search_ms = search_watch.milliseconds();
    const Stopwatch write_watch;
    const auto found = mpi::gather(MPI_COMM_WORLD, own);
    mpi::agree(MPI_COMM_WORLD, [&] {
      stop_if_interrupted();
      if (rank_ != 0 || path.empty()) return;
      const ExitOnInterrupt leave(path == "-");
      write(path, found, index.size(), progress_->callback());
    });
    const double write_ms = write_watch.milliseconds();
    progress_->erase();
    if (rank_ != 0) return 0;

    if (flags_.output.json) {
      nlohmann::ordered_json report;
      report["points"] = index.size();
      report["skipped"] = index.skipped();
      report["queries"] = queries_of(found);
      report["dims"] = index.dims();
      report["dtype"] = name_of(index.dtype());
      report["metric"] = index.metric().name();
      report["ranks"] = ranks_;
      report["read_ms"] = read_ms;
      report["build_ms"] = build_ms;
      report["search_ms"] = search_ms;
      report["write_ms"] = write_ms;
      write_to_stdout(report.dump(2) + "\n");
    }
    output_.summary(fmt::format("{} of {} among {} ({})\nread {}, build {}, search {}, write {}", what(found),
                                counted(queries_of(found), "query", "queries"), counted(index.size(), "point"),
                                counted(static_cast<std::uint64_t>(ranks_), "rank"), readable_duration(read_ms),
                                readable_duration(build_ms), readable_duration(search_ms),
                                readable_duration(write_ms)));
    if (index.skipped() > 0) {
      output_.note(fmt::format("{} with NaN or infinity were left out", counted(index.skipped(), "point")));
    }
    if (path != "-" && !path.empty()) output_.summary(fmt::format("result in {}", path));
    return 0;
  }

 private:
  void check() const {
    if (flags_.search.exclude_self && !flags_.self()) {
      throw UsageError("--exclude-self is for searches of the points among themselves; leave --queries out");
    }
    if (flags_.search.earlier_only && !flags_.self()) {
      throw UsageError("--earlier-only is for searches of the points among themselves; leave --queries out");
    }
    std::vector<std::string> inputs = files_;
    inputs.insert(inputs.end(), {flags_.queries_path, flags_.allow_path});
    require_own_files({{"--out", flags_.out}}, inputs);
  }

  /// This rank's rows of the files.
  PointSet read(const std::vector<std::string>& paths, const io::ReadOptions& options) {
    PointSet points;
    mpi::agree(MPI_COMM_WORLD, [&] {
      points = read_shares(shares_of(paths, options, rank_, ranks_), options, output_, progress_->callback());
      if (!flags_.axes.empty() && points.rows() > 0 && flags_.axes.size() == points.dims()) {
        const std::uint64_t outside = apps::wrap_points(points, flags_.axes);
        if (outside > 0) {
          write_to_stderr(fmt::format("kith-mpi: note: rank {}: {} outside of the box of --period wrapped into it\n",
                                      rank_, counted(outside, "row")));
        }
      }
    });
    return points;
  }

  const SearchFlags& flags_;
  const std::vector<std::string>& files_;
  int rank_ = 0;
  int ranks_ = 1;
  OutputFlags output_;
  std::optional<TerminalProgress> progress_;
};

/// What the commands share; `flags` must live as long as the command.
Command rank_command(const std::string& name, RankFlags& flags, std::vector<Flag> what_to_find) {
  SearchFlags& search = flags.search;
  Command command;
  command.name = name;
  command.arguments = {{"POINTS", "FILE",
                        "the points to search, numbered over all files; each rank reads its share of the rows of .npy "
                        "files, other files are read whole by one rank",
                        [&flags](const std::string& path) { flags.points.push_back(path); }, true, true}};
  what_to_find.push_back({"--queries", "FILE", "the points to find neighbours for; by default POINTS themselves",
                          Take(&search.queries_path)});
  what_to_find.push_back(allow_flag(search));
  what_to_find.push_back(earlier_only_flag(search));
  command.groups = {{"What to find", std::move(what_to_find)},
                    {"Searching",
                     {engine_flag(search.build.engine),
                      device_flag(search.build.device),
                      threads_flag([&search](int threads) {
                        search.search.threads = search.build.threads = search.read.threads = threads;
                      }),
                      metric_flag(search.build.metric),
                      metric_params_flag(search.build.metric_params),
                      {"--squared", "", "l2: report squared distances", &search.search.squared},
                      {"--exclude-self", "", "without --queries: do not report a point as its own neighbour",
                       &search.search.exclude_self},
                      skip_nonfinite_flag(search),
                      period_flag(search.axes, search.build.period),
                      leaf_size_flag(search.build),
                      split_flag(search.build)}},
                    input_flags(search.read),
                    result_flags(search)};
  return command;
}

Command knn_command() {
  const auto flags = std::make_shared<RankFlags>();
  Command command = rank_command(
      "knn", *flags,
      {{"-k", "K", "number of neighbours; may be 0 or exceed the number of points",
        [flags](const std::string& value) {
          flags->k = static_cast<std::uint32_t>(parse_whole("-k", value, 0, std::numeric_limits<std::uint32_t>::max()));
        },
        true},
       {"--within", "R", "only neighbours at distance R or less; the rest of a list is filled as missing",
        [flags](const std::string& value) { flags->search.search.max_distance = parse_distance("--within", value); }}});
  command.summary = "find the k nearest neighbours";
  command.synopsis = "POINTS… [--queries QUERIES] -k K [--out n.npz|n.csv] [flags]";
  command.description =
      "Finds the K nearest rows of POINTS for each row of QUERIES by all ranks of an MPI program. The result is that "
      "of "
      "kith knn, byte for byte.";
  command.examples = {
      {"the 8 nearest neighbours of every point of several files, by 4 ranks",
       "mpirun -n 4 kith-mpi knn parts-*.npy -k 8 --exclude-self --out near.npz"},
      {"those of other points", "mpirun -n 4 kith-mpi knn parts-*.npy --queries q.npy -k 8 --out n.npz"}};
  command.run = [flags] {
    return RankRun(*flags).run(
        [&](const DistributedIndex& index, PointView queries, const shards::ShardSearchOptions& options) {
          return flags->search.self() ? index.knn_self(flags->k, options) : index.knn(queries, flags->k, options);
        },
        [&](const WideNeighbors&) { return counted(flags->k, "nearest neighbour") + " of each"; });
  };
  return command;
}

std::vector<Flag> radius_flags(const std::shared_ptr<RankFlags>& flags) {
  return {{"-r,--radius", "R", "the search radius; points at exactly this distance count",
           [flags](const std::string& value) { flags->radius = parse_distance("--radius", value); }, true}};
}

Command radius_command() {
  const auto flags = std::make_shared<RankFlags>();
  std::vector<Flag> what = radius_flags(flags);
  what.push_back(
      whole_flag("--max-neighbors", "M", "keep the nearest M of each list", flags->search.search.max_neighbors, 1));
  Command command = rank_command("radius", *flags, std::move(what));
  command.summary = "find all neighbours within a distance";
  command.synopsis = "POINTS… [--queries QUERIES] -r R [--out n.npz|n.csv] [flags]";
  command.description =
      "Finds all rows of POINTS within distance R of each row of QUERIES by all ranks of an MPI program. The result is "
      "that of kith radius, byte for byte.";
  command.examples = {
      {"all neighbours within half a metre", "mpirun -n 4 kith-mpi radius scan.npy -r 0.5 --out near.npz"}};
  command.run = [flags] {
    return RankRun(*flags).run(
        [&](const DistributedIndex& index, PointView queries, const shards::ShardSearchOptions& options) {
          return flags->search.self() ? index.radius_self(flags->radius, options)
                                      : index.radius(queries, flags->radius, options);
        },
        [&](const WideNeighborLists& found) {
          return fmt::format("{} within {}", counted(found.indices().size(), "neighbour"), flags->radius);
        });
  };
  return command;
}

Command count_command() {
  const auto flags = std::make_shared<RankFlags>();
  Command command = rank_command("count", *flags, radius_flags(flags));
  command.summary = "count all neighbours within a distance";
  command.synopsis = "POINTS… [--queries QUERIES] -r R [--out n.npz|n.csv] [flags]";
  command.description =
      "Counts the rows of POINTS within distance R of each row of QUERIES by all ranks of an MPI program. The result "
      "is "
      "that of kith radius --count, byte for byte.";
  command.examples = {{"how many neighbours lie within half a metre", "mpirun -n 4 kith-mpi count scan.npy -r 0.5"}};
  command.run = [flags] {
    if (flags->search.search.squared) throw UsageError("count reports no distances; leave --squared out");
    return RankRun(*flags).run(
        [&](const DistributedIndex& index, PointView queries, const shards::ShardSearchOptions& options) {
          return flags->search.self() ? index.count_self(flags->radius, options)
                                      : index.count(queries, flags->radius, options);
        },
        [&](const std::vector<std::uint64_t>& counts) {
          const auto all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
          return fmt::format("{} within {}", counted(all, "neighbour"), flags->radius);
        });
  };
  return command;
}

}  // namespace

std::vector<Command> mpi_commands() { return {knn_command(), radius_command(), count_command()}; }

}  // namespace kith::cli
