// See rows_as_text.hpp. Threads format some runs, which are then written, and so on: memory stays small.
#include "io/text/rows_as_text.hpp"

#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kRunBytes = std::uint64_t{1} << 18;
constexpr std::uint64_t kRunsPerThread = 4;

}  // namespace

void write_rows_as_text(runtime::OutputFile& file, std::uint64_t rows, std::uint64_t row_bytes,
                        const ProgressCallback& progress,
                        const std::function<void(std::uint64_t begin, std::uint64_t end, std::string& to)>& format) {
  const std::uint64_t run_rows = std::max<std::uint64_t>(1, kRunBytes / std::max<std::uint64_t>(1, row_bytes));
  const std::uint64_t runs = rows / run_rows + (rows % run_rows != 0 ? 1 : 0);
  const auto at_once = static_cast<std::uint64_t>(runtime::resolve_threads(0)) * kRunsPerThread;
  std::vector<std::string> texts(static_cast<std::size_t>(std::min(runs, at_once)));
  runtime::ProgressMeter meter(&progress, "writing", rows);
  for (std::uint64_t first = 0; first < runs; first += texts.size()) {
    const std::uint64_t count = std::min<std::uint64_t>(texts.size(), runs - first);
    runtime::parallel_for(count, {}, [&](std::uint64_t i) {
      texts[i].clear();
      const std::uint64_t begin = (first + i) * run_rows;
      format(begin, std::min(rows, begin + run_rows), texts[i]);
    });
    for (std::uint64_t i = 0; i < count; ++i) file.write(texts[i]);
    meter.report(std::min(rows, (first + count) * run_rows));
  }
  meter.finish();
}

}  // namespace kith::io::inline v0
