// Filters and bounds in the caller's numbers, also where rows are left out; and the messages about options.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

class Filters : public testing::TestWithParam<EngineOnDevice> {};

/// Puts NaN or infinity into some rows; tells which.
template <typename T>
std::vector<bool> spoil(PointSet& points, std::mt19937_64& random) {
  std::vector<bool> spoiled(points.rows());
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    spoiled[i] = random() % 4 == 0;
    if (!spoiled[i]) continue;
    points.values<T>()[i * points.dims() + random() % points.dims()] =
        random() % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
  }
  return spoiled;
}

std::vector<bool> spoil(PointSet& points, std::mt19937_64& random) {
  return points.dtype() == DType::f32 ? spoil<float>(points, random) : spoil<double>(points, random);
}

/// What the oracle is asked: no query finds a spoiled point, and a spoiled query finds nothing.
Request without(const SearchCase& whole, const std::vector<bool>& bad_points, const std::vector<bool>& bad_queries) {
  Request request = whole.request();
  if (request.allowed.empty()) request.allowed.assign(bad_points.size(), true);
  for (std::size_t i = 0; i < bad_points.size(); ++i) {
    if (bad_points[i]) request.allowed[i] = false;
  }
  const std::vector<bool>& asking = whole.is_self ? bad_points : bad_queries;
  if (request.index_below.empty()) request.index_below.assign(asking.size(), 0xffffffff);
  for (std::size_t q = 0; q < asking.size(); ++q) {
    if (asking[q]) request.index_below[q] = 0;
  }
  return request;
}

TEST_P(Filters, KeepTheCallersNumbersWhereRowsAreLeftOut) {
  const bool with_periods = knows_periods(GetParam());
  for (std::uint64_t seed = 60000; seed < 60800; ++seed) {
    SearchCase whole = random_case(seed);
    if (!whole.period.empty() && !with_periods) continue;
    if (!knows_metric(GetParam(), whole.metric)) continue;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << whole.text);
    std::mt19937_64 random(seed);
    PointSet points = whole.points.clone();
    PointSet queries = whole.queries.clone();
    const std::vector<bool> bad_points = spoil(points, random);
    const std::vector<bool> bad_queries = spoil(queries, random);
    BuildOptions build = whole.build_options(GetParam().engine, GetParam().device);
    build.skip_nonfinite = true;
    const Index index = Index::build(points.view(), build);
    SearchOptions options = whole.options;
    options.skip_nonfinite = true;
    const Request asked = without(whole, bad_points, bad_queries);
    expect_same(oracle_radius(asked, whole.radius), whole.is_self
                                                        ? index.radius_self(whole.radius, options)
                                                        : index.radius(queries.view(), whole.radius, options));
    EXPECT_EQ(oracle_count(asked, whole.radius), whole.is_self ? index.count_self(whole.radius, options)
                                                               : index.count(queries.view(), whole.radius, options));
    options.max_distance = whole.options.max_distance = whole.max_distance;
    expect_same(oracle_knn(without(whole, bad_points, bad_queries), whole.k),
                whole.is_self ? index.knn_self(whole.k, options) : index.knn(queries.view(), whole.k, options));
    if (HasFailure()) return;
  }
}

TEST_P(Filters, OneAfterTheOther) {
  const float points[] = {0, 1, 2, 3, 4};
  const Index index = Index::build(PointView(points, 5, 1), {.engine = GetParam().engine, .device = GetParam().device});
  const Neighbors earlier = index.knn_self(2, {.earlier_only = true});
  const std::uint32_t expected[5][2] = {{5, 5}, {0, 5}, {1, 0}, {2, 1}, {3, 2}};
  for (std::uint64_t q = 0; q < 5; ++q) {
    for (std::uint32_t j = 0; j < 2; ++j) EXPECT_EQ(earlier.index(q, j), expected[q][j]) << q << ' ' << j;
  }
  EXPECT_EQ(index.count_self(1.5, {.earlier_only = true}), (std::vector<std::uint32_t>{0, 1, 1, 1, 1}));
  const std::uint64_t odd[] = {0b01010};
  EXPECT_EQ(index.count_self(1, {.allowed = odd}), (std::vector<std::uint32_t>{1, 1, 2, 1, 1}));
  EXPECT_EQ(index.count_self(1, {.allowed = odd, .earlier_only = true}), (std::vector<std::uint32_t>{0, 0, 1, 0, 1}));
  const Neighbors near = index.knn_self(3, {.exclude_self = true, .max_distance = 1});
  EXPECT_EQ(near.index(0, 0), 1u);
  EXPECT_EQ(near.index(0, 1), 5u);
  EXPECT_EQ(near.index(1, 1), 2u);
  EXPECT_EQ(near.distance(1, 2), kInf);
}

