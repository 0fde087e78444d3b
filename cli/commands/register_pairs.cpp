// See register_pairs.hpp.
#include "commands/register_pairs.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "output_flags.hpp"
#include "readable.hpp"
#include "standard_output.hpp"
#include "table_input.hpp"

#include <kith/apps/registration.hpp>
#include <kith/error.hpp>
#include <kith/io/pose_file.hpp>
#include <kith/io/table.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::cli {
namespace {

struct Pair {
  std::string source;
  std::string target;
  std::string initial;  ///< empty: as the flags say
};

/// A pair and what became of it; without a result `problem` says why.
struct DonePair {
  Pair pair;
  std::optional<apps::Registration> result;
  std::string problem;
  int exit_code = 0;
};

std::vector<Pair> read_pairs(const std::string& path) {
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
  std::vector<Pair> pairs;
  for (std::uint64_t row = 0; row < table.rows(); ++row) {
    pairs.push_back({text_at(source, row), text_at(target, row), initial ? text_at(*initial, row) : ""});
  }
  return pairs;
}

/// Keeps the last target ready: lists often name one map many times in a row.
class PairRegistrar {
 public:
  PairRegistrar(const RegistrationFlags& flags, TerminalProgress& progress) : flags_(flags), progress_(progress) {}

  apps::Registration run(const Pair& pair) {
    apps::RegistrationOptions options = flags_.options;
    if (is_named_start(pair.initial)) {
      options.initial_pose.reset();
      options.initial = apps::parse_initial_pose(pair.initial);
    } else if (!pair.initial.empty()) {
      options.initial_pose = io::read_pose(pair.initial);
    }
    PointSet source = read_cloud(pair.source, flags_, progress_);
    if (pair.target != path_) {
      path_.clear();
      narrow_.reset();
      wide_.reset();
      points_ = read_cloud(pair.target, flags_, progress_);
      path_ = pair.target;
    }
    const bool as_read = source.dtype() == points_.dtype();
    std::optional<apps::RegistrationTarget>& target = as_read ? narrow_ : wide_;
    if (!target && as_read) target.emplace(points_.view(), options);
    if (!target) target.emplace(widened(points_.clone()).view(), options);
    if (!as_read) source = widened(std::move(source));
    return target->align(source.view(), options);
  }

 private:
  const RegistrationFlags& flags_;
  TerminalProgress& progress_;
  std::string path_;  ///< of the target
  PointSet points_;
  std::optional<apps::RegistrationTarget> narrow_;  ///< in the type of the file
  std::optional<apps::RegistrationTarget> wide_;    ///< in f64, for sources of another type
};

io::Table table_of_pairs(const std::vector<DonePair>& done) {
  const std::uint64_t rows = done.size();
  io::TextValues sources, targets, converged, reasons;
  io::Column iterations("iterations", io::ColumnType::u32, rows), inliers("inliers", io::ColumnType::u64, rows);
  io::Column fitness("fitness", io::ColumnType::f64, rows), rmse("inlier_rmse", io::ColumnType::f64, rows);
  std::vector<io::Column> matrix;
  for (int i = 0; i < 12; ++i) {
    matrix.emplace_back(fmt::format("m{}{}", i / 4, i % 4), io::ColumnType::f64, rows);
  }
  for (std::uint64_t row = 0; row < rows; ++row) {
    const DonePair& pair = done[row];
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

nlohmann::ordered_json json_of_pairs(const std::vector<DonePair>& done) {
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

int register_pairs(const std::string& list, const std::string& out, const RegistrationFlags& flags,
                   TerminalProgress& progress) {
  if (!out.empty() && out != "-") check_points_path(out);
  const std::vector<Pair> pairs = read_pairs(list);
  PairRegistrar registrar(flags, progress);
  std::vector<DonePair> done;
  int exit_code = 0;
  std::uint64_t converged = 0;
  for (const Pair& pair : pairs) {
    stop_if_interrupted();
    done.push_back({pair, {}, "", 0});
    try {
      run_naming_rows({{"source", pair.source, &flags.read}, {"target", pair.target, &flags.read}}, [&] {
        done.back().result = registrar.run(pair);
        return 0;
      });
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      done.back().problem = error.what();
      if (exit_code == 0) exit_code = error.exit_code();
      progress.erase();
      flags.output.note(fmt::format("{}, row {}: {}", list, done.size(), error.what()));
    }
    if (done.back().result && done.back().result->converged()) ++converged;
    progress.erase();
    if (done.back().result) {
      note_global_start(*done.back().result, fmt::format("{}, row {}: ", list, done.size()), flags.output);
      for (const std::string& text : weak_texts(*done.back().result)) {
        flags.output.note(fmt::format("{}, row {}: {}", list, done.size(), text));
      }
    }
  }
  if (!out.empty()) {
    const ExitOnInterrupt leave(out == "-");
    write_table_output(out, table_of_pairs(done), {}, flags.output);
  }
  if (flags.output.json) {
    write_to_stdout(json_of_pairs(done).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  flags.output.summary(fmt::format("{} of {} converged", readable_count(converged), counted(done.size(), "pair")));
  if (exit_code == 0 && flags.require_convergence && converged < done.size()) return BadData("").exit_code();
  return exit_code;
}

}  // namespace kith::cli
