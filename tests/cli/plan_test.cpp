// kith plan: counts and sizes as people write them, the table, JSON, and what it refuses.
#include "cli/run_command.hpp"

#include <kith/job_plan.hpp>
#include <kith/shards/shard_plan.hpp>

#include <nlohmann/json.hpp>

namespace kith::test {
namespace {

using nlohmann::json;

json planned(std::vector<std::string> words) {
  words.insert(words.begin(), "plan");
  words.push_back("--json");
  const Outcome outcome = run_kith(words);
  EXPECT_EQ(outcome.code, 0) << outcome;
  return json::parse(outcome.out, nullptr, false);
}

TEST(PlanCommand, TakesCountsAndSizesInShort) {
  const json plan = planned({"--points", "2e6", "-k", "5", "--queries", "10k", "--dtype", "f64", "--device", "cpu"});
  EXPECT_EQ(plan["points"], 2000000);
  EXPECT_EQ(plan["dims"], 3);
  EXPECT_EQ(plan["k"], 5);
  EXPECT_EQ(plan["queries"], 10000);
  EXPECT_EQ(plan["self"], false);
  EXPECT_EQ(plan["dtype"], "f64");
  EXPECT_EQ(plan["plans"].size(), 1);
  for (const auto& [text, bytes] : std::vector<std::pair<std::string, std::uint64_t>>{{"40GB", 40000000000},
                                                                                      {"16GiB", 17179869184},
                                                                                      {"1.5 MiB", 1572864},
                                                                                      {"300kB", 300000},
                                                                                      {"2tb", 2000000000000},
                                                                                      {"1e9", 1000000000},
                                                                                      {"3G", 3000000000},
                                                                                      {"2T", 2000000000000},
                                                                                      {"3 Gi", 3221225472},
                                                                                      {"500000B", 500000}}) {
    EXPECT_EQ(planned({"-n", "10", "--memory", text, "--device", "cpu"})["plans"][0]["memory_bytes"], bytes) << text;
  }
}

TEST(PlanCommand, SaysWhatTheLibrarySays) {
  const json plan = planned({"--points", "100M", "--device", "a100-80"})["plans"][0];
  const JobPlan same = plan_job({.points = 100000000, .card = &card_named("A100-80")});
  EXPECT_EQ(plan["device"], "A100-80");
  EXPECT_EQ(plan["engine"], "kdtree");
  EXPECT_EQ(plan["memory_bytes"], same.memory_bytes);
  EXPECT_EQ(plan["index_bytes"], same.index_bytes);
  EXPECT_EQ(plan["build_bytes"], same.build_bytes);
  EXPECT_EQ(plan["search_bytes"], same.search_bytes);
  EXPECT_EQ(plan["host_bytes"], same.host_bytes);
  EXPECT_EQ(plan["chunks"], same.chunks);
  EXPECT_EQ(plan["estimated_build_ms"], *same.build_ms);
  EXPECT_TRUE(planned({"-n", "1M", "-d", "9", "--device", "T4"})["plans"][0]["estimated_build_ms"].is_null());
}

TEST(PlanCommand, PrintsALineForEachFact) {
  const Outcome one = run_kith({"plan", "--points", "2e9", "--queries", "1e9", "--k", "8", "--device", "H200"});
  EXPECT_EQ(one.code, 0) << one;
  EXPECT_EQ(one.err, "");
  for (const std::string text :
       {"2 000 000 000 points of 3 dimensions (f32), 1 000 000 000 queries, k = 8\nH200, engine",
        "\n  memory  150 GB; 72.3 GB needed at least\n", "all points in one index",
        "332 chunks of up to 3 012 049 queries", "search about 609 ms"}) {
    EXPECT_PRED2(has, one.out, text);
  }
  EXPECT_PRED2(has, run_kith({"plan", "-n", "1M", "--engine", "covertree", "--device", "T4"}).out,
               "build not measured, search not measured");
  EXPECT_PRED2(has, run_kith({"plan", "-n", "5e9", "--device", "H200"}).out, "at most 4 294 967 294 points");
  EXPECT_PRED2(has, run_kith({"plan", "-n", "1M", "--memory", "9MB", "--device", "cpu"}).out, "an index each");
  EXPECT_PRED2(has, run_kith({"plan", "-n", "1M", "--memory", "2kB", "--device", "T4"}).out, "not even one point fits");
}

TEST(PlanCommand, CountsWhatShardsSend) {
  const json plan = planned({"-n", "1e10", "--queries", "1e9", "--shards", "16", "--device", "H200"});
  const shards::ShardPlan same =
      shards::plan_shards({.points = 10000000000, .queries = 1000000000, .card = &card_named("H200")}, 16);
  EXPECT_EQ(plan["of_shards"]["shards"], 16);
  EXPECT_EQ(plan["of_shards"]["moved_bytes"], same.moved_bytes);
  EXPECT_EQ(plan["of_shards"]["query_bytes"], same.query_bytes);
  EXPECT_EQ(plan["of_shards"]["answer_bytes"], same.answer_bytes);
  EXPECT_EQ(plan["of_shards"]["asked"], same.asked);
  EXPECT_EQ(plan["plans"][0]["index_bytes"], same.of_shard.index_bytes);
  const Outcome text = run_kith({"plan", "-n", "1e10", "--shards", "16", "--device", "H200"});
  EXPECT_EQ(text.code, 0) << text;
  EXPECT_PRED2(has, text.out, "\n16 shards, each on a device of its own; sent in all\n  build   188 GB of points");
  EXPECT_PRED2(has, text.out, "\neach shard: H200, engine");
  EXPECT_PRED2(has, text.out, " needed at least\n");
  EXPECT_PRED2(has, run_kith({"plan", "-n", "1e10", "--shards", "16", "--all"}).out, "\neach shard\ndevice ");
  EXPECT_EQ(run_kith({"plan", "-n", "1e6", "--shards", "0"}).code, 2);
  EXPECT_EQ(run_kith({"plan", "-n", "1e6", "--shards", "4097"}).code, 2);
}

TEST(PlanCommand, HasATableOfAllCards) {
  const Outcome table = run_kith({"plan", "--points", "1e9", "--all"});
  EXPECT_EQ(table.code, 0) << table;
  EXPECT_PRED2(has, table.out, "\ncpu ");
  for (const GpuCard& card : known_cards()) EXPECT_PRED2(has, table.out, "\n" + std::string(card.name) + " ");
  EXPECT_EQ(planned({"-n", "1e9", "--all"})["plans"].size(), known_cards().size() + 1);
}

TEST(PlanCommand, RefusesWhatItDoesNotKnow) {
  const Outcome card = run_kith({"plan", "-n", "10", "--device", "H2000"});
  EXPECT_EQ(card.code, 2);
  for (const std::string text : {"--device", "H2000", "T4", "RTX 4090", "B200"}) EXPECT_PRED2(has, card.err, text);
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"-n", "x"},
                                                       {"-n", "2e12"},
                                                       {"-n", "1", "--dims", "0"},
                                                       {"-n", "1", "--memory", "0"},
                                                       {"-n", "1", "--memory", "GB"},
                                                       {"-n", "1", "--memory", "5iB"},
                                                       {"-n", "1", "--memory", "1.2.3GB"},
                                                       {"-n", "1", "--memory", "TB"},
                                                       {"-n", "1", "--memory", "-1GB"},
                                                       {"-n", "1", "--memory", "1 litre"},
                                                       {"-n", "1", "--device", "cudaa"},
                                                       {"-n", "1", "--device", "cpu", "--all"}};
  for (std::vector<std::string> words : wrong) {
    words.insert(words.begin(), "plan");
    const Outcome outcome = run_kith(words);
    EXPECT_EQ(outcome.code, 2) << outcome;
    EXPECT_EQ(outcome.out, "");
  }
}

