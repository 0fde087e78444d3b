// Queries and answers on the GPU, the kernels run on the host: the bytes that the host's own preparation gives.
#include "cuda/queries/array_queries.cuh"

#include "core/metric/metric_params.hpp"
#include "cuda/queries/answer_storage.hpp"
#include "cuda/emulation/grid.hpp"
#include "cuda/kd_tree/search/search_steps.cuh"
#include "cuda/kd_tree/loose_tree.hpp"
#include "engine/bit_words.hpp"
#include "engine/prepared_rows.hpp"
#include "support/bit_oracle.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"

#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
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
void run_empty(const cuda::EmptyTask<T>& task) {
  cuda::emulation::run_grid(2, cuda::kArrayThreads, 0, cuda::emulation::Residence::one_by_one,
                            [&] { cuda::empty_bad_rows<T>(task); });
}

/// Every way to prepare rows.
Metric metric_of(std::uint64_t seed, std::uint32_t dims) {
  const Metric metrics[] = {Metric::cosine(),     Metric::angular(),   Metric::mahalanobis(),
                            Metric::seuclidean(), Metric::haversine(), Metric::haversine(Metric::SphereUnit::metres),
                            Metric::l1()};
  const Metric metric = metrics[seed / 3 % std::size(metrics)];
  return seed % 3 != 1 || (metric.info().dims != 0 && dims != 2) ? Metric::l2() : metric;
}

std::vector<double> params_of(Metric metric, std::uint32_t dims) {
  std::vector<double> params;
  if (metric == Metric::l2() || metric.info().params.empty()) return params;
  const std::uint32_t rows = metric == Metric::mahalanobis() ? dims : 1;
  for (std::uint32_t i = 0; i < rows * dims; ++i) params.push_back(rows == 1 ? i + 0.3 : i % (dims + 1) == 0 ? 2 : 0.1);
  return params;
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
    const Metric metric = metric_of(seed, dims);
    const core::RowPreparation preparation(metric, params_of(metric, dims), dims);
    const core::RowMap map = preparation.map();
    const std::uint32_t searched = map.searched_dims();
    std::vector<double> lengths;
    if (seed % 3 == 2) {
      for (std::uint32_t d = 0; d < dims; ++d) {
        lengths.push_back(random() % 3 == 0 ? std::numeric_limits<double>::infinity()
                                            : static_cast<double>(1 + random() % 3) / 4);
      }
    }
    const PointView view(values, dtype_of<T>, rows, dims, dims + kGap);
    const engine::PreparedRows<T> expected = engine::prepare_rows<T>(
        view, {.what = "queries", .map = map, .skip_nonfinite = true, .wrap_to = lengths, .threads = 1});

    std::vector<T> prepared(rows * searched, T(-7)), bounds(rows, T(-7));
    const std::vector<T> lengths_of_type(lengths.begin(), lengths.end());
    run_prepare(cuda::PrepareTask<T>{.rows = values,
                                     .row_stride = dims + kGap,
                                     .count = rows,
                                     .map = map,
                                     .lengths = lengths.empty() ? nullptr : lengths_of_type.data(),
                                     .bound = T(3),
                                     .prepared = prepared.data(),
                                     .bounds = bounds.data()});
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < rows; ++i) {
      const bool is_good = expected.clean.all_clean || (next < expected.count && expected.clean.rows[next] == i);
      ASSERT_EQ(bounds[i], is_good ? T(3) : T(-1)) << "row " << i;
      const std::vector<T> zeros(searched, T(0));
      const T* row = is_good ? expected.rows + static_cast<std::int64_t>(next++) * expected.row_stride : zeros.data();
      ASSERT_EQ(std::memcmp(&prepared[i * searched], row, searched * sizeof(T)), 0) << "row " << i;
    }
    ASSERT_EQ(next, expected.count);
  }
}

