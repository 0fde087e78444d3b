// Fewer points against plain definitions: a map from cells to rows, the loop that takes the farthest point.
#include <kith/apps/downsample.hpp>

#include "apps/clouds/key_groups.hpp"

#include <kith/apps/dedupe.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace kith::apps::downsample_cases {
namespace {

using Rows = std::vector<std::uint32_t>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
PointView view_of(const std::vector<T>& values, std::uint32_t dims) {
  return PointView(values.data(), values.size() / dims, dims);
}

struct SampleCase {
  std::vector<double> values;
  std::uint32_t dims;
  bool is_float;

  PointSet points() const {
    PointSet set(is_float ? DType::f32 : DType::f64, values.size() / dims, dims);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_float) {
        set.values<float>()[i] = static_cast<float>(values[i]);
      } else {
        set.values<double>()[i] = values[i];
      }
    }
    return set;
  }
};

SampleCase sample_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  SampleCase made;
  made.dims = 1 + static_cast<std::uint32_t>(random() % 5);
  made.is_float = random() % 2 == 0;
  const std::uint64_t shape = random() % 4;
  const std::uint64_t rows = random() % 3 == 0 ? random() % 4 : random() % 3000;
  const double offset = random() % 3 == 0 ? 5e6 : -3;
  for (std::uint64_t i = 0; i < rows * made.dims; ++i) {
    const double fraction = static_cast<double>(random() >> 11) * 0x1p-53;
    made.values.push_back(shape == 0   ? offset
                          : shape == 1 ? static_cast<double>(random() % 7)
                          : shape == 2 ? offset + fraction * 10
                                       : std::ldexp(fraction - 0.5, static_cast<int>(random() % 40)));
  }
  return made;
}

/// The definition of the mean, nearest and first point of each voxel.
template <typename T>
Downsampled plain_voxels(PointView points, double size, VoxelKeep keep) {
  std::map<std::vector<std::int64_t>, std::uint32_t> place_of;
  std::vector<Rows> members;
  Downsampled result;
  for (std::uint32_t row = 0; row < points.rows(); ++row) {
    std::vector<std::int64_t> cell;
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      cell.push_back(static_cast<std::int64_t>(std::floor(points.at(row, d) / size)));
    }
    const auto [found, is_new] = place_of.emplace(cell, static_cast<std::uint32_t>(members.size()));
    if (is_new) members.emplace_back();
    members[found->second].push_back(row);
    result.map.push_back(found->second);
  }
  result.points = PointSet(points.dtype(), members.size(), points.dims());
  for (std::uint64_t v = 0; v < members.size(); ++v) {
    std::vector<double> mean;
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      double total = 0;
      for (std::size_t first = 0; first < members[v].size(); first += 1024) {
        double chunk = 0;
        for (std::size_t i = first; i < std::min(first + 1024, members[v].size()); ++i) {
          chunk += points.at(members[v][i], d);
        }
        total += chunk;
      }
      mean.push_back(total / static_cast<double>(members[v].size()));
    }
    std::uint32_t nearest = 0;
    double best = -1;
    for (const std::uint32_t row : members[v]) {
      double squared = 0;
      for (std::uint32_t d = 0; d < points.dims(); ++d) {
        const double apart = points.at(row, d) - mean[d];
        squared = std::fma(apart, apart, squared);
      }
      if (best < 0 || squared < best) {
        best = squared;
        nearest = row;
      }
    }
    result.counts.push_back(static_cast<std::uint32_t>(members[v].size()));
    result.rows.push_back(keep == VoxelKeep::first ? members[v].front() : nearest);
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      result.points.values<T>()[v * points.dims() + d] =
          keep == VoxelKeep::mean ? static_cast<T>(mean[d]) : points.row<T>(result.rows.back())[d];
    }
  }
  return result;
}

/// The definition of farthest point sampling.
template <typename T>
Downsampled plain_farthest(PointView points, std::uint64_t count, std::uint32_t start) {
  Downsampled result;
  std::vector<T> best(points.rows(), std::numeric_limits<T>::infinity());
  std::vector<bool> is_taken(points.rows(), false);
  result.map.assign(points.rows(), 0);
  std::uint32_t next = start;
  count = std::min<std::uint64_t>(count, points.rows());
  while (result.rows.size() < count) {
    is_taken[next] = true;
    for (std::uint32_t row = 0; row < points.rows(); ++row) {
      T distance = 0;
      for (std::uint32_t d = 0; d < points.dims(); ++d) {
        const T apart = points.row<T>(next)[d] - points.row<T>(row)[d];
        distance = std::fma(apart, apart, distance);
      }
      const bool is_own = row == next;
      if (is_own || (!is_taken[row] && distance < best[row])) {
        best[row] = distance;
        result.map[row] = static_cast<std::uint32_t>(result.rows.size());
      }
    }
    result.rows.push_back(next);
    bool is_found = false;
    for (std::uint32_t row = 0; row < points.rows(); ++row) {
      if (is_taken[row] || (is_found && !(best[row] > best[next]))) continue;
      is_found = true;
      next = row;
    }
  }
  return result;
}

