// Points that two participants hold are cut into shards and searched by messages, as over a network: the answer is that
// of one index.
#include <kith/kith.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace shards = kith::shards;

int main() {
  const kith::PointSet points = kith::apps::generate({.points = 10000, .dims = 3}).points;
  const shards::NumberedPoints parts[] = {{.points = points.view().slice(0, 4000)},
                                          {.points = points.view().slice(4000, 6000), .first_number = 4000}};
  const shards::CutRules rules{.shards = 8};

  // Every participant describes its points; all of them hear of all.
  const shards::PointFacts told[] = {shards::PointFacts::of(parts[0], rules), shards::PointFacts::of(parts[1], rules)};
  const shards::PointFacts facts = shards::PointFacts::joined(told);

  // Rounds of counts, which are summed over the participants, find the cuts.
  shards::CutPlan plan(facts, rules);
  shards::PointCutter cutters[] = {{parts[0], rules}, {parts[1], rules}};
  while (!plan.is_done()) {
    std::vector<std::uint64_t> sums = cutters[0].counts(plan);
    const std::vector<std::uint64_t> others = cutters[1].counts(plan);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
    plan.take(sums);
  }

  // Each point moves once, to its shard.
  std::vector<shards::Shard> all;
  std::vector<shards::ShardFacts> facts_of_shards;
  for (std::uint32_t s = 0; s < rules.shards; ++s) {
    std::vector<shards::ShardPoints> points_of_shard;
    for (shards::PointCutter& cutter : cutters) points_of_shard.push_back(cutter.points_of(plan, s));
    all.push_back(shards::Shard::build(std::move(points_of_shard), rules));
    facts_of_shards.push_back(all.back().facts());
  }
  const shards::ShardMap map(facts, rules, facts_of_shards);

  // Requests and replies are plain structs that become bytes.
  const kith::PointSet queries = kith::apps::generate({.points = 500, .dims = 3, .seed = 2}).points;
  shards::SearchTraffic traffic;
  shards::KnnSearch search(map, queries.view(), 8, {.traffic = &traffic});
  for (auto requests = search.next(); !requests.empty(); requests = search.next()) {
    for (const shards::SearchRequest& request : requests) {
      const shards::Bytes sent = request.to_bytes();
      const shards::SearchRequest received = shards::SearchRequest::from_bytes(sent);
      search.take(all[received.shard].answer(received));
    }
  }
  const kith::WideNeighbors found = search.result();
  std::printf("%u rounds, %.2f shards for each query\n", static_cast<unsigned>(traffic.rounds),
              static_cast<double>(traffic.queries) / 500);

  // Within one process all of this is one call, and either way the answer is that of one index.
  const auto index = shards::ShardedIndex::build(points.view(), {.shards = 8});
  const kith::Neighbors expected = kith::Index::build(points.view()).knn(queries.view(), 8);
  if (found != index.knn(queries.view(), 8)) return 1;
  for (std::uint64_t q = 0; q < 500; ++q) {
    for (std::uint32_t j = 0; j < 8; ++j) {
      if (found.index(q, j) != expected.index(q, j) || found.distance(q, j) != expected.distance(q, j)) return 1;
    }
  }
  return 0;
}
