// kith verify INDEX: whether a file is the index of its points, bits, strings or sets, and of these ones.
#include "commands/verify_parts.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>
#include <kith/io/read_bits.hpp>
#include <kith/sequence_index.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace kith::cli {
namespace {

bool is_finite_row(PointView points, std::uint64_t row) {
  for (std::uint32_t d = 0; d < points.dims(); ++d) {
    if (!std::isfinite(points.at(row, d))) return false;
  }
  return true;
}

/// Says where the two differ first, or nothing. Rows that the index left out must be rows that cannot be searched.
std::string first_different_row(PointView held, PointView given) {
  for (std::uint64_t row = 0; row < given.rows(); ++row) {
    if (!is_finite_row(held, row)) {
      if (is_finite_row(given, row)) return fmt::format("row {} is left out of the index, but it is finite", row);
      continue;
    }
    for (std::uint32_t d = 0; d < given.dims(); ++d) {
      const double x = held.at(row, d), y = given.at(row, d);
      if (x == y && std::signbit(x) == std::signbit(y)) continue;
      return fmt::format("row {}, column {} is {} in the index, but {} in the file", row, d, x, y);
    }
  }
  return {};
}

/// An index that does not hold the points holds what became of them: building it again is the way to compare.
bool is_index_of(const Index& index, PointView points, int threads) {
  BuildOptions options;
  options.engine = index.engine();
  options.metric = index.metric();
  options.metric_params = index.metric_params();
  options.skip_nonfinite = true;
  options.threads = threads;
  const Index built = Index::build(points, options);
  const PointSet held = index.points(threads), expected = built.points(threads);
  return built.skipped() == index.skipped() && first_different_row(held.view(), expected.view()).empty() &&
         first_different_row(expected.view(), held.view()).empty();
}

/// What to call what the index holds, what to report of it, and where the index and a file differ first.
struct PointCheck {
  using Index = kith::Index;
  static constexpr const char* kName = "point";
  static std::string details(const Index& index, const IndexFileInfo&) {
    return fmt::format("{}, {}", counted(index.dims(), "dimension"), name_of(index.dtype()));
  }
  static void add_facts(nlohmann::ordered_json& report, const Index& index, const IndexFileInfo&) {
    report["points"] = index.size();
    report["skipped_points"] = index.skipped();
    report["dims"] = index.dims();
    report["dtype"] = name_of(index.dtype());
  }

  static std::string first_difference(const IndexCheck& check, const Index& index, TerminalProgress& progress) {
    io::ReadOptions read = check.read;
    if (!read.dtype) read.dtype = index.dtype();
    read.missing_as_nan = read.missing_as_nan || index.skipped() > 0;
    const io::PointFile file = read_input(check.points_path, read, check.output, progress.callback());
    const PointView given = file.view();
    if (given.rows() != index.size() || (given.rows() > 0 && given.dims() != index.dims()) ||
        given.dtype() != index.dtype()) {
      return fmt::format("it has {} of {}, {}, but the file has {} of {}, {}", counted(index.size(), "point"),
                         counted(index.dims(), "dimension"), name_of(index.dtype()), counted(given.rows(), "point"),
                         counted(given.dims(), "dimension"), name_of(given.dtype()));
    }
    if (!index.holds_points()) {
      return is_index_of(index, given, check.threads) ? "" : "the rows made of the points differ";
    }
    const PointSet held = index.points(check.threads);
    return first_different_row(held.view(), given);
  }
};

struct ObjectCheck {
  template <typename Index>
  static void add_facts(nlohmann::ordered_json& report, const Index& index, const IndexFileInfo& info) {
    report["content"] = name_of(info.content);
    report["points"] = index.size();
  }
};

struct BitCheck : ObjectCheck {
  using Index = BitIndex;
  static constexpr const char* kName = "row";
  static std::string details(const Index&, const IndexFileInfo& info) { return fmt::format("{} bits", info.dims); }

  static std::string first_difference(const IndexCheck& check, const Index& index, TerminalProgress& progress) {
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

struct SequenceCheck : ObjectCheck {
  using Index = SequenceIndex;
  static constexpr const char* kName = "sequence";
  static std::string details(const Index&, const IndexFileInfo& info) {
    return std::string(name_of(info.sequence_kind));
  }

  static std::string first_difference(const IndexCheck& check, const Index& index, TerminalProgress& progress) {
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

template <typename Check>
int verify(const IndexCheck& check, const IndexFileInfo& info) {
  TerminalProgress progress(check.output.quiet);
  const Stopwatch watch;
  const auto index = Check::Index::load(
      check.index_path, {.device = check.device, .threads = check.threads, .progress = progress.callback()});
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
    Check::add_facts(report, index, info);
    report["metric"] = info.metric_name;
    report["engine"] = name_of(index.engine());
    report["device"] = index.device().name();
    report["compared"] = compares;
    report["check_ms"] = check_ms;
    report["compare_ms"] = compare_ms;
    write_to_stdout(report.dump(2) + "\n");
  } else if (!check.output.quiet) {
    write_to_stdout(fmt::format("right: index of {} of {}, {}, {}{}\n", counted(index.size(), Check::kName),
                                Check::details(index, info), info.metric_name, name_of(index.engine()),
                                compares ? fmt::format(", equal to {}", check.points_path) : ""));
  }
  check.output.summary(fmt::format("check {}{}", readable_duration(check_ms),
                                   compares ? fmt::format(", compare {}", readable_duration(compare_ms)) : ""));
  return 0;
}

}  // namespace

int verify_index(const IndexCheck& check) {
  const IndexFileInfo info = describe_index_file(check.index_path);
  if (info.content == IndexContent::points) {
    refuse_sequence_flags(check.sequences, "points");
    if (check.points_path.empty()) refuse_reading_flags(check.index_path, check.read);
    return verify<PointCheck>(check, info);
  }
  if (check.points_path.empty() && check.sequences.reading_given()) {
    throw UsageError("--from and --text say how to read the file after --points; give one, or leave them out");
  }
  SearchFlags as_search;
  as_search.read = check.read;
  refuse_flags_of_points(as_search, std::string(name_of(info.content)), {});
  return info.content == IndexContent::bits ? verify<BitCheck>(check, info) : verify<SequenceCheck>(check, info);
}

}  // namespace kith::cli
