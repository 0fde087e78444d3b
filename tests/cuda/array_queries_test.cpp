// Queries and answers on the GPU, the kernels run on the host: the bytes that the host's own preparation gives.
#include "cuda/kd_tree/search/array_queries.cuh"

#include "cuda/emulation/grid.hpp"
#include "engine/prepared_rows.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
void run_prepare(const cuda::PrepareTask<T>& task) {
  cuda::emulation::run_grid(2, cuda::kArrayThreads, 0, cuda::emulation::Residence::one_by_one,
                            [&] { cuda::prepare_rows<T>(task); });
}
template <typename T>
void run_report(const cuda::ReportTask<T>& task) {
  cuda::emulation::run_grid(2, cuda::kArrayThreads, 0, cuda::emulation::Residence::one_by_one,
                            [&] { cuda::report_entries<T>(task); });
}

template <typename T>
class EmulatedArrays : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(EmulatedArrays, Types);

TYPED_TEST(EmulatedArrays, QueriesArePreparedAsOnTheHost) {
  using T = TypeParam;
  constexpr std::uint32_t kGap = 2;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(seed % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const auto dims = static_cast<std::uint32_t>(1 + random() % 6);
    const std::uint64_t rows = random() % 700;
    PointSet wide = nasty_points(shape, dtype_of<T>, rows, dims + kGap, random);
    T* values = wide.template values<T>().data();
    for (std::uint64_t i = 0; i < rows / 8; ++i) {  // some rows that cannot be searched, some without direction
      T* row = values + random() % rows * (dims + kGap);
      const std::uint64_t kind = random() % 3;
      if (kind == 2) std::fill_n(row, dims, T(0));
      row[random() % dims] = kind == 0   ? std::numeric_limits<T>::quiet_NaN()
                             : kind == 1 ? -std::numeric_limits<T>::infinity()
                                         : T(0);
    }
    const Metric metric = seed % 3 == 1 ? Metric::cosine() : Metric::l2();
    std::vector<double> lengths;
    if (seed % 3 == 2) {
      for (std::uint32_t d = 0; d < dims; ++d) {
        lengths.push_back(random() % 3 == 0 ? std::numeric_limits<double>::infinity()
                                            : static_cast<double>(1 + random() % 3) / 4);
      }
    }
    const PointView view(values, dtype_of<T>, rows, dims, dims + kGap);
    const engine::PreparedRows<T> expected = engine::prepare_rows<T>(
        view, {.what = "queries", .metric = metric, .skip_nonfinite = true, .wrap_to = lengths, .threads = 1});

    std::vector<T> prepared(rows * dims, T(-7)), bounds(rows, T(-7));
    const std::vector<T> lengths_of_type(lengths.begin(), lengths.end());
    run_prepare(cuda::PrepareTask<T>{.rows = values,
                                     .row_stride = dims + kGap,
                                     .count = rows,
                                     .dims = dims,
                                     .metric = metric,
                                     .lengths = lengths.empty() ? nullptr : lengths_of_type.data(),
                                     .bound = T(3),
                                     .prepared = prepared.data(),
                                     .bounds = bounds.data()});
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < rows; ++i) {
      const bool is_good = expected.clean.all_clean || (next < expected.count && expected.clean.rows[next] == i);
      ASSERT_EQ(bounds[i], is_good ? T(3) : T(-1)) << "row " << i;
      const std::vector<T> zeros(dims, T(0));
      const T* row = is_good ? expected.rows + static_cast<std::int64_t>(next++) * expected.row_stride : zeros.data();
      ASSERT_EQ(std::memcmp(&prepared[i * dims], row, dims * sizeof(T)), 0) << "row " << i;
    }
    ASSERT_EQ(next, expected.count);
  }
}

TYPED_TEST(EmulatedArrays, DistancesAreReportedAsOnTheHost) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  constexpr std::uint64_t kRows = 300;
  constexpr std::uint32_t kPerRow = 5, kMissing = 4711;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf(), Metric::lp(3), Metric::cosine()}) {
    for (const bool squared : {false, true}) {
      if (squared && metric != Metric::l2()) continue;
      std::vector<T> chains, bounds;
      std::vector<std::uint32_t> indices(kRows * kPerRow, 1);
      for (std::uint64_t i = 0; i < kRows * kPerRow; ++i) {
        chains.push_back(random() % 9 == 0 ? kInfinity
                                           : std::ldexp(T(random() % 1000003), static_cast<int>(random() % 60) - 40));
      }
      for (std::uint64_t i = 0; i < kRows; ++i) bounds.push_back(random() % 5 == 0 ? T(-1) : T(0));
      std::vector<T> distances = chains, listed = chains;
      cuda::ReportTask<T> task{.metric = metric,
                               .squared = squared,
                               .entries = chains.size(),
                               .distances = distances.data(),
                               .indices = indices.data(),
                               .per_row = kPerRow,
                               .bounds = bounds.data(),
                               .missing = kMissing};
      run_report(task);
      for (std::uint64_t i = 0; i < chains.size(); ++i) {
        const bool is_good = bounds[i / kPerRow] == 0;
        const T expected = is_good ? core::reported_distance(metric, squared, chains[i]) : kInfinity;
        ASSERT_EQ(std::memcmp(&distances[i], &expected, sizeof(T)), 0) << metric.name() << ", entry " << i;
        ASSERT_EQ(indices[i], is_good ? 1u : kMissing);
      }
      const std::uint64_t entries = chains.size() - 7;  // of lists: only the device knows how many
      task = {.metric = metric, .squared = squared, .entries_on_device = &entries, .distances = listed.data()};
      run_report(task);
      for (std::uint64_t i = 0; i < chains.size(); ++i) {
        const T expected = i < entries ? core::reported_distance(metric, squared, chains[i]) : chains[i];
        ASSERT_EQ(std::memcmp(&listed[i], &expected, sizeof(T)), 0) << metric.name() << ", entry " << i;
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
