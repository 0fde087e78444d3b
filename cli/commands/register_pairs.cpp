// See register_pairs.hpp.
#include "commands/register_pairs.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "output_flags.hpp"
#include "own_files.hpp"
#include "readable.hpp"
#include "report/pairs_report.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "table_input.hpp"

#include <kith/apps/registration.hpp>
#include <kith/error.hpp>
#include <kith/io/pose_file.hpp>
#include <kith/io/table.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::cli {
namespace {

std::vector<CloudFiles> read_pairs(const std::string& path) {
  io::ReadOptions options;
  options.header = true;  // a table of nothing but text would seem to have none
  options.format = io::Format::text;
  const io::Table table = io::read_table(path, options);
  const std::uint32_t source = table.require("source", path), target = table.require("target", path);
  const std::optional<std::uint32_t> initial = table.find("initial");
  const auto text_at = [&](std::uint32_t column, std::uint64_t row) {
    std::string text;
    table.columns[column].print(row, text);
    return text;
  };
  std::vector<CloudFiles> pairs;
  for (std::uint64_t row = 0; row < table.rows(); ++row) {
    pairs.push_back({text_at(source, row), text_at(target, row), initial ? text_at(*initial, row) : ""});
  }
  return pairs;
}

/// Pairs that are held in memory and registered in one call: many, but not all of a long list.
constexpr std::size_t kPairsAtATime = 256;
constexpr std::uint64_t kBytesAtATime = std::uint64_t{256} << 20;

/// The clouds of a chunk, each file read once; targets often come many times in a row, and outlive their chunk then.
class Clouds {
 public:
  struct Cloud {
    PointSet points;
    bool is_finite = true;
    std::unique_ptr<Cloud> wide = {};  ///< in f64, for partners of that type
  };

  Clouds(const RegistrationFlags& flags, TerminalProgress& progress) : flags_(flags), progress_(progress) {}

  Cloud& read(const std::string& path) {
    const auto known = clouds_.find(path);
    if (known != clouds_.end()) return *known->second;
    auto cloud = std::make_shared<Cloud>(Cloud{read_cloud(path, flags_, progress_)});
    cloud->is_finite = is_finite(cloud->points);
    bytes_ += bytes_of(cloud->points.view());
    return *(clouds_[path] = std::move(cloud));
  }
  const Cloud& widened_of(Cloud& cloud) {
    if (cloud.points.dtype() == DType::f64) return cloud;
    if (!cloud.wide) {
      cloud.wide = std::make_unique<Cloud>(Cloud{widened(cloud.points.clone()), cloud.is_finite});
      bytes_ += bytes_of(cloud.wide->points.view());
    }
    return *cloud.wide;
  }
  std::uint64_t bytes() const { return bytes_; }
  void drop_all_but(const std::string& path) {
    std::erase_if(clouds_, [&](const auto& entry) { return entry.first != path; });
    bytes_ = 0;  // of what the next chunk adds
  }

 private:
  static bool is_finite(const PointSet& points) {
    const auto all_finite = [](auto values) {
      return std::all_of(values.begin(), values.end(), [](auto value) { return std::isfinite(value); });
    };
    return points.dtype() == DType::f32 ? all_finite(points.values<float>()) : all_finite(points.values<double>());
  }

  const RegistrationFlags& flags_;
  TerminalProgress& progress_;
  std::map<std::string, std::shared_ptr<Cloud>> clouds_;
  std::uint64_t bytes_ = 0;
};

/// Reads and registers chunks of a list. Pairs that surely fail, and all of a call that fails, are registered one by
/// one, so that errors are those of their rows.
class PairRegistrar {
 public:
  PairRegistrar(const RegistrationFlags& flags, TerminalProgress& progress) : flags_(flags), clouds_(flags, progress) {}

