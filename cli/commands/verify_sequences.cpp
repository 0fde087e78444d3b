// kith verify for results of searches of strings and sets.
#include "commands/verify_parts.hpp"

#include "interrupt.hpp"
#include "readable.hpp"
#include "standard_output.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/verify_sequences.hpp>
#include <kith/error.hpp>
#include <kith/io/neighbors_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>
#include <variant>

namespace kith::cli {

int verify_sequence_result(SequenceResult result, const SequenceFlags& flags, const OutputFlags& output) {
  if (!flags.metric) throw UsageError("say how strings and sets were compared: --metric edit, hamming or jaccard");
  if (content_of(result.points_path, flags) == IndexContent::bits) {
    throw UsageError("results of searches of bits are not checked; strings are read with --from lines");
  }
  if (is_index_file(result.points_path)) {
    throw UsageError(fmt::format("{} is an index; name the file that it was built from", result.points_path));
  }
  TerminalProgress progress(output.quiet);
  const std::variant<Neighbors, NeighborLists> found = io::read_neighbors(result.neighbors_path);
  const auto* lists = std::get_if<NeighborLists>(&found);
  if ((lists != nullptr) != result.radius.has_value()) {
    throw UsageError(
        lists != nullptr
            ? fmt::format("{} is the result of a radius search; give its radius with --radius", result.neighbors_path)
            : fmt::format("{} holds k nearest neighbours, not a radius search; leave --radius out",
                          result.neighbors_path));
  }
  const auto read = [&](const std::string& path) {
    return read_sequence_file(path, *flags.metric, flags, {}, output, progress.callback());
  };
  const io::SequenceFile sequences = read(result.points_path);
  io::SequenceFile queries;
  if (!result.queries_path.empty()) queries = read(result.queries_path);
  const SequenceView asked = result.queries_path.empty() ? sequences.view() : queries.view();
  stop_if_interrupted();

  result.options.progress = progress.callback();
  const apps::Verdict verdict =
      lists != nullptr
          ? apps::verify_neighbors(*lists, *result.radius, sequences.view(), asked, *flags.metric, result.options)
          : apps::verify_neighbors(std::get<Neighbors>(found), sequences.view(), asked, *flags.metric, result.options);
  stop_if_interrupted();
  progress.erase();
  if (output.json) {
    nlohmann::ordered_json report;
    report["checked"] = verdict.checked;
    report["wrong"] = verdict.wrong;
    report["first_violation"] = verdict.first_violation;
    report["sequences"] = sequences.sequences.size();
    report["queries"] = asked.size();
    report["metric"] = name_of(*flags.metric);
    write_to_stdout(report.dump(2) + "\n");
  }
  const std::string checked =
      fmt::format("{} of {} checked against {} ({})", readable_count(verdict.checked), counted(asked.size(), "list"),
                  counted(sequences.sequences.size(), "sequence"), name_of(*flags.metric));
  if (verdict.wrong > 0) {
    throw BadData(fmt::format("{}: {} wrong, {}; first: {}", result.neighbors_path, counted(verdict.wrong, "list"),
                              checked, verdict.first_violation));
  }
  if (!output.json && !output.quiet) write_to_stdout(fmt::format("right: {}\n", checked));
  return 0;
}

}  // namespace kith::cli
