// What kith bench --json printed at another time, on another machine or by another version, to compare with.
#pragma once

#include "commands/bench_cases.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

struct EarlierBench {
  std::string version;
  int threads = 0;
  std::vector<Timing> timings;  ///< of the suite and of growing sizes

  /// The same case; null if it was not timed.
  const Timing* find(const BenchCase& setting) const;
};

/// Throws IoError, and CorruptFile if the file is not what kith bench --json prints.
EarlierBench read_earlier_bench(const std::string& path);

}  // namespace kith::cli
