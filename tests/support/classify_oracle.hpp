// The oracle of votes: plain loops over the lists of the oracle of distances, one query after the other.
#pragma once

#include "support/oracle.hpp"

#include <kith/apps/classify.hpp>
#include <kith/apps/regress.hpp>
#include <kith/point_set.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace kith::test {

/// One neighbour, as it votes.
struct Voter {
  std::uint32_t label;
  double distance;
};

/// What the list, nearest first, gives to each of its labels. As the header says: by distance, a neighbour counts as
/// the distance of the nearest divided by its own; at distance 0 only those count.
inline std::vector<double> weights_of(const std::vector<Voter>& list, apps::Weights weights) {
  std::vector<double> result;
  for (const Voter& voter : list) {
    if (weights == apps::Weights::uniform || voter.distance == list[0].distance) {
      result.push_back(1);
    } else if (list[0].distance == 0) {
      result.push_back(0);
    } else {
      result.push_back(list[0].distance / voter.distance);
    }
  }
  return result;
}

struct Vote {
  std::uint32_t winner = 0;
  std::map<std::uint32_t, double> shares = {};
};

inline Vote plain_vote(const std::vector<Voter>& list, const apps::NeighborOptions& options) {
  const std::vector<double> each = weights_of(list, options.weights);
  std::map<std::uint32_t, double> sums;
  double total = 0;
  for (std::size_t j = 0; j < list.size(); ++j) {
    sums[list[j].label] += each[j];
    total += each[j];
  }
  double most = 0;
  for (const auto& [label, sum] : sums) most = std::max(most, sum);
  Vote vote;
  vote.winner = std::find_if(list.begin(), list.end(), [&](const Voter& v) { return sums[v.label] == most; })->label;
  for (const auto& [label, sum] : sums) {  // from the lowest on
    if (sum != most) continue;
    if (options.ties == apps::Ties::highest || (options.ties == apps::Ties::lowest && label < vote.winner)) {
      vote.winner = label;
    }
  }
  for (const auto& [label, sum] : sums) vote.shares[label] = sum / total;
  return vote;
}

inline void put_shares(apps::Classified& result, const Vote& vote, std::uint64_t query, std::uint32_t classes) {
  for (const auto& [label, share] : vote.shares) result.shares[query * classes + label] = share;
}

/// Labels, shares, depth and rounds; nothing of the work.
inline apps::Classified oracle_classify(PointView points, apps::LabelView labels, PointView queries,
                                        const apps::ClassifyOptions& options) {
  const Neighbors lists = oracle_knn({points, &queries, options.metric}, options.k);
  apps::Classified result;
  if (options.want_shares) result.shares.resize(queries.rows() * labels.classes);
  for (std::uint64_t i = 0; i < queries.rows(); ++i) {
    std::vector<Voter> list;
    for (std::uint32_t j = 0; j < options.k; ++j) {
      list.push_back({labels.codes[lists.index(i, j)], lists.distance(i, j)});
    }
    const Vote vote = plain_vote(list, options);
    result.labels.push_back(vote.winner);
    if (options.want_shares) put_shares(result, vote, i, labels.classes);
  }
  return result;
}

/// Two sets of rows one behind the other.
inline PointSet rows_behind(PointView first, PointView second) {
  PointSet both(first.dtype(), first.rows() + second.rows(), first.dims());
  for (std::uint64_t i = 0; i < both.rows(); ++i) {
    const PointView from = i < first.rows() ? first.slice(i, 1) : second.slice(i - first.rows(), 1);
    for (std::uint32_t d = 0; d < both.dims(); ++d) {
      if (both.dtype() == DType::f32) {
        both.values<float>()[i * both.dims() + d] = from.row<float>(0)[d];
      } else {
        both.values<double>()[i * both.dims() + d] = from.row<double>(0)[d];
      }
    }
  }
  return both;
}

/// The loop itself: each query is labelled by what is there, then it is there, too.
inline apps::Classified oracle_sequential(PointView points, apps::LabelView labels, PointView queries,
                                          const apps::ClassifyOptions& options) {
  const PointSet both = rows_behind(points, queries);
  std::vector<std::uint32_t> known(labels.codes.begin(), labels.codes.end());
  std::vector<std::uint64_t> depth(points.rows(), 0);
  apps::Classified result;
  if (options.want_shares) result.shares.resize(queries.rows() * labels.classes);
  for (std::uint64_t i = 0; i < queries.rows(); ++i) {
    const PointView query = queries.slice(i, 1);
    const Neighbors near = oracle_knn({both.view().slice(0, known.size()), &query, options.metric}, options.k);
    std::vector<Voter> list;
    std::uint64_t deepest = 0;
    for (std::uint32_t j = 0; j < options.k && near.index(0, j) != near.missing(); ++j) {
      list.push_back({known[near.index(0, j)], near.distance(0, j)});
      deepest = std::max(deepest, depth[near.index(0, j)]);
    }
    const Vote vote = plain_vote(list, options);
    known.push_back(vote.winner);
    depth.push_back(deepest + 1);
    result.labels.push_back(vote.winner);
    result.depth = std::max(result.depth, deepest + 1);
    if (options.want_shares) put_shares(result, vote, i, labels.classes);
  }
  return result;
}

inline std::vector<double> oracle_regress(PointView points, std::span<const double> values, PointView queries,
                                          const apps::NeighborOptions& options) {
  const Neighbors lists = oracle_knn({points, &queries, options.metric}, options.k);
  std::vector<double> result;
  for (std::uint64_t i = 0; i < queries.rows(); ++i) {
    std::vector<Voter> list;
    for (std::uint32_t j = 0; j < options.k; ++j) list.push_back({0, lists.distance(i, j)});
    const std::vector<double> weights = weights_of(list, options.weights);
    double sum = 0, total = 0;
    for (std::uint32_t j = 0; j < options.k; ++j) {
      sum += weights[j] * values[lists.index(i, j)];
      total += weights[j];
    }
    result.push_back(sum / total);
  }
  return result;
}

}  // namespace kith::test
