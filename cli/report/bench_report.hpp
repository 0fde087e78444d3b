// The report of kith bench: times of the suite, speed against the number of points, and what changed since an earlier
// run.
#pragma once

#include "commands/bench_cases.hpp"
#include "commands/bench_earlier.hpp"
#include "output_flags.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

struct DoneBench {
  const BenchRun& run;
  int threads = 0;
  const std::optional<EarlierBench>& earlier;
  std::vector<Timing> suite = {};
  std::vector<Timing> sizes = {};  ///< of growing sets of points
  double copied_bytes_per_second = 0;
};

void write_bench_report(const std::string& path, const DoneBench& done, const OutputFlags& output);

}  // namespace kith::cli
