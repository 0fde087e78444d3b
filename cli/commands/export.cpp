// kith export: writes a balanced k-d tree, one node per point, as arrays for other programs.
#include "commands/all_commands.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "output_flags.hpp"
#include "own_files.hpp"
#include "prepared_search.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/tree_export.hpp>
#include <kith/error.hpp>
#include <kith/io/tree_file.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <memory>
#include <variant>

namespace kith::cli {
namespace {

constexpr const char* kLayouts = "nodes|inorder";
constexpr const char* kTreeSplits = "widest|cycle";
constexpr const char* kMiddles = "right|left";

struct ExportFlags {
  std::string points_path;
  std::string out;
  std::string layout;
  io::ReadOptions read;
  apps::TreeExportOptions options;
  OutputFlags output;
};

using Tree = std::variant<apps::NodeTable, apps::InOrderTree>;

Tree make_tree(const ExportFlags& flags, PointView points) {
  const MemoryLimit held(0, bytes_of(points));
  if (flags.layout == "nodes") return apps::export_node_table(points, flags.options);
  return apps::export_in_order(points, flags.options);
}

std::uint64_t nodes_of(const Tree& tree) {
  const auto* table = std::get_if<apps::NodeTable>(&tree);
  return table != nullptr ? table->point.size() : std::get<apps::InOrderTree>(tree).index.size();
}

int run_export(ExportFlags flags) {
  if (flags.output.json && flags.out == "-") {
    throw UsageError("--json and --out - would both write to standard output; give --out a file");
  }
  require_own_files({{"--out", flags.out}}, {flags.points_path});
  TerminalProgress progress(flags.output.quiet);
  const Stopwatch read_watch;
  const io::PointFile file = read_input(flags.points_path, flags.read, flags.output, progress.callback());
  const double read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch build_watch;
  flags.options.progress = progress.callback();
  flags.output.explanation(fmt::format(
      "layout {}: the middle of a range, ordered by the dimension that its node splits ({}), is the node{}",
      flags.layout, name_of(flags.options.split), flags.options.unique ? "; of equal points the first is taken" : ""));
  flags.output.explanation(fmt::format("device {}", work_device(flags.options.device).name()));
  const Tree tree = make_tree(flags, file.view());
  const double build_ms = build_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch write_watch;
  {
    const ExitOnInterrupt leave(flags.out == "-");
    std::visit([&](const auto& layout) { io::write_tree(flags.out, layout, progress.callback()); }, tree);
  }
  const double write_ms = write_watch.milliseconds();
  progress.erase();

  const std::uint64_t nodes = nodes_of(tree);
  const int levels = std::bit_width(nodes);
  if (flags.output.json) {
    nlohmann::ordered_json report;
    report["layout"] = flags.layout;
    report["points"] = file.points.rows();
    report["nodes"] = nodes;
    report["levels"] = levels;
    report["dims"] = file.points.dims();
    report["dtype"] = name_of(file.points.dtype());
    report["split"] = name_of(flags.options.split);
    report["unique"] = flags.options.unique;
    report["middle"] = name_of(flags.options.middle);
    report["device"] = work_device(flags.options.device).name();
    report["threads"] = threads_in_use(flags.options.threads);
    report["read_ms"] = read_ms;
    report["build_ms"] = build_ms;
    report["write_ms"] = write_ms;
    write_to_stdout(report.dump(2) + "\n");
  }
  flags.output.summary(
      fmt::format("{} of {} on {} (layout {}, split {}{}{})\nread {}, build {}, write {}", counted(nodes, "node"),
                  counted(file.points.rows(), "point"), counted(static_cast<std::uint64_t>(levels), "level"),
                  flags.layout, name_of(flags.options.split), flags.options.unique ? ", unique" : "",
                  flags.options.middle == apps::Middle::left ? ", left middle" : "", readable_duration(read_ms),
                  readable_duration(build_ms), readable_duration(write_ms)));
  if (flags.out != "-") flags.output.summary(fmt::format("tree in {}", flags.out));
  return 0;
}

FlagGroup tree_flags(ExportFlags& flags) {
  return {"The tree",
          {{"--layout", kLayouts, "a table of nodes with children, or the points in the order of the tree",
            [&flags](const std::string& value) {
              require_choice("--layout", kLayouts, value);
              flags.layout = value;
            },
            true},
           choice_flag("--split", kTreeSplits,
                       "dimension that a node splits: the widest of its range, or each in turn, level by level",
                       flags.options.split, parse_split_rule),
           choice_flag("--middle", kMiddles, "which of two points in the middle of a range is its node",
                       flags.options.middle, apps::parse_middle),
           {"--unique", "", "keep only the first of equal points", &flags.options.unique},
           {"--skip-nonfinite", "", "skip rows with NaN, infinity or missing values; other rows keep their numbers",
            [&flags](const std::string&) { flags.options.skip_nonfinite = flags.read.missing_as_nan = true; }},
           work_device_flag(flags.options.device),
           threads_flag([&flags](int threads) { flags.options.threads = flags.read.threads = threads; }),
           memory_flag()}};
}

}  // namespace

Command export_command() {
  const auto flags = std::make_shared<ExportFlags>();
  Command command;
  command.name = "export";
  command.summary = "write a balanced k-d tree as arrays for other programs";
  command.synopsis =
      "POINTS --layout nodes|inorder --out TREE.npz [--unique] [--split widest|cycle] [--middle right|left] [flags]";
  command.description =
      "Writes a tree with one node per point: the median of a range, ordered by the split dimension of its node, "
      "becomes the node; the points before and after it form its subtrees. The tree is unique, so the file is the same "
      "with any number of threads and on any device. kith verify TREE.npz --points POINTS checks it.";
  command.arguments = {{"POINTS", "FILE", "the points; - is standard input", &flags->points_path, true}};
  command.groups = {tree_flags(*flags),
                    {"Result",
                     {{"-o,--out", "FILE", "the .npz file to write; - is standard output",
                       Take(&flags->out, check_archive_path), true},
                      json_flag(flags->output, "print a report as JSON"),
                      quiet_flag(flags->output),
                      explain_flag(flags->output, "print to standard error what was read and what is built")}},
                    input_flags(flags->read)};
  // Here --layout is that of the tree; plain numbers are converted first.
  std::erase_if(command.groups.back().flags, [](const Flag& flag) { return flag.names == "--layout"; });
  command.examples = {{"a table of nodes with children", "kith export scan.ply --layout nodes --unique --out tree.npz"},
                      {"points in the order of the tree, no pointers",
                       "kith export scan.ply --layout inorder --split cycle --out tree.npz"}};
  command.run = [flags] {
    return run_naming_rows({{"points", flags->points_path, &flags->read}}, [flags] { return run_export(*flags); });
  };
  add_profile_flag(command, flags->output);
  return command;
}

}  // namespace kith::cli
