// See search_flags.hpp.
#include "search_flags.hpp"

#include "number_arguments.hpp"
#include "own_files.hpp"
#include "readable.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <utility>

namespace kith::cli {
namespace {

constexpr const char* kEngines = "auto|brute|kdtree|covertree";
constexpr const char* kSplits = "widest|cycle";
constexpr const char* kBuilders = "auto|histogram|presort|select|segsort|batch|lists";
constexpr std::uint32_t kMostPerLeaf = 1024;

/// "10" or "-5:5".
apps::PeriodicAxis axis_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {0, parse_distance("--period", text)};
  const apps::PeriodicAxis axis{parse_number("--period", text.substr(0, colon)),
                                parse_number("--period", text.substr(colon + 1))};
  if (!(axis.lower < axis.upper) || !std::isfinite(axis.length())) {
    throw UsageError(fmt::format("--period: {} is not an axis; write LOWER:UPPER with the lower end first", text));
  }
  return axis;
}

}  // namespace

bool SearchFlags::wants_columns() const {
  const io::Format format = out.empty() || out == "-" ? io::Format::automatic : io::format_of_extension(out);
  return stats || !with.empty() || format == io::Format::ply || format == io::Format::pcd || format == io::Format::las;
}

std::vector<Argument> search_arguments(SearchFlags& flags) {
  return {{"POINTS", "FILE",
           "the points to search, an index or a folder of shards from kith build, or a tree from kith export; - is "
           "standard input",
           &flags.points_path, true},
          {"QUERIES", "FILE", "the points to find neighbours for; by default POINTS themselves", &flags.queries_path}};
}

Flag metric_flag(Metric& metric) {
  return {
      "--metric", metric_choices("|"),
      "how distances are measured (angular: the angle in radians), or ip: by inner product, kNN only; l2 by default",
      [&metric](const std::string& value) {
        if (value == "hamming" || value == "edit" || value == "jaccard") {
          throw UsageError(
              fmt::format("--metric: {} is for bits, strings and sets, which kith build, knn and radius take", value));
        }
        try {
          metric = Metric::parse(value);
        } catch (const UsageError& error) {
          throw UsageError(fmt::format("--metric: {}", error.what()));
        }
      }};
}

Flag metric_params_flag(std::vector<double>& params) {
  return {"--metric-params", "V,…|FILE",
          "numbers of the metric: a weight per dimension (l1, l2, linf, lp), variances (seuclidean), or a file with an "
          "inverse covariance matrix (mahalanobis); the last two are computed from POINTS by default",
          [&params](const std::string& value) {
            params.clear();
            if (std::filesystem::exists(value)) {
              const PointSet rows = io::read_points(value, {.dtype = DType::f64}).points;
              params.assign(rows.values<double>().begin(), rows.values<double>().end());
              return;
            }
            if (value.find_first_not_of("0123456789+-.eE,") != std::string::npos) {
              throw UsageError(fmt::format("--metric-params: {} is neither a file nor numbers with commas", value));
            }
            for (const std::string& text : split(value, ',')) params.push_back(parse_number("--metric-params", text));
          }};
}

namespace {

Device parse_device(const std::string& value) {
  try {
    return Device::parse(value);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--device: {}", error.what()));
  }
}

/// The devices of a list; of one name nothing.
std::vector<Device> several_devices(const std::string& value) {
  std::vector<Device> devices;
  if (value == "cuda:all") {
    for (const DeviceInfo& info : available_devices()) {
      if (info.gpu && info.gpu->has_code) devices.push_back(info.device);
    }
    if (devices.empty()) throw DeviceError("--device cuda:all: there is no usable GPU; kith info --devices says why");
  } else if (value.find(',') != std::string::npos) {
    for (const std::string& name : split(value, ',')) devices.push_back(parse_device(name));
    for (const Device device : devices) {
      if (device.kind() == Device::Kind::automatic) {
        throw UsageError("--device: a list names devices, such as cuda:0,cuda:1; auto is not one");
      }
    }
  }
  return devices;
}

Flag devices_flag(SearchFlags& flags) {
  return {"--device", "auto|cpu|cuda|cuda:N|LIST",
          "where the search runs; auto, the default, takes a GPU for large jobs; a list such as cuda:0,cuda:1, or "
          "cuda:all, shares the points among several",
          [&flags](const std::string& value) {
            flags.devices = several_devices(value);
            if (flags.devices.size() == 1) flags.build.device = flags.devices.front();
            if (flags.devices.size() < 2) flags.devices.clear();
            if (flags.devices.empty() && value != "cuda:all") flags.build.device = parse_device(value);
          }};
}

}  // namespace

