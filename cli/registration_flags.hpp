// What register and track share: the flags of a registration, the clouds that they read, and the report of a result.
#pragma once

#include "command.hpp"
#include "output_flags.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/registration.hpp>
#include <kith/io/read_points.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <vector>

namespace kith::cli {

struct RegistrationFlags {
  apps::RegistrationOptions options;
  std::string initial_path;  ///< a file with the initial pose; empty: what the options say
  bool require_convergence = false;
  io::ReadOptions read;
  OutputFlags output;
};

/// Throws UsageError for flags that go only with others.
void check_registration_flags(const RegistrationFlags& flags);
/// "identity", "centroid" or "global": a start that is no file.
bool is_named_start(const std::string& initial);
/// --method, --max-distance, --keep and the others that say what counts.
FlagGroup registration_pair_flags(RegistrationFlags& flags);
/// --initial, --dof, --scale, --max-iterations and the others that say how it runs.
FlagGroup registration_run_flags(RegistrationFlags& flags);

/// The points of a file, of 2 or 3 dims. Of a file with more columns that are named x, y and z these are taken, unless
/// the flags choose others. Throws as `read_input`.
PointSet read_cloud(const std::string& path, const RegistrationFlags& flags, TerminalProgress& progress);
/// How `read_cloud` reads this file: the flags, and columns if it has to choose them.
io::ReadOptions cloud_reading(const std::string& path, const RegistrationFlags& flags, TerminalProgress& progress);

/// Points of f32 as f64; others stay.
PointSet widened(PointSet points);

/// What the library would do with these flags, for --explain.
std::string registration_rule(const RegistrationFlags& flags);

/// All of a result but the pairs.
nlohmann::ordered_json registration_json(const apps::Registration& result);
/// "converged after 12 iterations: fitness 0.93, 1 234 pairs, inlier RMSE 0.0123".
std::string registration_summary(const apps::Registration& result);
/// What a global start found, or that it found nothing, in a line.
std::string global_start_text(const apps::GlobalStart& start);
/// What a global start found, for --explain; that it found nothing, for all. `whose` goes before it.
void note_global_start(const apps::Registration& result, const std::string& whose, const OutputFlags& output);
/// "(0, 0.707, 0.707)".
std::string direction_text(const std::array<double, 3>& direction);
/// "the clouds can slide along (0, 0, 1): …" for each weak direction.
std::vector<std::string> weak_texts(const apps::Registration& result);

}  // namespace kith::cli