TYPED_TEST(EmulatedArrays, DistancesAreReportedAsOnTheHost) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  constexpr std::uint64_t kEntries = 1500;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (const Metric metric :
       {Metric::l2(), Metric::l1(), Metric::linf(), Metric::lp(3), Metric::cosine(), Metric::angular()}) {
    for (const bool squared : {false, true}) {
      if (squared && metric != Metric::l2()) continue;
      std::vector<T> reduced;
      for (std::uint64_t i = 0; i < kEntries; ++i) {
        const T mantissa = T(random() % 1000003);
        const int exponent = static_cast<int>(random() % 60) - 40;
        reduced.push_back(random() % 9 == 0 ? kInfinity : std::ldexp(mantissa, exponent));
      }
      std::vector<T> distances = reduced, listed = reduced;
      cuda::ReportTask<T> task{
          .metric = metric, .squared = squared, .entries = reduced.size(), .distances = distances.data()};
      run_report(task);
      for (std::uint64_t i = 0; i < reduced.size(); ++i) {
        const T expected = core::reported_distance(metric, squared, reduced[i]);
        ASSERT_EQ(std::memcmp(&distances[i], &expected, sizeof(T)), 0) << metric.name() << ", entry " << i;
        ASSERT_TRUE(expected == reduced[i] || !core::is_reported_as_is(metric, squared));
      }
      const std::uint64_t entries = reduced.size() - 7;  // of lists: only the device knows how many
      task = {.metric = metric, .squared = squared, .entries_on_device = &entries, .distances = listed.data()};
      run_report(task);
      for (std::uint64_t i = 0; i < reduced.size(); ++i) {
        const T expected = i < entries ? core::reported_distance(metric, squared, reduced[i]) : reduced[i];
        ASSERT_EQ(std::memcmp(&listed[i], &expected, sizeof(T)), 0) << metric.name() << ", entry " << i;
      }
    }
  }
}

TYPED_TEST(EmulatedArrays, RowsOfBadQueriesBecomeEmpty) {
  using T = TypeParam;
  constexpr std::uint64_t kRows = 700;
  constexpr std::uint32_t kMissing = 4711;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (std::uint32_t form = 0; form < 4; ++form) {
    std::mt19937_64 random(form);
    const std::uint32_t k = 3 + form;
    AnswerStorage<T> found(kRows * k, form);
    std::vector<T> bounds, reduced;
    std::vector<std::uint32_t> indices;
    std::vector<std::uint8_t> exact(kRows, 0), expected_exact;
    for (std::uint64_t i = 0; i < kRows; ++i) {
      const bool is_good = random() % 5 != 0;
      bounds.push_back(is_good ? T(0) : T(-1));
      expected_exact.push_back(is_good ? 0 : 1);
      for (std::uint32_t j = 0; j < k; ++j) {
        cuda::put_answer(found.answer(), i * k + j, static_cast<std::uint32_t>(i), T(j));
        indices.push_back(is_good ? static_cast<std::uint32_t>(i) : kMissing);
        reduced.push_back(is_good ? T(j) : kInfinity);
      }
    }
    run_empty(cuda::EmptyTask<T>{.bounds = bounds.data(),
                                 .rows = kRows,
                                 .k = k,
                                 .answer = found.answer(),
                                 .missing = kMissing,
                                 .exact = form % 2 == 0 ? exact.data() : nullptr});
    found.expect(indices, reduced);
    if (form % 2 != 0) std::fill(expected_exact.begin(), expected_exact.end(), std::uint8_t{0});
    EXPECT_EQ(exact, expected_exact);
  }
}

TYPED_TEST(EmulatedArrays, RadiiBecomeTheBoundsOfTheHost) {
  using T = TypeParam;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(8);
  std::vector<double> radii = {0,     -0.0,      1,   0.1,  3.14159265358979, 1e-40,        5e-324,
                               1e300, kInfinity, 0.5, -0.1, -kInfinity,       std::nan(""), 1e-46};
  for (int i = 0; i < 600; ++i) {
    const int exponent = static_cast<int>(random() % 80) - 60;
    radii.push_back(std::ldexp(static_cast<double>(random() % 1000003), exponent));
  }
  const std::vector<T> rows(radii.size(), T(1));
  for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::lp(3), Metric::lp(2.3), Metric::cosine(),
                              Metric::angular(), Metric::haversine(Metric::SphereUnit::metres)}) {
    for (const bool has_rows : {false, true}) {
      std::vector<T> prepared(radii.size(), T(-7)), bounds(radii.size(), T(-7));
      run_prepare(cuda::PrepareTask<T>{.rows = has_rows ? rows.data() : nullptr,
                                       .row_stride = 1,
                                       .count = radii.size(),
                                       .map = {.dims = 1},
                                       .radii = radii.data(),
                                       .metric = metric,
                                       .prepared = has_rows ? prepared.data() : nullptr,
                                       .bounds = bounds.data()});
      for (std::uint64_t i = 0; i < radii.size(); ++i) {
        const T expected = radii[i] >= 0 ? core::reduced_bound_of_radius<T>(metric, radii[i]) : T(-1);
        ASSERT_EQ(std::memcmp(&bounds[i], &expected, sizeof(T)), 0) << metric.name() << ", radius " << radii[i];
        ASSERT_EQ(prepared[i], has_rows ? T(1) : T(-7));
      }
    }
  }
}

