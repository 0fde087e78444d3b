// Percentiles of several sets of values side by side.
#pragma once

#include "report/distribution.hpp"
#include "report/markup.hpp"

#include <span>
#include <string>

namespace kith::cli {

struct NamedSpread {
  std::string name;
  const Distribution& values;
};

/// A row per percentile, a column per set.
Markup spread_table(const std::string& caption, std::span<const NamedSpread> spreads);

}  // namespace kith::cli