Flag device_flag(Device& device) {
  return {"--device", "auto|cpu|cuda|cuda:N", "where the search runs; auto, the default, takes a GPU for large jobs",
          [&device](const std::string& value) { device = parse_device(value); }};
}

Flag work_device_flag(Device& device) {
  Flag flag = device_flag(device);
  flag.value = "cpu|cuda|cuda:N";
  flag.text = "where the work runs: the CPU, which is the default, or a GPU; the result is the same";
  return flag;
}

Device work_device(Device given) { return given.kind() == Device::Kind::cuda ? given : Device::cpu(); }

Flag engine_flag(Engine& engine) {
  return choice_flag("--engine", kEngines, "search engine; auto chooses by number of points, dimensions and queries",
                     engine, parse_engine);
}

Flag allow_flag(SearchFlags& flags) {
  return {"--allow", "FILE",
          "search only points marked 1 in this file, which holds a 0 or 1 for each point, e.g. a .npy of booleans",
          &flags.allow_path};
}

Flag earlier_only_flag(SearchFlags& flags) {
  return {"--earlier-only", "", "without QUERIES: each point searches only points with lower row numbers",
          &flags.search.earlier_only};
}

Flag leaf_size_flag(BuildOptions& build) {
  return whole_flag("--leaf-size", "N",
                    "trees: most points in a leaf, up to 1024; 0, the default, chooses a suitable size",
                    build.leaf_size, 0, kMostPerLeaf);
}

Flag split_flag(BuildOptions& build) {
  return choice_flag("--split", kSplits, "k-d tree: split the widest side, or x, y, z, x, … in turn; widest by default",
                     build.split, parse_split_rule);
}

Flag builder_flag(Builder& builder) {
  return choice_flag(
      "--builder", kBuilders,
      "how the tree is built, for comparison; k-d tree: histogram (the default), presort, select, segsort; cover tree: "
      "batch (the default), lists",
      builder, parse_builder);
}

Flag period_flag(std::vector<apps::PeriodicAxis>& axes, std::vector<double>& lengths) {
  return {"--period", "L|LO:UP,…",
          "periodic axes: length or bounds of each axis, 0 for one that does not wrap; " +
              metric_choices(", ", &MetricInfo::wraps) + " only",
          [&axes, &lengths](const std::string& value) {
            axes.clear();
            lengths.clear();
            for (const std::string& text : split(value, ',')) {
              axes.push_back(axis_of(text));
              lengths.push_back(axes.back().length());
            }
          }};
}

void wrap_input(io::PointFile& file, const std::string& path, const std::vector<apps::PeriodicAxis>& axes,
                const OutputFlags& output) {
  if (axes.size() != file.points.dims()) return;  // the search says how many there must be
  const std::uint64_t outside = apps::wrap_points(file.points, axes);
  if (outside == 0) return;
  output.note(fmt::format("{}: {} outside of the box of --period {} wrapped into it",
                          path == "-" ? "standard input" : path, counted(outside, "row"),
                          outside == 1 ? "was" : "were"));
}

Flag table_points_flag(SearchFlags& flags) {
  return {"--points", "FILE", "POINTS is a node table from kith export: the points that it was made from",
          &flags.table_points};
}

Flag skip_nonfinite_flag(SearchFlags& flags) {
  return {"--skip-nonfinite", "", "skip rows with NaN, infinity or missing values; other rows keep their numbers",
          [&flags](const std::string&) {
            flags.search.skip_nonfinite = flags.build.skip_nonfinite = flags.read.missing_as_nan = true;
          }};
}

FlagGroup search_flags(SearchFlags& flags) {
  return {"Searching",
          {engine_flag(flags.build.engine),
           devices_flag(flags),
           threads_flag(
               [&flags](int threads) { flags.search.threads = flags.build.threads = flags.read.threads = threads; }),
           memory_flag(),
           any_metric_flag(flags.build.metric, flags.sequences, &flags.metric_given),
           metric_params_flag(flags.build.metric_params),
           {"--squared", "", "l2: report squared distances", &flags.search.squared},
           {"--exclude-self", "", "without QUERIES: do not report a point as its own neighbour",
            &flags.search.exclude_self},
           skip_nonfinite_flag(flags),
           period_flag(flags.axes, flags.build.period),
           leaf_size_flag(flags.build),
           split_flag(flags.build),
           builder_flag(flags.build.builder),
           {"--map", "", "POINTS is an index file that you trust: map it into memory without checking it", &flags.map},
           table_points_flag(flags)}};
}