void expect_same_points(const PointSet& expected, const PointSet& found) {
  ASSERT_EQ(expected.rows(), found.rows());
  if (expected.bytes() > 0) {
    EXPECT_EQ(std::memcmp(expected.view().data(), found.view().data(), expected.bytes()), 0);
  }
}

TEST(Downsample, VoxelsEqualTheDefinitionOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with sample_case(" << seed << ")");
    const SampleCase made = sample_case(seed);
    const PointSet points = made.points();
    const double size = seed % 5 == 0 ? 1e-3 : seed % 5 == 1 ? 100 : 0.7;
    for (const VoxelKeep keep : {VoxelKeep::mean, VoxelKeep::nearest, VoxelKeep::first}) {
      const Downsampled expected = made.is_float ? plain_voxels<float>(points.view(), size, keep)
                                                 : plain_voxels<double>(points.view(), size, keep);
      for (const int threads : {1, 2, 5}) {
        const Downsampled found =
            downsample(points.view(), {.voxel = size, .keep = keep, .want_map = true, .threads = threads});
        expect_same_points(expected.points, found.points);
        EXPECT_EQ(expected.rows, found.rows);
        EXPECT_EQ(expected.map, found.map);
        EXPECT_EQ(expected.counts, found.counts);
      }
    }
  }
}

TEST(Downsample, ManyPointsInManyPartsEqualTheDefinition) {
  std::mt19937_64 random(4);
  std::vector<float> values;
  for (int i = 0; i < 3 * 120000; ++i) values.push_back(static_cast<float>(random() % 100000) * 1e-3f);
  const PointView points = view_of(values, 3);
  for (const double size : {2.0, 90.0}) {
    const Downsampled expected = plain_voxels<float>(points, size, VoxelKeep::mean);
    for (const int threads : {1, 2, 5}) {
      const Downsampled found = downsample(points, {.voxel = size, .want_map = true, .threads = threads});
      expect_same_points(expected.points, found.points);
      EXPECT_EQ(expected.rows, found.rows);
      EXPECT_EQ(expected.map, found.map);
      EXPECT_EQ(expected.counts, found.counts);
    }
  }
}

TEST(Downsample, FarthestPointsEqualTheDefinitionOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with sample_case(" << seed << ")");
    const SampleCase made = sample_case(seed);
    const PointSet points = made.points();
    const std::uint64_t count = seed % 3 == 0 ? 100000 : seed % 40;
    const auto start = static_cast<std::uint32_t>(points.rows() == 0 ? 0 : seed * 7 % points.rows());
    if (points.rows() > 1000 && count > 1000) continue;  // the definition takes too long
    const Downsampled expected = made.is_float ? plain_farthest<float>(points.view(), count, start)
                                               : plain_farthest<double>(points.view(), count, start);
    for (const int threads : {1, 2, 5}) {
      const Downsampled found =
          downsample(points.view(), {.farthest = count, .start = start, .want_map = true, .threads = threads});
      EXPECT_EQ(expected.rows, found.rows);
      if (count > 0) {
        EXPECT_EQ(expected.map, found.map);
      }
    }
  }
}

TEST(Downsample, FarthestPointsOfManyByThreads) {
  std::mt19937_64 random(9);
  std::vector<double> values;
  for (int i = 0; i < 3 * 100000; ++i) values.push_back(static_cast<double>(random() >> 40));
  const PointView points = view_of(values, 3);
  const Downsampled expected = plain_farthest<double>(points, 30, 17);
  for (const int threads : {1, 2, 5}) {
    const Downsampled found = downsample(points, {.farthest = 30, .start = 17, .want_map = true, .threads = threads});
    EXPECT_EQ(expected.rows, found.rows);
    EXPECT_EQ(expected.map, found.map);
  }
}

