// Which open cells split at a level and which become leaves, decided by pairs of a few objects of each.
#pragma once

#include "cpu/cover_tree/build_state.hpp"
#include "runtime/parallel.hpp"
#include "runtime/time_spent.hpp"

#include <cstdint>
#include <vector>

namespace kith::cpu {

/// Closes the cells that reach beyond `radius` and do not pay to be split. `within`: the largest value of a distance
/// not above the radius.
template <Space S>
void close_where_splits_do_not_pay(const S& space, CoverState<S>& state, double radius, typename S::Value within,
                                   int threads) {
  const runtime::TimeSpent time(&state.work->tests.milliseconds);
  auto& cells = state.cells;
  std::vector<std::vector<std::uint32_t>> samples(cells.size());
  for (const std::uint32_t at : state.by_rank) {
    const std::uint32_t cell = state.cell_at[at];
    if (cells[cell].largest <= radius) continue;
    if (samples[cell].size() < core::cover_sample(cells[cell].count)) samples[cell].push_back(state.numbers[at]);
  }
  runtime::parallel_for(cells.size(), {.threads = threads}, [&](std::uint64_t i) {
    const auto sample = static_cast<std::uint32_t>(samples[i].size());
    if (sample == 0) return;
    const typename S::Rows rows = space.arrange(samples[i], 1);
    typename S::Query query;
    std::vector<typename S::Value> values(sample);
    std::uint64_t close = 0;
    for (std::uint32_t a = 1; a < sample; ++a) {
      runtime::look_for_stop();
      space.ask(query, samples[i][a]);
      rows.measure(query, 0, a, within, values.data());
      for (std::uint32_t b = 0; b < a; ++b) close += values[b] <= within;
    }
    state.work->tests.evaluations += std::uint64_t{sample} * (sample - 1) / 2;
    cells[i].open = core::cover_split_pays(cells[i].count, sample, close);
  });
}

}  // namespace kith::cpu
