// See verify_objects.hpp.
#include "commands/verify_objects.hpp"

#include "interrupt.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>
#include <kith/io/read_bits.hpp>
#include <kith/sequence_index.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kith::cli {
namespace {

/// What to call the objects, and where the index and a file differ first.
struct BitCheck {
  static constexpr const char* kName = "row";
  static std::string details(const IndexFileInfo& info) { return fmt::format("{} bits", info.dims); }

  static std::string first_difference(const IndexCheck& check, const BitIndex& index, TerminalProgress& progress) {
    refuse_sequence_flags(check.sequences, "bits");
    const io::BitFile file = io::read_bits(check.points_path, progress.callback());
    if (file.rows != index.size() || file.bits != index.bits()) {
      return fmt::format("it has {} of {}, but the file has {} of {}", counted(index.size(), "row"),
                         counted(index.bits(), "bit"), counted(file.rows, "row"), counted(file.bits, "bit"));
    }
    const std::vector<std::uint8_t> held = index.packed_rows(check.threads);
    const auto differs = std::ranges::mismatch(held, file.bytes).in1;
    if (differs == held.end()) return {};
    const std::uint64_t row_bytes = (index.bits() + 7) / 8;
    return fmt::format("row {} is not that of the file",
                       static_cast<std::uint64_t>(differs - held.begin()) / row_bytes);
  }
};

struct SequenceCheck {
  static constexpr const char* kName = "sequence";
  static std::string details(const IndexFileInfo& info) { return std::string(name_of(info.sequence_kind)); }

  static std::string first_difference(const IndexCheck& check, const SequenceIndex& index, TerminalProgress& progress) {
    const io::SequenceFile file = read_sequence_file(check.points_path, index.metric(), check.sequences, index.kind(),
                                                     check.output, progress.callback());
    const SequenceView held = index.sequences(), given = file.view();
    if (held.size() != given.size()) {
      return fmt::format("it has {}, but the file has {}", counted(held.size(), "sequence"),
                         counted(given.size(), "sequence"));
    }
    for (std::uint64_t i = 0; i < held.size(); ++i) {
      if (!std::ranges::equal(held.sequence(i), given.sequence(i))) {
        return fmt::format("sequence {} (counted from 0) is not that of the file", i);
      }
    }
    return {};
  }
};

template <typename Index, typename Check>
int verify(const IndexCheck& check, const IndexFileInfo& info) {
  TerminalProgress progress(check.output.quiet);
  const Stopwatch watch;
  LoadOptions options;
  options.device = check.device;
  options.threads = check.threads;
  options.progress = progress.callback();
  const Index index = Index::load(check.index_path, options);
  const std::string violation = index.first_violation();
  if (!violation.empty()) throw CorruptFile(fmt::format("{}: {}", check.index_path, violation));
  const double check_ms = watch.milliseconds();
  stop_if_interrupted();
  const Stopwatch compare_watch;
  const bool compares = !check.points_path.empty();
  if (compares) {
    const std::string difference = Check::first_difference(check, index, progress);
    if (!difference.empty()) {
      throw BadData(fmt::format("{} is not the index of {}: {}", check.index_path, check.points_path, difference));
    }
  }
  const double compare_ms = compares ? compare_watch.milliseconds() : 0;
  stop_if_interrupted();
  progress.erase();
  check.output.explanation(index.explain());
  if (check.output.json) {
    nlohmann::ordered_json report;
    report["content"] = name_of(info.content);
    report["points"] = index.size();
    report["metric"] = info.metric_name;
    report["engine"] = name_of(index.engine());
    report["device"] = index.device().name();
    report["compared"] = compares;
    report["check_ms"] = check_ms;
    report["compare_ms"] = compare_ms;
    write_to_stdout(report.dump(2) + "\n");
  } else if (!check.output.quiet) {
    write_to_stdout(fmt::format("right: index of {} of {}, {}, {}{}\n", counted(index.size(), Check::kName),
                                Check::details(info), info.metric_name, name_of(index.engine()),
                                compares ? fmt::format(", equal to {}", check.points_path) : ""));
  }
  check.output.summary(fmt::format("check {}{}", readable_duration(check_ms),
                                   compares ? fmt::format(", compare {}", readable_duration(compare_ms)) : ""));
  return 0;
}

}  // namespace

int verify_objects(const IndexCheck& check, const IndexFileInfo& info) {
  if (check.points_path.empty() && check.sequences.reading_given()) {
    throw UsageError("--from and --text say how to read the file after --points; give one, or leave them out");
  }
  SearchFlags as_search;
  as_search.read = check.read;
  refuse_flags_of_points(as_search, std::string(name_of(info.content)), {});
  return info.content == IndexContent::bits ? verify<BitIndex, BitCheck>(check, info)
                                            : verify<SequenceIndex, SequenceCheck>(check, info);
}

}  // namespace kith::cli
