// See feature_matches.hpp: exact nearest neighbours of descriptors, both ways.
#include "apps/register/global/feature_matches.hpp"

#include <kith/index.hpp>

#include <algorithm>
#include <tuple>

namespace kith::apps::inline v0 {
namespace {

Neighbors nearest_features(const FeatureCloud& queries, const FeatureCloud& among, int threads) {
  BuildOptions build;
  build.device = Device::cpu();
  build.expected_queries = queries.featured.size();
  build.threads = threads;
  const Index index = Index::build(PointView(among.features.data(), among.featured.size(), kFeatureValues), build);
  SearchOptions search;
  search.threads = threads;
  return index.knn(PointView(queries.features.data(), queries.featured.size(), kFeatureValues), 1, search);
}

}  // namespace

std::vector<FeatureMatch> feature_matches(const FeatureCloud& source, const FeatureCloud& target, std::uint64_t most,
                                          int threads) {
  std::vector<FeatureMatch> matches;
  if (source.featured.empty() || target.featured.empty()) return matches;
  const Neighbors there = nearest_features(source, target, threads);
  const Neighbors back = nearest_features(target, source, threads);
  for (std::uint32_t i = 0; i < source.featured.size(); ++i) {
    const std::uint32_t match = there.index(i, 0);
    if (back.index(match, 0) != i) continue;
    matches.push_back({source.featured[i], target.featured[match], static_cast<float>(there.distance(i, 0))});
  }
  std::sort(matches.begin(), matches.end(), [](const FeatureMatch& a, const FeatureMatch& b) {
    return std::tie(a.distance, a.source) < std::tie(b.distance, b.source);
  });
  if (matches.size() > most) matches.resize(most);
  return matches;
}

}  // namespace kith::apps::inline v0
