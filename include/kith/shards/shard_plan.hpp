// What a job over shards will take: of each shard, and in messages between them.
#pragma once

#include <kith/export.hpp>
#include <kith/job_plan.hpp>

#include <cstdint>

namespace kith::shards::inline v0 {

/// A job of `plan_job` over shards that work at the same time, each on a device of its own. Counts of bytes are sums
/// over all participants, of which each has as many points and queries as the others. Searches of uniform points in a
/// cube are as said; what fills space unevenly has fewer neighbours behind cuts, or more.
struct ShardPlan {
  std::uint32_t shards = 1;
  /// The job of one shard: its points, and the queries that ask it.
  JobPlan of_shard;

  std::uint32_t rounds = 0;       ///< of sums while points are cut, at most, if coordinates differ
  std::uint64_t sum_bytes = 0;    ///< that a participant hands in, and gets back, in all of them
  std::uint64_t moved_bytes = 0;  ///< of points that go to a shard elsewhere, with their numbers

  double asked = 1;  ///< shards that a query asks, on the average
  /// Messages of one batch of queries at each participant, at most: requests and replies.
  std::uint64_t messages = 0;
  std::uint64_t query_bytes = 0;   ///< in requests to shards elsewhere
  std::uint64_t answer_bytes = 0;  ///< in replies from there
};

/// Throws UsageError as `plan_job` does, and for a number of shards that is not from 1 to 4096.
KITH_EXPORT ShardPlan plan_shards(const JobRequest& request, std::uint32_t shards);

}  // namespace kith::shards::inline v0
