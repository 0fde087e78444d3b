// Messages survive their way as bytes, and bytes that are none are refused.
#include "shards/byte_transport.hpp"
#include "shards/dealt_points.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace kith::test {
namespace {

using shards::Bytes;

/// The same bytes again; no part of them is a message, and neither are more bytes.
template <typename Message>
void expect_sound(const Message& message) {
  const Bytes bytes = message.to_bytes();
  EXPECT_EQ(bytes, Message::from_bytes(bytes).to_bytes());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 8) {
    EXPECT_THROW(Message::from_bytes(std::span(bytes).first(size)), CorruptFile) << size << " bytes";
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(Message::from_bytes(longer), CorruptFile);
  // Changed bytes give another message or an error, but nothing else.
  std::mt19937_64 random(bytes.size());
  for (int i = 0; i < 300; ++i) {
    Bytes changed = bytes;
    changed[random() % changed.size()] = static_cast<std::byte>(random());
    try {
      Message::from_bytes(changed);
    } catch (const CorruptFile&) {
    } catch (const OutOfMemory&) {
    }
  }
}

TEST(Messages, AllSurviveTheirWay) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    std::mt19937_64 random(3);
    const PointSet points = nasty_points(NastyShape::two_values, dtype, 300, 3, random);
    const shards::NumberedPoints all{.points = points.view()};
    const shards::CutRules rules{.shards = 5, .metric = Metric::lp(3), .period = {5, 0, 6}};
    const shards::PointFacts facts = shards::PointFacts::of(all, rules);
    EXPECT_GT(facts.outside.count, 0u);  // its words are in the message
    expect_sound(facts);
    const shards::CutRules plain{.shards = 5};
    shards::CutPlan plan(shards::PointFacts::of(all, plain), plain);
    shards::PointCutter cutter(all, plain);
    for (int round = 0; round < 3; ++round) plan.take(cutter.counts(plan));
    expect_sound(plan);
    const ByteTransport transport({all}, plain);
    expect_sound(transport.map());
    expect_sound(transport.shards()[2].facts());
    while (!plan.is_done()) plan.take(cutter.counts(plan));
    expect_sound(cutter.points_of(plan, 1));
    const std::vector<std::uint64_t> below(300, 200);
    shards::KnnSearch search(transport.map(), points.view(), 4, {.max_distance = 9, .index_below = below});
    while (true) {
      std::vector<shards::SearchRequest> requests = search.next();
      if (requests.empty()) break;
      for (const shards::SearchRequest& request : requests) {
        expect_sound(request);
        const shards::SearchReply reply = transport.shards()[request.shard].answer(request);
        expect_sound(reply);
        search.take(reply);
      }
    }
  }
}

TEST(Messages, RepliesThatDoNotFitAreRefused) {
  std::mt19937_64 random(4);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 100, 2, random);
  const ByteTransport transport({{.points = points.view()}}, {.shards = 2});
  shards::KnnSearch search(transport.map(), points.view(), 3);
  const std::vector<shards::SearchRequest> requests = search.next();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_THROW(search.next(), UsageError);
  EXPECT_THROW(search.result(), UsageError);
  shards::SearchReply reply = transport.shards()[0].answer(requests[0]);
  shards::SearchReply wrong = reply;
  wrong.shard = 7;
  EXPECT_THROW(search.take(wrong), CorruptFile);
  wrong = reply;
  wrong.numbers = ValueArray<std::uint64_t>(std::span<const std::uint64_t>(reply.numbers).first(5));
  EXPECT_THROW(search.take(wrong), CorruptFile);
  wrong = reply;
  wrong.counts.push_back(0);
  EXPECT_THROW(search.take(wrong), CorruptFile);
  search.take(reply);
  EXPECT_THROW(search.take(reply), CorruptFile) << "twice";
  shards::SearchRequest request = sent(requests[1]);
  request.below.assign(3, 5);
  EXPECT_THROW(transport.shards()[1].answer(request), UsageError);
}

}  // namespace
}  // namespace kith::test