TEST(Downsample, ADistanceIsWhatDedupeDoes) {
  const PointSet points = sample_case(14).points();
  const Deduped expected = dedupe(points.view(), {.tolerance = 0.5});
  const Downsampled found = downsample(points.view(), {.distance = 0.5, .want_map = true});
  EXPECT_EQ(expected.kept, found.rows);
  EXPECT_EQ(expected.map, found.map);
  EXPECT_EQ(found.points.rows(), found.rows.size());
  std::uint64_t all = 0;
  for (const std::uint32_t count : found.counts) all += count;
  EXPECT_EQ(all, points.rows());
}

TEST(Downsample, TheGridBeginsAtTheOrigin) {
  const std::vector<double> values = {-0.1, 0.1, 0.9, 1.0, -1.0, -0.0};
  const Downsampled found = downsample(view_of(values, 1), {.voxel = 1, .keep = VoxelKeep::first, .want_map = true});
  EXPECT_EQ(found.map, (Rows{0, 1, 1, 2, 0, 1}));
  EXPECT_EQ(found.rows, (Rows{0, 1, 3}));
  EXPECT_EQ(found.counts, (Rows{2, 3, 1}));
}

TEST(Downsample, TheRowsOfMeansAreOptional) {
  const std::vector<double> values = {0.1, 0.2, 5};
  const Downsampled found = downsample(view_of(values, 1), {.voxel = 1, .want_rows = false});
  EXPECT_TRUE(found.rows.empty());
  EXPECT_EQ(found.points.view().at(1, 0), 5);
}

TEST(Downsample, NoPointsAndOnePoint) {
  for (const DownsampleOptions& options :
       {DownsampleOptions{.voxel = 1}, DownsampleOptions{.farthest = 3}, DownsampleOptions{.distance = 1}}) {
    EXPECT_EQ(downsample(PointView(), options).points.rows(), 0u);
    const std::vector<double> one = {1, 2, 3};
    EXPECT_EQ(downsample(view_of(one, 3), options).rows, Rows{0});
  }
}

TEST(Downsample, NamesBadRowsOrLeavesThemOut) {
  const std::vector<double> values = {0, kNan, 0.5, 9};
  for (DownsampleOptions options :
       {DownsampleOptions{.voxel = 1}, DownsampleOptions{.farthest = 3}, DownsampleOptions{.distance = 1}}) {
    EXPECT_THROW(downsample(view_of(values, 1), options), BadRow);
    options.skip_nonfinite = options.want_map = true;
    const Downsampled found = downsample(view_of(values, 1), options);
    EXPECT_EQ(found.skipped, 1u);
    EXPECT_EQ(found.map[1], kLeftOut);
    EXPECT_EQ(found.rows, options.farthest ? (Rows{0, 3, 2}) : (Rows{0, 3}));
  }
}

TEST(Downsample, RefusesWhatMakesNoSense) {
  const std::vector<double> values = {0, 1, 1e300};
  const PointView points = view_of(values, 1);
  EXPECT_THROW(downsample(points, {}), UsageError);
  EXPECT_THROW(downsample(points, {.voxel = 1, .farthest = 2}), UsageError);
  for (const double size : {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(downsample(points, {.voxel = size}), UsageError);
  }
  EXPECT_THROW(downsample(points, {.distance = -1}), UsageError);
  EXPECT_THROW(downsample(points, {.farthest = 1, .start = 3}), UsageError);
  EXPECT_THROW(downsample(points, {.voxel = 1, .threads = -1}), UsageError);
  try {
    downsample(points, {.voxel = 1});
    FAIL();
  } catch (const BadData& error) {
    EXPECT_NE(std::string(error.what()).find("row 2, column 0"), std::string::npos) << error.what();
  }
  EXPECT_EQ(downsample(points, {.voxel = 1e290}).points.rows(), 2u);
  EXPECT_THROW(parse_voxel_keep("last"), UsageError);
}

TEST(Downsample, MapsEveryRowWhereAllAreLeftOut) {
  const std::vector<double> values = {kNan, 0, 1, kNan};
  const Downsampled found = downsample(view_of(values, 2), {.voxel = 1, .want_map = true, .skip_nonfinite = true});
  EXPECT_EQ(found.map, (Rows{kLeftOut, kLeftOut}));
  EXPECT_EQ(found.skipped, 2u);
}

TEST(KeyGroups, NumbersByFirstItem) {
  const std::vector<std::uint64_t> keys = {7, 3, 7, 9, 3};
  const KeyGroups groups = group_keys(keys, 1);
  Rows places(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) places[groups.items[i]] = groups.place[groups.slot_of[i]];
  EXPECT_EQ(places, (Rows{0, 1, 0, 2, 1}));
  EXPECT_EQ(group_keys({}, 1).count(), 0u);
}

}  // namespace
}  // namespace kith::apps::downsample_cases
