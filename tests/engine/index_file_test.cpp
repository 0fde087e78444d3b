// Saved and loaded: the same answers, the same bytes, for every engine, type, metric and number of threads.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/file_content.hpp"
#include "support/random_case.hpp"
#include "support/temporary_path.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

namespace kith::test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes content_of(const std::string& path) {
  const std::string text = file_content(path);
  Bytes bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

void expect_same_bytes(PointView expected, PointView found) {
  ASSERT_EQ(expected.rows(), found.rows());
  ASSERT_EQ(expected.dims(), found.dims());
  ASSERT_EQ(expected.dtype(), found.dtype());
  const std::size_t bytes = expected.rows() * expected.dims() * size_of(expected.dtype());
  if (bytes > 0) {
    EXPECT_EQ(std::memcmp(expected.data(), found.data(), bytes), 0);
  }
}

/// Makes every seventh row bad, beginning with `first`.
void spoil_rows(PointSet& points, std::uint64_t first) {
  for (std::uint64_t i = first; i < points.rows(); i += 7) {
    const std::uint64_t place = i * points.dims() + i % points.dims();
    if (points.dtype() == DType::f32) {
      points.values<float>()[place] = std::numeric_limits<float>::quiet_NaN();
    } else {
      points.values<double>()[place] = -std::numeric_limits<double>::infinity();
    }
  }
}

/// Whether all points lie in a periodic box of length 2e7, and the metric knows the way around.
bool wraps(const SearchCase& c) {
  if (!c.metric.info().wraps) return false;
  for (std::uint64_t i = 0; i < c.points.rows(); ++i) {
    for (std::uint32_t d = 0; d < c.points.dims(); ++d) {
      const double x = c.points.view().at(i, d);
      if (std::isfinite(x) && !(x >= 0 && x < 2e7)) return false;
    }
  }
  return c.points.rows() > 0;
}

class SavedIndex : public testing::TestWithParam<EngineOnDevice> {
 protected:
  static BuildOptions options(Metric metric, int threads) {
    return {.engine = GetParam().engine,
            .device = GetParam().device,
            .metric = metric,
            .skip_nonfinite = true,
            .threads = threads};
  }
};

TEST_P(SavedIndex, AnswersAsBeforeOnRandomCases) {
  const bool with_periods = knows_periods(GetParam());
  for (std::uint64_t seed = 30000; seed < 30300; ++seed) {
    SearchCase c = random_case(seed);
    if (!knows_metric(GetParam(), c.metric)) continue;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    if (seed % 3 == 0 && c.points.dims() > 0) spoil_rows(c.points, seed % 7);
    BuildOptions build = options(c.metric, c.options.threads);
    build.metric_params = c.metric_params;
    build.leaf_size = static_cast<std::uint32_t>(seed % 4 == 0 ? 0 : 1 + seed % 23);
    if (GetParam().engine == Engine::cover_tree) build.builder = c.builder;
    build.split = seed % 5 == 0 ? SplitRule::cycle : SplitRule::widest;
    if (seed % 6 == 1 && wraps(c) && with_periods && c.metric_params.empty())
      build.period = std::vector<double>(c.points.dims(), 2e7);
    const Index built = Index::build(c.points.view(), build);
    const Bytes bytes = built.to_bytes({.threads = c.options.threads});
    build.threads = 3;
    EXPECT_TRUE(bytes == Index::build(c.points.view(), build).to_bytes({.threads = 1}))
        << "the file depends on the number of threads";
    const Index loaded = Index::from_bytes(bytes, {.device = GetParam().device, .threads = c.options.threads});
    EXPECT_TRUE(bytes == loaded.to_bytes({.threads = 2})) << "saved again, the file is another";

    EXPECT_EQ(loaded.size(), built.size());
    EXPECT_EQ(loaded.dims(), built.dims());
    EXPECT_EQ(loaded.dtype(), built.dtype());
    EXPECT_EQ(loaded.metric(), built.metric());
    EXPECT_EQ(loaded.engine(), built.engine());
    EXPECT_EQ(loaded.device(), built.device());
    EXPECT_EQ(loaded.skipped(), built.skipped());
    if (c.is_self) {
      expect_same(built.knn_self(c.k, c.options), loaded.knn_self(c.k, c.options));
      expect_same(built.radius_self(c.radius, c.options), loaded.radius_self(c.radius, c.options));
    } else {
      expect_same(built.knn(c.queries.view(), c.k, c.options), loaded.knn(c.queries.view(), c.k, c.options));
      expect_same(built.radius(c.queries.view(), c.radius, c.options),
                  loaded.radius(c.queries.view(), c.radius, c.options));
      EXPECT_EQ(built.count(c.queries.view(), c.radius, c.options),
                loaded.count(c.queries.view(), c.radius, c.options));
    }
    expect_same_bytes(built.points().view(), loaded.points(3).view());
    if (HasFailure()) return;
  }
}

TEST_P(SavedIndex, GivesThePointsBack) {
  std::mt19937_64 random(5);
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::uint64_t rows : {0ull, 1ull, 5ull, 16ull, 17ull, 1000ull}) {
      PointSet points = nasty_points(NastyShape::signed_zeros, dtype, rows, 5, random);
      const Index index = Index::build(points.view(), options(Metric::l1(), 2));
      expect_same_bytes(points.view(), index.points().view());
      spoil_rows(points, 2);
      const Index gaps = Index::build(points.view(), options(Metric::l2(), 2));
      const PointSet found = gaps.points();
      ASSERT_EQ(found.rows(), rows);
      for (std::uint64_t i = 0; i < rows; ++i) {
        for (std::uint32_t d = 0; d < 5; ++d) {
          if (i % 7 == 2) {
            EXPECT_TRUE(std::isnan(found.view().at(i, d)));
          } else {
            EXPECT_EQ(found.view().at(i, d), points.view().at(i, d));
          }
        }
      }
    }
  }
}