class MemoryFlag : public CommandTest {};

TEST_F(MemoryFlag, IsObeyedOrRefusedWithTheNumber) {
  const std::string points = path("limited.npy");
  ASSERT_EQ(run_kith({"generate", "--points", "20000", "--out", points, "-q"}).code, 0);
  const auto knn = [&](const std::string& memory) {
    return run_kith(
        {"knn", points, "-k", "4", "--device", "cpu", "--out", path("limited.npz"), "-q", "--memory", memory});
  };
  const Outcome refused = knn("300kB");
  EXPECT_EQ(refused.code, 6) << refused;
  EXPECT_PRED2(has, refused.err, "but the limit allows 300000");
  const std::uint64_t needed = std::stoull(refused.err.substr(refused.err.find("needs ") + 6));
  const json plan = planned({"-n", "20000", "--queries", "0", "--device", "cpu"})["plans"][0];
  EXPECT_EQ(needed, plan["needed_bytes"]);  // the points, and the peak of the build
  EXPECT_EQ(knn(std::to_string(needed - 1)).code, 6);
  EXPECT_EQ(knn("10M").code, 0);
  EXPECT_EQ(run_kith({"knn", points, "-k", "4", "--memory", "0"}).code, 2);
  for (const char* command : {"build", "dedupe"}) {
    EXPECT_EQ(run_kith({command, points, "--out", path("limited.npz"), "--memory", "250k"}).code, 6) << command;
  }
}

}  // namespace
}  // namespace kith::test
