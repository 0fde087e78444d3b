// Which rows kith select takes: by a mask, a range, a box, a condition, every n-th, at random.
#pragma once

#include "command.hpp"
#include "output_flags.hpp"

#include <kith/io/table.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

/// What the flags say. All that are given must hold; every n-th and random rows are taken of those that are left.
struct RowConditions {
  std::string mask_path;
  std::string range;
  std::string box;
  std::string where;
  bool invert = false;
  std::uint64_t every = 1;
  std::optional<std::uint64_t> random;
  std::uint64_t seed = 0;
  int threads = 0;

  bool any_given() const {
    return !mask_path.empty() || !range.empty() || !box.empty() || !where.empty() || every > 1 || random.has_value();
  }
};

FlagGroup condition_flags(RowConditions& conditions);

/// The rows to take, in rising order. Throws UsageError if a flag does not fit the table.
std::vector<std::uint32_t> chosen_rows(const io::Table& table, const RowConditions& conditions, const std::string& file,
                                       const OutputFlags& output, const ProgressCallback& progress);

}  // namespace kith::cli