  /// Registers the pairs from `first` on that are held at a time; returns the end of what is done.
  std::size_t run(std::vector<RegisteredClouds>& all, std::size_t first) {
    std::size_t last = first;
    ready_.clear();
    while (last < all.size() && last - first < kPairsAtATime && clouds_.bytes() < kBytesAtATime) {
      stop_if_interrupted();
      RegisteredClouds& done = all[last++];
      noting_problem(done, [&] { read(done); });
    }
    using enum apps::InitialPose;
    for (const Start start : {Start(), Start(identity), Start(centroid), Start(global)}) register_all(start);
    clouds_.drop_all_but(all[last - 1].pair.target);
    return last;
  }

 private:
  using Start = std::optional<apps::InitialPose>;  ///< unset: as the flags say
  struct Ready {
    RegisteredClouds* done;
    apps::CloudPair pair;
    Start start;
  };

  void read(RegisteredClouds& done) {
    const CloudFiles& pair = done.pair;
    Ready ready{&done, {}, {}};
    if (is_named_start(pair.initial)) {
      ready.start = apps::parse_initial_pose(pair.initial);
    } else if (!pair.initial.empty()) {
      ready.pair.initial_pose = io::read_pose(pair.initial);
    }
    Clouds::Cloud& source = clouds_.read(pair.source);
    Clouds::Cloud& target = clouds_.read(pair.target);
    const bool as_read = source.points.dtype() == target.points.dtype();
    ready.pair.source = (as_read ? source : clouds_.widened_of(source)).points.view();
    ready.pair.target = (as_read ? target : clouds_.widened_of(target)).points.view();
    const bool fails = ready.pair.source.dims() != ready.pair.target.dims() ||
                       (!flags_.options.skip_nonfinite && !(source.is_finite && target.is_finite));
    if (fails) return register_alone(ready);
    ready_.push_back(ready);
  }

  apps::DeviceRegistrationOptions options_of(Start start) const {
    apps::DeviceRegistrationOptions options{flags_.options};
    if (!start) return options;
    options.initial_pose.reset();
    options.initial = *start;
    return options;
  }

  void register_alone(const Ready& ready) const {
    apps::RegistrationOptions options = options_of(ready.start);
    if (ready.pair.initial_pose) options.initial_pose = ready.pair.initial_pose;
    ready.done->result = apps::register_clouds(ready.pair.source, ready.pair.target, options);
  }

  void register_all(Start start) {
    std::vector<apps::CloudPair> pairs;
    std::vector<const Ready*> theirs;
    for (const Ready& ready : ready_) {
      if (ready.start != start) continue;
      pairs.push_back(ready.pair);
      theirs.push_back(&ready);
    }
    if (pairs.empty()) return;
    try {
      std::vector<apps::Registration> results = apps::register_pairs(pairs, options_of(start));
      for (std::size_t i = 0; i < results.size(); ++i) theirs[i]->done->result = std::move(results[i]);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      for (const Ready* ready : theirs) noting_problem(*ready->done, [&] { register_alone(*ready); });
    }
  }

  /// Runs `work`; an error is that of the pair.
  template <typename Work>
  void noting_problem(RegisteredClouds& done, const Work& work) const {
    try {
      run_naming_rows({{"source", done.pair.source, &flags_.read}, {"target", done.pair.target, &flags_.read}}, [&] {
        work();
        return 0;
      });
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      done.problem = error.what();
      done.exit_code = error.exit_code();
    }
  }

