// What a job over shards takes: how many of them a query asks follows from where uniform points would be cut.
#include "shards/check_rules.hpp"

#include <kith/shards/shard_plan.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace kith::shards::inline v0 {
namespace {

constexpr std::uint64_t kNumberBytes = 8, kCountBytes = 4, kLimitBytes = 16;
constexpr std::uint64_t kSumBytes = 16384;  // of a cut in a round
/// Entries of the second round that come before the k-th of the first, of k: measured on uniform points, 3-D, k = 8.
constexpr double kBetterShare = 0.25;

/// A side of a box in the unit cube, and which of its ends are cuts.
struct Side {
  double length = 1;
  bool is_low_cut = false, is_high_cut = false;
};

/// Shards [begin, end) in a box: how many of them a query asks that may be anywhere in the cube, if shards within
/// `reach` of it in every coordinate are asked.
double asked_of(std::vector<Side>& sides, std::uint32_t begin, std::uint32_t end, double reach) {
  if (end - begin == 1) {
    double share = 1;
    for (const Side& side : sides) share *= std::min(1.0, side.length + reach * (side.is_low_cut + side.is_high_cut));
    return share;
  }
  const auto widest =
      std::max_element(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.length < b.length; });
  const std::uint32_t middle = (begin + end) / 2;
  const Side whole = *widest;
  const double left = whole.length * (middle - begin) / (end - begin);
  *widest = {left, whole.is_low_cut, true};
  const double asked_left = asked_of(sides, begin, middle, reach);
  *widest = {whole.length - left, true, whole.is_high_cut};
  const double asked_right = asked_of(sides, middle, end, reach);
  *widest = whole;
  return asked_left + asked_right;
}

/// The distance within which uniform points in a unit cube have k neighbours.
double reach_of(double points, double dims, double k) {
  const double log_ball = dims / 2 * std::log(std::numbers::pi) - std::lgamma(dims / 2 + 1);
  return std::exp((std::log(k / points) - log_ball) / dims);
}

}  // namespace

ShardPlan plan_shards(const JobRequest& request, std::uint32_t shards) {
  require_rules({.shards = shards});
  ShardPlan plan;
  plan.shards = shards;
  const std::uint64_t queries = request.queries.value_or(request.points);
  const bool is_self = !request.queries;
  if (request.points > 0 && request.k > 0 && shards > 1) {
    std::vector<Side> sides(request.dims);
    const double reach = reach_of(static_cast<double>(request.points), request.dims, request.k);
    plan.asked = std::clamp(asked_of(sides, 0, shards, reach), 1.0, static_cast<double>(shards));
  }
  JobRequest own = request;
  own.points = request.points / shards + (request.points % shards != 0);
  own.queries = static_cast<std::uint64_t>(std::ceil(static_cast<double>(queries) * plan.asked / shards));
  if (is_self && shards == 1) own.queries.reset();
  plan.of_shard = plan_job(own);

  if (shards == 1) return plan;
  const std::uint64_t coordinate = size_of(request.dtype), row = request.dims * coordinate;
  const double elsewhere = 1 - 1.0 / shards;
  const std::uint32_t levels = static_cast<std::uint32_t>(std::ceil(std::log2(shards)));
  const std::uint32_t rounds_of_level = request.dtype == DType::f32 ? 3 : 6;
  plan.rounds = levels * rounds_of_level;
  plan.sum_bytes = std::uint64_t{rounds_of_level} * (shards - 1) * kSumBytes;
  plan.moved_bytes = static_cast<std::uint64_t>(static_cast<double>(request.points) * elsewhere *
                                                static_cast<double>(row + kNumberBytes));
  if (queries == 0) return plan;
  // A point asks its own shard without a message. Queries of others lie anywhere, or close to their shard: at most
  // those that lie elsewhere are sent.
  const double all = static_cast<double>(queries);
  const double first = is_self ? 0 : all * elsewhere, second = all * (plan.asked - 1);
  const double entry = static_cast<double>(kNumberBytes + coordinate), k = request.k;
  plan.messages = std::uint64_t{2} * shards * (shards - 1) * (is_self ? 1 : 2);
  plan.query_bytes =
      static_cast<std::uint64_t>(first * static_cast<double>(row) + second * static_cast<double>(row + kLimitBytes));
  plan.answer_bytes =
      static_cast<std::uint64_t>(first * (kCountBytes + k * entry) + second * (kCountBytes + kBetterShare * k * entry));
  return plan;
}

}  // namespace kith::shards::inline v0
