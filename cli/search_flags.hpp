// The flags that say how a search runs and where its result goes, as knn and radius share them.
#pragma once

#include "command.hpp"
#include "input_flags.hpp"
#include "output_flags.hpp"
#include "query_file.hpp"
#include "sequence_flags.hpp"

#include <kith/apps/wrap_points.hpp>
#include <kith/index.hpp>
#include <kith/io/read_points.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kith::cli {

/// Everything that knn and radius take from the command line alike.
struct SearchFlags {
  std::string points_path;
  std::string queries_path;  ///< empty: the points ask for their own neighbours
  std::string table_points;  ///< where POINTS is a node table: the points that it was made from
  std::string out;           ///< empty: standard output, unless --json
  io::ReadOptions read;
  QueryFlags query;  ///< where QUERIES are read otherwise
  /// How QUERIES were read, once they are.
  std::shared_ptr<io::ReadOptions> queries_read = std::make_shared<io::ReadOptions>();
  BuildOptions build;
  std::vector<Device> devices;           ///< where --device names several: a shard on each
  std::vector<apps::PeriodicAxis> axes;  ///< those of --period
  bool metric_given = false;
  SequenceFlags sequences;  ///< of strings, sets and bits: the metric, and how they are read
  bool map = false;         ///< POINTS is an index to be searched where it lies
  SearchOptions search;
  std::string allow_path;             ///< a file with 0 or 1 per point; empty: all may be found
  std::string radius_path;            ///< radius only: a file with a radius per query; empty: one for all
  std::uint32_t columns_per_dim = 1;  ///< of QUERIES: 2 if they are boxes
  bool stats = false;                 ///< knn and radius: figures per query instead of the neighbours
  std::vector<std::string> with;      ///< knn and radius: which columns to show beside each pair
  std::string report;                 ///< knn and radius: a page that shows the result; empty: none
  OutputFlags output;

  /// Whether the result shows columns of the files.
  bool wants_columns() const;
  bool self() const { return queries_path.empty(); }
  /// Where the result goes; empty if only the report was asked for.
  std::string result_path() const { return out.empty() && !output.json ? "-" : out; }
};

/// The arguments POINTS and QUERIES.
std::vector<Argument> search_arguments(SearchFlags& flags);
/// --engine, --device, --threads, --metric, --squared, --exclude-self, --skip-nonfinite, --period, --map, and the
/// flags of the tree.
FlagGroup search_flags(SearchFlags& flags);
/// --allow and --earlier-only, which stand with what is to be found.
Flag allow_flag(SearchFlags& flags);
Flag earlier_only_flag(SearchFlags& flags);
/// --leaf-size, --split, --builder and --period.
Flag leaf_size_flag(BuildOptions& build);
Flag split_flag(BuildOptions& build);
Flag builder_flag(Builder& builder);
Flag period_flag(std::vector<apps::PeriodicAxis>& axes, std::vector<double>& lengths);
/// --skip-nonfinite.
Flag skip_nonfinite_flag(SearchFlags& flags);
/// --points.
Flag table_points_flag(SearchFlags& flags);
/// --out, --json, --quiet, --explain.
FlagGroup result_flags(SearchFlags& flags);
/// One flag of search_flags, for commands that check or time a search.
Flag metric_flag(Metric& metric);
Flag metric_params_flag(std::vector<double>& params);
Flag device_flag(Device& device);
/// The same for work that a GPU does only on request.
Flag work_device_flag(Device& device);
/// Where such work runs.
Device work_device(Device given);
Flag engine_flag(Engine& engine);

/// Flags of points that other things know, too.
struct KnownFlags {
  bool eps = false;
  bool map = false;
  bool leaf_size = false;
};

/// Throws UsageError for a flag that is for points and not for `what`, e.g. "rows of bits".
void refuse_flags_of_points(const SearchFlags& flags, const std::string& what, const KnownFlags& known);

/// Throws UsageError if POINTS holds points, but --metric is for bits or sequences, or says how they are read.
void refuse_metric_of_sequences(const SearchFlags& flags);

/// Wraps points that were read into the box of --period, if it was given, and tells in a note how many were outside.
void wrap_input(io::PointFile& file, const std::string& path, const std::vector<apps::PeriodicAxis>& axes,
                const OutputFlags& output);

/// Throws UsageError for flags that contradict each other; before anything is read.
void check_search_flags(const SearchFlags& flags);

}  // namespace kith::cli