  const RegistrationFlags& flags_;
  Clouds clouds_;
  std::vector<Ready> ready_;
};

io::Table table_of_pairs(const std::vector<RegisteredClouds>& done) {
  const std::uint64_t rows = done.size();
  io::TextValues sources, targets, converged, reasons;
  io::Column iterations("iterations", io::ColumnType::u32, rows), inliers("inliers", io::ColumnType::u64, rows);
  io::Column fitness("fitness", io::ColumnType::f64, rows), rmse("inlier_rmse", io::ColumnType::f64, rows);
  std::vector<io::Column> matrix;
  for (int i = 0; i < 12; ++i) {
    matrix.emplace_back(fmt::format("m{}{}", i / 4, i % 4), io::ColumnType::f64, rows);
  }
  for (std::uint64_t row = 0; row < rows; ++row) {
    const RegisteredClouds& pair = done[row];
    const apps::Registration result = pair.result.value_or(apps::Registration{});
    sources.push_back(pair.pair.source);
    targets.push_back(pair.pair.target);
    converged.push_back(pair.result && result.converged() ? "yes" : "no");
    reasons.push_back(pair.result ? apps::explain(result.end) : std::string_view(pair.problem));
    iterations.values<std::uint32_t>()[row] = static_cast<std::uint32_t>(result.iterations.size());
    inliers.values<std::uint64_t>()[row] = result.inliers;
    fitness.values<double>()[row] = result.fitness;
    rmse.values<double>()[row] = result.inlier_rmse;
    for (std::size_t i = 0; i < 12; ++i) matrix[i].values<double>()[row] = result.transformation.matrix[i];
  }
  io::Table table;
  table.named = true;
  table.columns = {io::Column("source", std::move(sources)),
                   io::Column("target", std::move(targets)),
                   io::Column("converged", std::move(converged)),
                   iterations,
                   inliers,
                   fitness,
                   rmse};
  for (io::Column& column : matrix) table.columns.push_back(std::move(column));
  table.columns.emplace_back("reason", std::move(reasons));
  for (std::uint32_t i = 3; i < 19; ++i) table.coordinates.push_back(i);
  return table;
}

nlohmann::ordered_json json_of_pairs(const std::vector<RegisteredClouds>& done) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::uint64_t row = 0; row < done.size(); ++row) {
    nlohmann::ordered_json json;
    json["row"] = row + 1;
    json["source"] = done[row].pair.source;
    json["target"] = done[row].pair.target;
    if (done[row].result) {
      json.update(registration_json(*done[row].result));
    } else {
      json["error"] = done[row].problem;
    }
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace

int register_pairs(const std::string& list, const PairOutputs& out, const RegistrationFlags& flags,
                   TerminalProgress& progress) {
  if (!out.table.empty() && out.table != "-") check_points_path(out.table);
  std::vector<RegisteredClouds> done;
  std::vector<std::string> inputs;
  for (CloudFiles& pair : read_pairs(list)) {
    inputs.insert(inputs.end(), {pair.source, pair.target});
    done.push_back({std::move(pair), {}, "", 0});
  }
  require_own_files({{"--report", out.report}}, inputs);
  const Stopwatch watch;
  PairRegistrar registrar(flags, progress);
  int exit_code = 0;
  std::uint64_t converged = 0;
  for (std::size_t row = 0; row < done.size();) {
    const std::size_t end = registrar.run(done, row);
    progress.erase();
    for (; row < end; ++row) {
      const RegisteredClouds& pair = done[row];
      if (exit_code == 0) exit_code = pair.exit_code;
      if (!pair.result) flags.output.note(fmt::format("{}, row {}: {}", list, row + 1, pair.problem));
      if (!pair.result) continue;
      if (pair.result->converged()) ++converged;
      for (const std::string& text : weak_texts(*pair.result)) {
        flags.output.note(fmt::format("{}, row {}: {}", list, row + 1, text));
      }
    }
  }
  const double register_ms = watch.milliseconds();
  if (!out.table.empty()) {
    const ExitOnInterrupt leave(out.table == "-");
    write_table_output(out.table, table_of_pairs(done), {}, flags.output);
  }
  if (flags.output.json) {
    write_to_stdout(json_of_pairs(done).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  flags.output.summary(fmt::format("{} of {} converged", readable_count(converged), counted(done.size(), "pair")));
  if (!out.report.empty()) write_pairs_report(out.report, list, done, register_ms, flags);
  if (exit_code == 0 && flags.require_convergence && converged < done.size()) return BadData("").exit_code();
  return exit_code;
}

}  // namespace kith::cli
