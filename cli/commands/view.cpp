// kith view: a page that shows point clouds in a browser.
#include "commands/all_commands.hpp"

#include "cloud_flags.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "number_arguments.hpp"
#include "own_files.hpp"
#include "prepared_search.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "shown_clouds.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"

#include <kith/apps/view.hpp>
#include <kith/error.hpp>
#include <kith/io/pose_file.hpp>
#include <kith/io/text_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

namespace kith::cli {
namespace {

constexpr std::uint64_t kMostPoints = 0xfffffffe;

struct ViewFlags {
  std::vector<std::string> paths;
  ShownFlags shown;
  std::string neighbors_path;
  std::vector<std::string> pose_paths;  ///< of the first cloud, the second, …
  apps::ViewOptions options;
  std::string out = "-";
  bool out_given = false;

  std::string result_path() const { return !out_given && shown.output.json ? "" : out; }
};

/// Names of files between commas; one that is there may have commas in its name.
std::vector<std::string> parse_pose_paths(const std::string& value) {
  if (std::filesystem::exists(value)) return {value};
  return split(value, ',');
}

void check_flags(const ViewFlags& flags) {
  if (std::ranges::count(flags.paths, "-") > 1) throw UsageError("only one of the clouds can be standard input");
  if (flags.pose_paths.size() > flags.paths.size()) {
    throw UsageError(fmt::format("--pose names {} for {}; there is one for each at most",
                                 counted(flags.pose_paths.size(), "file"), counted(flags.paths.size(), "cloud")));
  }
  if (!flags.neighbors_path.empty() && flags.shown.neighbors > 0) {
    throw UsageError("--neighbors and -k are two ways to get neighbours; give one of them");
  }
  if (!flags.neighbors_path.empty() && flags.shown.sample > 0) {
    throw UsageError("--neighbors has the neighbours of all points, --sample shows some of them; use -k instead");
  }
  if (flags.shown.output.json && flags.result_path() == "-") {
    throw UsageError("--json and --out - would write to standard output together; give a file");
  }
  std::vector<std::string> inputs = flags.paths;
  inputs.push_back(flags.neighbors_path);
  inputs.insert(inputs.end(), flags.pose_paths.begin(), flags.pose_paths.end());
  require_own_files({{"--out", flags.result_path()}}, inputs);
}

int run_view(const ViewFlags& flags) {
  check_flags(flags);
  const OutputFlags& output = flags.shown.output;
  TerminalProgress progress(output.quiet);
  const Stopwatch read_watch;
  std::vector<ShownCloud> clouds;
  for (const std::string& path : flags.paths) clouds.push_back(read_shown_cloud(path, flags.shown, progress));
  for (std::size_t i = 0; i < flags.pose_paths.size(); ++i) {
    if (!flags.pose_paths[i].empty()) clouds[i].pose = io::read_pose(flags.pose_paths[i]);
  }
  if (!flags.neighbors_path.empty()) clouds.front().neighbors = read_shown_neighbors(flags.neighbors_path);
  const double read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch compute_watch;
  add_computed(clouds, flags.options.color, flags.shown, progress);
  const double compute_ms = compute_watch.milliseconds();

  const Stopwatch page_watch;
  apps::ViewOptions options = flags.options;
  options.threads = flags.shown.threads;
  options.progress = progress.callback();
  const std::string page = apps::view_page(viewed_clouds(clouds), options);
  const double page_ms = page_watch.milliseconds();
  stop_if_interrupted();
  progress.erase();

  const Stopwatch write_watch;
  if (!flags.result_path().empty()) io::write_text(flags.result_path(), page);
  const double write_ms = write_watch.milliseconds();
  std::uint64_t points = 0;
  for (const ShownCloud& cloud : clouds) points += cloud.points.rows();
  if (output.json) {
    nlohmann::ordered_json json;
    json["points"] = points;
    for (const ShownCloud& cloud : clouds) {
      json["clouds"].push_back({{"name", cloud.name}, {"points", cloud.points.rows()}, {"dims", cloud.points.dims()}});
    }
    json["bytes"] = page.size();
    json["threads"] = threads_in_use(flags.shown.threads);
    json["read_ms"] = read_ms;
    json["compute_ms"] = compute_ms;
    json["page_ms"] = page_ms;
    json["write_ms"] = write_ms;
    write_to_stdout(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  output.summary(fmt::format("{} in a page of {}\nread {}, compute {}, page {}, write {}", counted(points, "point"),
                             readable_bytes(page.size()), readable_duration(read_ms), readable_duration(compute_ms),
                             readable_duration(page_ms), readable_duration(write_ms)));
  const std::string path = flags.result_path();
  if (path != "-" && !path.empty()) output.summary(fmt::format("page in {}", path));
  return 0;
}

std::vector<FlagGroup> view_flags(ViewFlags& flags) {
  const FlagGroup shown{
      "What is shown",
      {{"--color", "WHAT",
        "what colours the points: cloud, x, y, z, rgb, normal, label, distance, curvature or the name of a column",
        &flags.options.color},
       {"--neighbors", "FILE", "a result of kith knn for the first cloud: picked points show their neighbours",
        &flags.neighbors_path},
       whole_flag("-k,--nearest", "K", "find the K nearest others of every point of each cloud, and show them",
                  flags.shown.neighbors, 1),
       {"--pose", "A,B,C", "move the first cloud by the pose in file A, the second by B, …; the page has a slider",
        [&flags](const std::string& value) { flags.pose_paths = parse_pose_paths(value); }},
       {"--drop", "A,B,C", "leave these columns out; \"all\" keeps only the coordinates",
        [&flags](const std::string& value) { flags.shown.drop = parse_columns("--drop", value); }},
       {"--sample", "N", "show at most N points of each cloud, drawn at random by --seed",
        [&flags](const std::string& value) { flags.shown.sample = parse_whole("--sample", value, 1, kMostPoints); }},
       seed_flag(flags.shown.seed, "which points --sample draws"),
       {"--exact", "", "round nothing; else more than a million numbers are rounded to 65,535 steps of their range",
        &flags.options.exact},
       {"--title", "TEXT", "the title of the page; by default the names of the files", &flags.options.title},
       device_flag(flags.shown.device),
       threads_flag([&flags](int threads) { flags.shown.set_threads(threads); })}};
  const FlagGroup result{
      "Result",
      {{"-o,--out", "FILE", "the page, .html; by default standard output",
        [&flags](const std::string& path) {
          check_output_path(path);
          flags.out = path;
          flags.out_given = true;
        }},
       json_flag(flags.shown.output, "print a report as JSON; the page is then written only with --out"),
       quiet_flag(flags.shown.output),
       explain_flag(flags.shown.output, "print to standard error what was read and what is computed")}};
  return {shown, result, input_flags(flags.shown.read)};
}

}  // namespace

Command view_command() {
  const auto flags = std::make_shared<ViewFlags>();
  Command command;
  command.name = "view";
  command.summary = "write a page that shows point clouds in a browser";
  command.synopsis = "POINTS... [--color WHAT] [--neighbors FILE | -k K] [--pose FILE] --out FILE [flags]";
  command.description =
      "Writes one HTML file that every browser opens, also without a network: clouds of 1 to 3 dims to turn and to "
      "zoom, "
      "coloured by any column, with a histogram of its values. A picked point shows its row, coordinates, columns and "
      "neighbours. Of files with more columns x, y and z are the coordinates, unless --columns names others. Rows with "
      "NaN or infinity are not shown, and the page says how many.";
  command.arguments = {{"POINTS", "FILE", "the clouds; - is standard input",
                        [flags](const std::string& path) { flags->paths.push_back(path); }, true, true}};
  command.groups = view_flags(*flags);
  command.examples = {
      {"look at a scan", "kith view scan.ply --out scan.html"},
      {"with the 8 nearest of every point", "kith view scan.ply -k 8 --out near.html"},
      {"two scans before and after registration", "kith view source.ply target.ply --pose pose.txt --out pair.html"},
      {"how far one is from the other", "kith view scan.ply model.ply --color distance --out distance.html"}};
  command.run = [flags] {
    std::vector<NamedFile> inputs;
    for (const std::string& path : flags->paths) inputs.push_back({"points", path, &flags->shown.read});
    return run_naming_rows(inputs, [flags] { return run_view(*flags); });
  };
  return command;
}

}  // namespace kith::cli