FlagGroup result_flags(SearchFlags& flags) {
  return {"Result",
          {{"-o,--out", "FILE", "write the result as .npz, .csv or .tsv; without it CSV goes to standard output",
            Take(&flags.out, check_result_path)},
           json_flag(flags.output, "print a report as JSON; the result itself is then written only with --out"),
           quiet_flag(flags.output),
           explain_flag(flags.output,
                        "print to standard error what was read, which engine and device were chosen, and why")}};
}

void refuse_flags_of_points(const SearchFlags& flags, const std::string& what, const KnownFlags& known) {
  const std::pair<bool, const char*> given[] = {
      {flags.build.engine == Engine::kd_tree, "--engine kdtree"},
      {flags.search.squared, "--squared"},
      {flags.search.skip_nonfinite, "--skip-nonfinite"},
      {!flags.build.period.empty(), "--period"},
      {!flags.build.metric_params.empty(), "--metric-params"},
      {flags.build.leaf_size != 0 && !known.leaf_size, "--leaf-size"},
      {flags.build.split != SplitRule::widest, "--split"},
      {flags.build.builder != Builder::automatic, "--builder"},
      {flags.map && !known.map, "--map"},
      {!flags.table_points.empty(), "--points"},
      {flags.search.eps != 0 && !known.eps, "--eps"},
      {flags.search.max_leaves != 0, "--max-leaves"},
      {flags.read.format != io::Format::automatic && flags.read.format != io::Format::npy, "--format"},
      {flags.read.dtype.has_value(), "--dtype"},
      {!flags.read.columns.empty(), "--columns"},
      {!flags.read.label.empty(), "--label"},
      {flags.read.delimiter != 0, "--delimiter"},
      {flags.read.decimal != 0, "--decimal"},
      {flags.read.header.has_value(), "--header"},
      {!flags.read.array.empty(), "--array"},
      {flags.query.any_given(), "what says how to read columns of QUERIES"}};
  for (const auto& [is_given, flag] : given) {
    if (is_given) throw UsageError(fmt::format("{} means nothing for {}; leave it out", flag, what));
  }
}

void refuse_metric_of_sequences(const SearchFlags& flags) {
  refuse_sequence_flags(flags.sequences, "points");
  if (!flags.sequences.metric) return;
  throw UsageError(fmt::format("{} is an index of points; leave --metric {} out, or build an index that fits",
                               flags.points_path, name_of(*flags.sequences.metric)));
}

void check_search_flags(const SearchFlags& flags) {
  if (flags.points_path == "-" && flags.queries_path == "-") {
    throw UsageError("POINTS and QUERIES cannot both be standard input; put one of them into a file");
  }
  if (flags.search.exclude_self && !flags.self()) {
    throw UsageError("--exclude-self is for searches of the points among themselves; leave QUERIES out");
  }
  if (flags.search.earlier_only && !flags.self()) {
    throw UsageError("--earlier-only is for searches of the points among themselves; leave QUERIES out");
  }
  if (flags.allow_path == "-" && (flags.points_path == "-" || flags.queries_path == "-")) {
    throw UsageError("--allow and the points or queries cannot both be standard input; put one of them into a file");
  }
  const std::initializer_list<const std::string*> others = {&flags.points_path, &flags.queries_path, &flags.allow_path};
  if (flags.radius_path == "-" && std::any_of(others.begin(), others.end(), [](auto* path) { return *path == "-"; })) {
    throw UsageError("--radius-file and another input cannot both be standard input; put one of them into a file");
  }
  if (flags.output.json && flags.out == "-") {
    throw UsageError("--json and --out - would both write to standard output; give --out a file");
  }
  require_queries_for(flags.query, flags.queries_path);
  require_own_files({{"--out", flags.out}, {"--report", flags.report}},
                    {flags.points_path, flags.queries_path, flags.table_points, flags.allow_path, flags.radius_path});
}

}  // namespace kith::cli
