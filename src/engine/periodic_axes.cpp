// See periodic_axes.hpp.
#include "engine/periodic_axes.hpp"

#include "core/metric/period.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <limits>

namespace kith::engine {

template <typename T>
void require_inside_period(const T* rows, std::uint64_t count, const std::vector<T>& lengths, const CleanRows& clean,
                           int threads) {
  constexpr std::uint64_t kRowsPerBlock = 16384;
  if (lengths.empty()) return;
  const std::uint64_t blocks = (count + kRowsPerBlock - 1) / kRowsPerBlock;
  struct Outside {
    std::uint64_t rows = 0;
    std::uint64_t first_row = 0;
    std::uint32_t first_column = 0;
  };
  std::vector<Outside> outside(blocks);
  const auto dims = static_cast<std::uint32_t>(lengths.size());
  runtime::parallel_for(blocks, {.threads = threads}, [&](std::uint64_t block) {
    Outside& found = outside[block];
    const std::uint64_t end = std::min(count, (block + 1) * kRowsPerBlock);
    for (std::uint64_t i = block * kRowsPerBlock; i < end; ++i) {
      const T* row = rows + i * dims;
      for (std::uint32_t d = 0; d < dims; ++d) {
        if (lengths[d] == std::numeric_limits<T>::infinity() || (row[d] >= 0 && row[d] < lengths[d])) continue;
        if (found.rows++ == 0) {
          found.first_row = i;
          found.first_column = d;
        }
        break;
      }
    }
  });
  std::uint64_t all = 0;
  for (const Outside& found : outside) all += found.rows;
  if (all == 0) return;
  const Outside& first =
      *std::find_if(outside.begin(), outside.end(), [](const Outside& found) { return found.rows > 0; });
  throw core::outside_period(
      clean.all_clean ? first.first_row : clean.rows[first.first_row], first.first_column,
      core::outside_text(rows[first.first_row * dims + first.first_column], lengths[first.first_column]), all);
}

template void require_inside_period(const float*, std::uint64_t, const std::vector<float>&, const CleanRows&, int);
template void require_inside_period(const double*, std::uint64_t, const std::vector<double>&, const CleanRows&, int);

}  // namespace kith::engine