TEST(EmulatedBits, BecomeTheWordsOfTheHost) {
  for (const std::uint32_t bits : {1u, 7u, 8u, 9u, 31u, 32u, 33u, 63u, 64u, 65u, 100u, 1000u}) {
    std::mt19937_64 random(bits);
    const BitSet rows = random_bits(37, bits, bits % 3, random);
    const engine::BitWords expected(rows.view(), "rows", {.threads = 1});
    const std::uint32_t words = 2 * expected.rows().words_per_row;
    std::vector<double> radii;
    for (int i = 0; i < 37; ++i) radii.push_back(i == 3 ? -1 : i == 4 ? 1e300 : i / 2.0);
    for (const bool has_radii : {false, true}) {
      std::vector<float> prepared(37 * words, 1), bounds(37, -7);
      const cuda::PrepareTask<float> task{.rows = reinterpret_cast<const float*>(rows.view().data()),
                                          .row_stride = static_cast<std::uint64_t>(rows.view().row_bytes()),
                                          .count = 37,
                                          .bound = 5,
                                          .radii = has_radii ? radii.data() : nullptr,
                                          .bits = bits,
                                          .prepared = prepared.data(),
                                          .bounds = bounds.data()};
      cuda::emulation::run_grid(2, cuda::kArrayThreads, 0, cuda::emulation::Residence::one_by_one,
                                [&] { cuda::prepare_bits<float>(task); });
      EXPECT_EQ(std::memcmp(prepared.data(), expected.rows().words, prepared.size() * sizeof(float)), 0) << bits;
      for (int i = 0; i < 37; ++i) {
        const float whole = i == 3 ? -1.0f : i == 4 ? static_cast<float>(1 << 21) : static_cast<float>(i / 2);
        EXPECT_EQ(bounds[static_cast<std::size_t>(i)], has_radii ? whole : 5.0f) << i;
      }
    }
  }
}

TEST(EmulatedFlags, ArePackedAsFiltersHaveThem) {
  for (const std::uint64_t count : {1, 31, 32, 33, 64, 65, 640, 1500}) {
    std::mt19937_64 random(count);
    std::vector<std::uint8_t> flags;
    for (std::uint64_t i = 0; i < count; ++i) flags.push_back(random() % 3 == 0 ? 0 : static_cast<std::uint8_t>(i | 1));
    std::vector<std::uint64_t> expected((count + 63) / 64, 0), words(expected.size(), ~std::uint64_t{0});
    for (std::uint64_t i = 0; i < count; ++i) expected[i / 64] |= std::uint64_t{flags[i] != 0} << i % 64;
    cuda::emulation::run_grid(2, cuda::kArrayThreads, 0, cuda::emulation::Residence::one_by_one, [&] {
      cuda::pack_each(flags.data(), count, reinterpret_cast<std::uint32_t*>(words.data()), 2 * words.size());
    });
    EXPECT_EQ(words, expected) << count;
  }
}

/// All steps of a search by packets, from rows of a caller, some of which cannot be searched, to reported distances.
template <typename T>
class ArraysByPackets {
 public:
  ArraysByPackets(const engine::KdTree<T>& tree, PointView queries, T bound)
      : loose_(tree),
        tree_({loose_.blocks.data(), loose_.split_dims.data(), loose_.split_values.data(), loose_.boxes.data(),
               loose_.smallest.data()},
              loose_.device_shape()),
        rows_(queries.rows() * queries.dims()),
        bounds_(queries.rows()),
        order_(queries.rows()),
        bound_(bound) {
    run_prepare(cuda::PrepareTask<T>{.rows = queries.row<T>(0),
                                     .row_stride = queries.dims(),
                                     .count = queries.rows(),
                                     .map = {.dims = queries.dims()},
                                     .bound = bound,
                                     .prepared = rows_.data(),
                                     .bounds = bounds_.data()});
    packed_.resize(cuda::packed_bytes(tree_) / sizeof(cuda::PackedWords));
    tree_ = cuda::launch_pack_steps(tree_, reinterpret_cast<std::byte*>(packed_.data()), kLaunch);
    source_ = {.rows = rows_.data(), .row_stride = queries.dims(), .count = queries.rows(), .chosen = order_.data()};
    const cuda::OrderLayout layout(tree_.geometry.leaves(), source_.count);
    std::vector<std::uint32_t> scratch(layout.words, 0);
    cuda::launch_order_steps(tree_, source_.rows, source_.row_stride, source_.count, scratch.data(), order_.data(),
                             kLaunch);
  }

