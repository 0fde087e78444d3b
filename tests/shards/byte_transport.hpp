// Participants that share nothing but bytes: a transport in small, which cuts, builds and searches by messages alone.
#pragma once

#include <kith/shards/cut.hpp>
#include <kith/shards/search.hpp>
#include <kith/shards/shard.hpp>
#include <kith/shards/shard_map.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::test {

/// `value` after its way as bytes.
template <typename Message>
Message sent(const Message& value) {
  return Message::from_bytes(value.to_bytes());
}

/// The shards and the map that every participant has after the collective build.
class ByteTransport {
 public:
  ByteTransport(const std::vector<shards::NumberedPoints>& parts, const shards::CutRules& rules,
                const BuildOptions& options = {}) {
    std::vector<shards::PointFacts> told;
    for (const auto& part : parts) told.push_back(sent(shards::PointFacts::of(part, rules, 1)));
    const shards::PointFacts facts = shards::PointFacts::joined(told);
    plan_ = shards::CutPlan(facts, rules);
    std::vector<shards::PointCutter> cutters;
    for (const auto& part : parts) cutters.emplace_back(part, rules, 1);
    while (!plan_.is_done()) {
      plan_ = sent(plan_);
      std::vector<std::uint64_t> sums(plan_.counts(), 0);
      for (auto& cutter : cutters) {
        const std::vector<std::uint64_t> counts = cutter.counts(plan_);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
      }
      plan_.take(sums);
    }
    std::vector<shards::ShardFacts> of_shards;
    for (std::uint32_t s = 0; s < rules.shards; ++s) {
      std::vector<shards::ShardPoints> points;
      for (auto& cutter : cutters) points.push_back(sent(cutter.points_of(plan_, s)));
      shards_.push_back(shards::Shard::build(std::move(points), rules, options));
      of_shards.push_back(sent(shards_.back().facts()));
    }
    map_ = sent(shards::ShardMap(facts, rules, std::move(of_shards)));
  }

  const shards::CutPlan& plan() const { return plan_; }
  const shards::ShardMap& map() const { return map_; }
  const std::vector<shards::Shard>& shards() const { return shards_; }

  /// Until a search is done; returns how many rounds it took.
  int run(shards::Search& search, std::span<const std::uint64_t> allowed = {}) const {
    int rounds = 0;
    for (auto requests = search.next(); !requests.empty(); requests = search.next(), ++rounds) {
      // Replies come in any order: here the last one first.
      for (std::size_t i = requests.size(); i-- > 0;) {
        const shards::SearchRequest request = sent(requests[i]);
        const shards::Shard& shard = shards_[request.shard];
        const std::vector<std::uint64_t> here = shard.allowed_here(allowed);
        search.take(sent(shard.answer(request, {.allowed = here, .threads = 1})));
      }
    }
    return rounds;
  }

 private:
  shards::CutPlan plan_;
  shards::ShardMap map_;
  std::vector<shards::Shard> shards_;
};

}  // namespace kith::test
