// The part of kith verify that checks exported trees.
#include "commands/verify_parts.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "readable.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/verify_tree.hpp>
#include <kith/error.hpp>
#include <kith/io/tree_file.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <variant>

namespace kith::cli {

int verify_tree_file(const std::string& tree_path, const std::string& points_path, io::ReadOptions read, Device device,
                     const OutputFlags& output) {
  TerminalProgress progress(output.quiet);
  const Stopwatch read_watch;
  const auto tree = io::read_tree(tree_path);
  const bool is_table = std::holds_alternative<apps::NodeTable>(tree);
  const apps::TreeFacts facts = std::visit([](const auto& layout) { return layout.facts; }, tree);
  // The tree may have been made from converted points, or without some of them; it tells how.
  if (!read.dtype) read.dtype = facts.dtype;
  read.missing_as_nan = true;
  const io::PointFile points = read_input(points_path, read, output, progress.callback());
  const double read_ms = read_watch.milliseconds();
  stop_if_interrupted();

  const Stopwatch check_watch;
  const apps::VerifyTreeOptions options{read.threads, device, progress.callback()};
  const MemoryLimit held(0, bytes_of(points.view()));
  const apps::TreeVerdict verdict =
      std::visit([&](const auto& layout) { return apps::verify_tree(layout, points.view(), options); }, tree);
  const double check_ms = check_watch.milliseconds();
  stop_if_interrupted();
  progress.erase();

  if (output.json) {
    nlohmann::ordered_json report;
    report["layout"] = is_table ? "nodes" : "inorder";
    report["nodes"] = verdict.nodes;
    report["first_violation"] = verdict.first_violation;
    report["points"] = points.points.rows();
    report["split"] = name_of(facts.split);
    report["unique"] = facts.unique;
    report["middle"] = name_of(facts.middle);
    report["device"] = device.name();
    report["read_ms"] = read_ms;
    report["check_ms"] = check_ms;
    write_to_stdout(report.dump(2) + "\n");
  }
  if (!verdict.first_violation.empty()) {
    throw BadData(fmt::format("{}: the tree is wrong: {}", tree_path, verdict.first_violation));
  }
  if (!output.json && !output.quiet) {
    write_to_stdout(fmt::format("right: {} of {} on {} checked against {} (split {}{}{})\n",
                                counted(verdict.nodes, "node"), is_table ? "a node table" : "a tree in order",
                                counted(verdict.levels, "level"), counted(points.points.rows(), "point"),
                                name_of(facts.split), facts.unique ? ", unique" : "",
                                facts.middle == apps::Middle::left ? ", left middle" : ""));
    output.summary(fmt::format("read {}, check {}", readable_duration(read_ms), readable_duration(check_ms)));
  }
  return 0;
}

}  // namespace kith::cli
