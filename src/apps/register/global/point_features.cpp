// See point_features.hpp. Fast point feature histograms (FPFH: Rusu, Blodow, Beetz 2009) with four changes: normals
// have no signs that scans from other sides would share, so that each is turned by its own surroundings and those of
// neighbours are taken on its side; sines stand for angles, and bins are narrower near 0, where smooth surfaces have
// nearly all of their values; a value is shared between two bins; and roots of shares are compared (Hellinger's
// distance), so that the common values do not drown the others.
#include "apps/register/global/point_features.hpp"

#include "apps/for_each_row.hpp"
#include "core/cloud/vector3.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kith::apps::inline v0 {
namespace {

/// Points within the radius, itself included, without which a point has no descriptor.
constexpr std::uint64_t kLeastAround = 8;

using Histograms = std::array<double, kFeatureValues>;

/// Shares a value from -1 to 1 between the two bins whose middles are next to its root.
void count_in(double* bins, double value) {
  const double size = std::sqrt(std::abs(value));
  const double place = ((value < 0 ? -size : size) + 1) * (0.5 * (kFeatureBins - 1));
  const auto bin = static_cast<std::uint32_t>(std::clamp(place, 0.0, static_cast<double>(kFeatureBins - 2)));
  const double share = std::clamp(place - static_cast<double>(bin), 0.0, 1.0);
  bins[bin] += 1 - share;
  bins[bin + 1] += share;
}

/// A point and its neighbours as the point sees them, their normals on the side of its own: how they turn about the
/// line to them, how high they lie, and how they bend along the line. In a plane nothing turns about a line; there the
/// first is the height once more, of the other sign to the left.
Histograms own_histograms(const FeatureCloud& cloud, std::uint64_t point, std::span<const std::uint32_t> list) {
  Histograms bins{};
  double total = 0;
  const double* u = cloud.normal(point);
  for (const std::uint32_t other : list) {
    const double* n = cloud.normal(other);
    double d[3], v[3], w[3];
    core::step3(cloud.place(point), cloud.place(other), d);
    const double length = std::sqrt(core::dot3(d, d));
    if (!(length > 0) || core::dot3(n, n) == 0) continue;
    for (double& x : d) x /= length;
    core::cross3(d, u, v);
    const double across = std::sqrt(core::dot3(v, v));
    if (!(across > 1e-9)) continue;  // straight above
    for (double& x : v) x /= across;
    core::cross3(u, v, w);
    const double up = core::dot3(u, n);
    const double side = up < 0 ? -1 : 1;
    const double height = core::dot3(u, d);
    const double along = side * core::dot3(w, n);
    const double turn = cloud.dims == 2 ? (v[2] < 0 ? -height : height) : side * core::dot3(v, n);
    const double bend = std::sqrt(along * along + up * up);
    count_in(bins.data(), turn);
    count_in(bins.data() + kFeatureBins, height);
    count_in(bins.data() + 2 * kFeatureBins, bend > 0 ? along / bend : 0);
    total += 1;
  }
  if (total > 0) {
    for (double& x : bins) x /= total;
  }
  return bins;
}

/// Seen from the other side of the surface: heights and bends have the other sign.
Histograms mirrored(const Histograms& bins) {
  Histograms result = bins;
  std::reverse(result.begin() + kFeatureBins, result.begin() + 2 * kFeatureBins);
  std::reverse(result.begin() + 2 * kFeatureBins, result.end());
  return result;
}

}  // namespace

void describe_points(FeatureCloud& cloud, const NeighborLists& lists, int threads) {
  const std::uint64_t points = cloud.points();
  const auto list_of = [&](std::uint64_t i) { return lists.indices().subspan(lists.offsets()[i], lists.count(i)); };
  // Neighbours lie on the inner side of a surface that bends: the normal shows to the other one, however the cloud is
  // turned.
  for_each_row(points, {.threads = threads}, [&](std::uint64_t i) {
    double* normal = cloud.normals.data() + i * 3;
    double along = 0;
    for (const std::uint32_t other : list_of(i)) {
      double step[3];
      core::step3(cloud.place(i), cloud.place(other), step);
      along += core::dot3(step, normal);
    }
    if (along > 0) {
      for (int d = 0; d < 3; ++d) normal[d] = 0.0 - normal[d];
    }
  });
  std::vector<Histograms> own(points);
  std::vector<std::uint8_t> has_own(points);
  for_each_row(points, {.threads = threads}, [&](std::uint64_t i) {
    has_own[i] = core::dot3(cloud.normal(i), cloud.normal(i)) > 0 && list_of(i).size() > kLeastAround;
    if (has_own[i] != 0) own[i] = own_histograms(cloud, i, list_of(i));
  });
  for (std::uint64_t i = 0; i < points; ++i) {
    if (has_own[i] != 0) cloud.featured.push_back(static_cast<std::uint32_t>(i));
  }
  cloud.features.resize(cloud.featured.size() * kFeatureValues);
  for_each_row(cloud.featured.size(), {.threads = threads}, [&](std::uint64_t place) {
    const std::uint32_t i = cloud.featured[place];
    Histograms around{}, behind{};  // neighbours on this side, and those on the other
    double weights = 0;
    for (const std::uint32_t other : list_of(i)) {
      if (has_own[other] == 0) continue;
      double step[3];
      core::step3(cloud.place(i), cloud.place(other), step);
      const double length = std::sqrt(core::dot3(step, step));
      if (!(length > 0)) continue;
      const double weight = 1 / length;
      weights += weight;
      Histograms& sum = core::dot3(cloud.normal(i), cloud.normal(other)) < 0 ? behind : around;
      for (std::uint32_t b = 0; b < kFeatureValues; ++b) sum[b] += weight * own[other][b];
    }
    behind = mirrored(behind);
    float* feature = cloud.features.data() + place * kFeatureValues;
    for (std::uint32_t b = 0; b < kFeatureValues; ++b) {
      const double others = weights > 0 ? (around[b] + behind[b]) / weights : 0;
      feature[b] = static_cast<float>(std::sqrt(own[i][b] + others));
    }
  });
}

}  // namespace kith::apps::inline v0