  Neighbors knn(std::uint32_t k) const {
    std::vector<std::uint32_t> indices(source_.count * k), scratch(cuda::PacketScratch::words(source_.count), 0);
    std::vector<T> distances(indices.size());
    const cuda::KnnAnswer<T> answer{indices.data(), distances.data(), true, true};
    const auto points = static_cast<std::uint32_t>(tree_.geometry.points);
    cuda::launch_packet_steps(
        cuda::KnnTask<T>{{.metric = {}, .filter = {}, .queries = source_, .k = k, .bound = bound_, .answer = answer},
                         tree_},
        scratch.data(), {.processors = 1}, kLaunch,
        [](const cuda::PacketTask<T>& general) { cuda::launch_general_packets(general, kLaunch); });
    run_empty(cuda::EmptyTask<T>{
        .bounds = bounds_.data(), .rows = source_.count, .k = k, .answer = answer, .missing = points});
    return Neighbors(source_.count, k, points, std::move(indices), Distances(std::move(distances)));
  }

  /// Kernels take roots themselves, or another one takes them of all entries.
  NeighborLists radius(bool takes_roots, bool is_wide) const {
    std::vector<std::uint32_t> counts(source_.count), scratch(source_.count + 1, 0);
    cuda::RadiusTask<T> task{{.metric = {},
                              .filter = {},
                              .queries = source_,
                              .bound = bound_,
                              .bounds = bounds_.data(),
                              .counts = counts.data()},
                             tree_};
    cuda::launch_packet_count_steps(task, kLaunch);
    std::vector<std::uint64_t> offsets{0};
    for (const std::uint32_t count : counts) offsets.push_back(offsets.back() + count);
    std::vector<std::uint32_t> indices(offsets.back());
    std::vector<std::int64_t> wide(offsets.back());
    std::vector<T> distances(offsets.back());
    task.starts = offsets.data();
    task.indices = is_wide ? nullptr : indices.data();
    task.wide = is_wide ? wide.data() : nullptr;
    task.takes_roots = takes_roots;
    task.reduced = distances.data();
    cuda::launch_packet_list_steps(task, scratch.data(), {.processors = 1}, kLaunch);
    if (!takes_roots) {
      run_report(cuda::ReportTask<T>{.entries_on_device = &offsets.back(), .distances = distances.data()});
    }
    for (std::uint64_t i = 0; is_wide && i < wide.size(); ++i) indices[i] = static_cast<std::uint32_t>(wide[i]);
    return NeighborLists(static_cast<std::uint32_t>(tree_.geometry.points), offsets, std::move(indices),
                         Distances(std::move(distances)));
  }

 private:
  /// Few blocks, however many a GPU would get; scans need theirs.
  static constexpr auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                                     auto... arguments) {
    const std::uint32_t few = threads == cuda::kSumThreads ? blocks : std::min(blocks, 2u);
    cuda::emulation::run_grid(few, threads, shared_bytes, cuda::emulation::Residence::one_by_one,
                              [&] { kernel(arguments...); });
  };

  LooseTree<T> loose_;
  cuda::SearchTree<T> tree_;
  std::vector<cuda::PackedWords> packed_;
  std::vector<T> rows_, bounds_;
  std::vector<std::uint32_t> order_;
  T bound_;
  cuda::QuerySource<T> source_;
};

/// Queries that are not finite find nothing, and those that share a packet with them find everything.
TYPED_TEST(EmulatedArrays, PacketsWithBadQueriesEqualTheHost) {
  using T = TypeParam;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const NastyShape shape = seed % 2 == 0 ? NastyShape::uniform : NastyShape::clusters;
    const PointSet points = nasty_points(shape, dtype_of<T>, 700, 3, random);
    PointSet queries = nasty_points(shape, dtype_of<T>, 300, 3, random);
    for (int i = 0; i < 40; ++i) {
      queries.template values<T>()[random() % 900] =
          i % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
    }
    constexpr std::uint32_t kLeafSize = 16;
    const engine::KdTree<T> tree =
        cpu::build_kd_tree(points.template values<T>().data(), 700, 3, {.leaf_size = kLeafSize, .threads = 1});
    const Index index = Index::build(points.view(), {.engine = Engine::kd_tree, .leaf_size = kLeafSize});
    const double radius = index.knn_self(10).distance(random() % 700, 9);
    const T bound = core::reduced_bound_of_radius<T>(Metric::l2(), radius);
    const SearchOptions options{.skip_nonfinite = true};
    for (const int form : {0, 1, 2, 3}) {
      expect_same(index.radius(queries.view(), radius, options),
                  ArraysByPackets<T>(tree, queries.view(), bound).radius(form % 2 == 0, form < 2));
    }
    expect_same(index.knn(queries.view(), 8, options),
                ArraysByPackets<T>(tree, queries.view(), std::numeric_limits<T>::infinity()).knn(8));
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace kith::test