/// Far more points than a block, so that whole ranges fall to a filter.
TEST_P(Filters, LargeSetsEqualTheOracle) {
  std::mt19937_64 random(71);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 6000, 3, random);
  const PointSet queries = nasty_points(NastyShape::uniform, DType::f32, 12, 3, random);
  const PointView asked = queries.view();
  std::vector<std::uint64_t> allowed((6000 + 63) / 64);
  for (std::uint64_t& word : allowed) word = random() & random() & random();
  std::vector<std::uint32_t> below;
  for (int q = 0; q < 12; ++q) below.push_back(static_cast<std::uint32_t>(q * 600));
  const Index index = Index::build(points.view(), {.engine = GetParam().engine, .device = GetParam().device});
  Request request{.points = points.view(), .queries = &asked, .max_distance = 0.2};
  request.allowed = bits_of(allowed, 6000);
  request.index_below = below;
  for (const int threads : {1, 2, 5}) {
    const SearchOptions bounded{.max_distance = 0.2, .allowed = allowed, .index_below = below, .threads = threads};
    expect_same(oracle_knn(request, 20), index.knn(asked, 20, bounded));
    const SearchOptions plain{.allowed = allowed, .index_below = below, .threads = threads};
    expect_same(oracle_radius(request, 0.15), index.radius(asked, 0.15, plain));
  }
}

INSTANTIATE_TEST_SUITE_P(Available, Filters, testing::ValuesIn(available_engines()));

TEST(SearchOptions, SayWhatIsWrong) {
  std::mt19937_64 random(1);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 100, 2, random);
  const PointView view = points.view();
  const Index index = Index::build(view);
  const auto knn = [&](const SearchOptions& options) {
    return thrown_message<UsageError>([&] { index.knn(view, 1, options); });
  };
  const auto self = [&](const SearchOptions& options) {
    return thrown_message<UsageError>([&] { index.knn_self(1, options); });
  };
  const auto radius = [&](const SearchOptions& options) {
    const std::string message = thrown_message<UsageError>([&] { index.radius(view, 1, options); });
    EXPECT_EQ(message, thrown_message<UsageError>([&] { index.count(view, 1, options); }));
    return message;
  };
  const std::vector<std::uint64_t> words(3);
  const std::vector<std::uint32_t> below(99);
  EXPECT_PRED2(holds, knn({.max_distance = -1}), "max_distance must be at least 0, not -1");
  EXPECT_PRED2(holds, knn({.max_distance = std::nan("")}), "max_distance must be at least 0, not nan");
  EXPECT_PRED2(holds, knn({.eps = -0.5}), "eps must be a finite number of at least 0, not -0.5");
  EXPECT_PRED2(holds, knn({.eps = kInf}), "eps must be a finite number of at least 0, not inf");
  EXPECT_PRED2(holds, knn({.eps = std::nan("")}), "eps must be a finite number");
  EXPECT_PRED2(holds, knn({.allowed = words}), "allowed: 3 words of 64 bits, but 100 points need 2");
  EXPECT_PRED2(holds, knn({.earlier_only = true}), "use index_below");
  EXPECT_PRED2(holds, knn({.index_below = below}), "index_below: 99 bounds for 100 queries");
  EXPECT_PRED2(holds, self({.index_below = below}), "use earlier_only");
  EXPECT_PRED2(holds, self({.allowed = words}), "allowed: 3 words");
  EXPECT_PRED2(holds, radius({.max_distance = 1}), "max_distance is for kNN searches");
  EXPECT_PRED2(holds, radius({.eps = 0.1}), "eps is for kNN searches");
  EXPECT_PRED2(holds, radius({.max_leaves = 3}), "max_leaves is for kNN searches");
  EXPECT_PRED2(holds, radius({.earlier_only = true}), "use index_below");
}

TEST(BuildOptions, SayWhatIsWrong) {
  const float points[] = {0, 1};
  const auto build = [&](const BuildOptions& options) {
    return thrown_message<UsageError>([&] { Index::build(PointView(points, 2, 1), options); });
  };
  EXPECT_PRED2(holds, build({.leaf_size = 1025}), "the leaf size must be 1 to 1024, or 0 for a good one, not 1025");
  EXPECT_PRED2(holds, build({.threads = -1}), "threads must be at least 0");
  EXPECT_NO_THROW(Index::build(PointView(points, 2, 1), {.engine = Engine::kd_tree, .leaf_size = 1024}));
}

TEST(SplitRule, NamesAreReadAndWritten) {
  for (const std::string name : {"widest", "cycle"}) EXPECT_EQ(name_of(parse_split_rule(name)), name);
  EXPECT_THROW(parse_split_rule("median"), UsageError);
}

}  // namespace
}  // namespace kith::test