TEST_P(SavedIndex, AFileHoldsTheSameBytesAndMayBeMapped) {
  std::mt19937_64 random(6);
  const std::string path = temporary_path("index_file_test");
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::uint64_t rows : {0ull, 1ull, 100ull, 200000ull}) {  // the last has several checksums per section
      PointSet points = nasty_points(NastyShape::uniform, dtype, rows, 3, random);
      spoil_rows(points, 3);
      const Index built = Index::build(points.view(), options(Metric::l2(), 2));
      built.save(path);
      EXPECT_TRUE(is_index_file(path));
      EXPECT_TRUE(content_of(path) == built.to_bytes());
      const PointView queries = points.view().slice(0, std::min<std::uint64_t>(3, rows));
      const Neighbors expected = built.knn(queries, 9);
      expect_same(expected, Index::load(path).knn(queries, 9));
      const Index mapped = Index::load(path, {.map = true});
      expect_same(expected, mapped.knn(queries, 9));
      std::filesystem::remove(path);  // the mapping lives on
      expect_same(expected, mapped.knn(queries, 9));
      EXPECT_TRUE(mapped.to_bytes() == built.to_bytes());
    }
  }
}

TEST_P(SavedIndex, TellsOfItself) {
  std::mt19937_64 random(8);
  PointSet points = nasty_points(NastyShape::uniform, DType::f64, 100, 3, random);
  spoil_rows(points, 1);
  const std::string path = temporary_path("index_file_info");
  const Metric metric = knows_metric(GetParam(), Metric::lp(2.5)) ? Metric::lp(2.5) : Metric::l1();
  const Index index = Index::build(points.view(), options(metric, 1));
  index.save(path);
  const IndexFileInfo info = describe_index_file(path);
  EXPECT_EQ(info.version, 1u);
  EXPECT_EQ(info.compatible_features, 0u);
  EXPECT_EQ(info.incompatible_features, 0u);
  EXPECT_EQ(info.file_bytes, std::filesystem::file_size(path));
  EXPECT_EQ(info.engine, GetParam().engine);
  EXPECT_EQ(info.metric, metric);
  EXPECT_EQ(info.dtype, DType::f64);
  EXPECT_EQ(info.dims, 3u);
  EXPECT_EQ(info.rows, 100u);
  EXPECT_EQ(info.points, 100 - index.skipped());
  ASSERT_FALSE(info.sections.empty());
  EXPECT_TRUE(std::any_of(info.sections.begin(), info.sections.end(), [&](const IndexFileSection& section) {
    return section.name == "original" && section.count == info.points;
  }));
  for (const IndexFileSection& section : info.sections) EXPECT_EQ(section.offset % 4096, 0u) << section.name;
  std::filesystem::remove(path);
}

TEST_P(SavedIndex, StopsWhenAsked) {
  std::mt19937_64 random(9);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 1000, 3, random);
  const Index index = Index::build(points.view(), options(Metric::l2(), 1));
  const std::string path = temporary_path("index_file_stop");
  const ProgressCallback stop = [](const Progress&) { return false; };
  EXPECT_THROW(index.save(path, {.threads = 1, .progress = stop}), Interrupted);
  EXPECT_FALSE(std::filesystem::exists(path));
  index.save(path);
  EXPECT_THROW(Index::load(path, {.threads = 1, .progress = stop}), Interrupted);
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(Available, SavedIndex, testing::ValuesIn(available_engines()));

TEST(SavedIndexOptions, AreChecked) {
  const float x = 1;
  const Index index = Index::build(PointView(&x, 1, 1));
  const Bytes bytes = index.to_bytes();
  EXPECT_THROW(Index::from_bytes(bytes, {.map = true}), UsageError);
  EXPECT_THROW(Index::from_bytes(bytes, {.threads = -1}), UsageError);
  EXPECT_THROW(index.to_bytes({.threads = -1}), UsageError);
  EXPECT_THROW(index.points(-1), UsageError);
  EXPECT_THROW(Index::load("/nonexistent/index.kith"), IoError);
  EXPECT_FALSE(is_index_file("/nonexistent/index.kith"));
  EXPECT_FALSE(is_index_file("/"));
  EXPECT_FALSE(is_index_file("/dev/zero"));
}

}  // namespace
}  // namespace kith::test
