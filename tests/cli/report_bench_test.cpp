// Reports of kith bench and kith tune, and the comparison of kith bench with an earlier run.
#include "cli/report_page.hpp"

#include <nlohmann/json.hpp>

namespace kith::test {
namespace {

using nlohmann::json;

class BenchReport : public ReportTest {
 protected:
  /// What an earlier run printed, but for its times: ten times those of `now`.
  std::string ten_times_slower(json now) const {
    for (json& one : now["cases"]) {
      one["build_ms"] = one["build_ms"].get<double>() * 10;
      one["query_ms"] = one["query_ms"].get<double>() * 10;
    }
    now["cases"].erase(0);
    return write("earlier.json", now.dump());
  }
};

TEST_F(BenchReport, ShowsTheSuiteAndSizes) {
  const Outcome outcome = run_kith({"bench", "--quick", "--json", "--report", path("r.html")});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
  const json now = json::parse(outcome.out);
  const ReportPage page(path("r.html"));
  expect_alone(page);
  const auto rows = page.table("Uniform points, the best of 2 rounds");
  ASSERT_EQ(rows.size(), now["cases"].size() + 1);
  for (std::size_t i = 0; i < now["cases"].size(); ++i) {
    EXPECT_EQ(rows[i + 1][0], std::to_string(now["cases"][i]["points"].get<int>()));
    EXPECT_EQ(std::strtod(rows[i + 1][7].c_str(), nullptr), now["cases"][i]["query_ms"].get<double>());
  }
  EXPECT_EQ(page.table("Each size").size(), now["sizes"].size() + 1);
  EXPECT_GT(now["copied_bytes_per_second"].get<double>(), 0);

  const std::string earlier = ten_times_slower(now);
  const Outcome compared = run_kith({"bench", "--quick", "--compare", earlier, "--report", path("c.html")});
  ASSERT_EQ(compared.code, 0) << compared;
  EXPECT_PRED2(has, compared.out, "earlier ms  faster\n");
  const ReportPage other(path("c.html"));
  expect_alone(other);
  EXPECT_PRED2(has, other.figure("Searches against earlier"), "x as fast");
  const auto both = other.table("Uniform points, the best of 2 rounds");
  EXPECT_EQ(both[1].back(), "–");  // the case that the file does not have
  EXPECT_EQ(std::strtod(both[2].at(11).c_str(), nullptr), now["cases"][1]["query_ms"].get<double>() * 10);
}

TEST_F(BenchReport, RefusesWhatBenchDidNotPrint) {
  expect_failure(run_kith({"bench", "--quick", "--compare", path("none.json")}), 5, "cannot be read");
  for (const char* text :
       {"", "[]", "{\"version\": 1}", "{\"version\": \"1\", \"threads\": 1, \"cases\": [{}]}",
        "{\"version\": \"1\", \"threads\": 1, \"cases\": [{\"points\": 1, \"queries\": 1, \"dims\": 1, \"k\": 1, "
        "\"dtype\": \"f99\", \"engine\": \"brute\", \"device\": \"cpu\", \"build_ms\": 1, \"query_ms\": 1}]}"}) {
    const Outcome outcome = run_kith({"bench", "--quick", "--compare", write("bad.json", text)});
    expect_failure(outcome, 4, "is not what kith bench --json prints");
  }
  write("x.html", "{}");
  expect_failure(run_kith({"bench", "--compare", path("x.html"), "--report", path("x.html")}), 2, "would be lost");
}

TEST_F(BenchReport, TuneShowsItsValues) {
  const Outcome outcome =
      run_kith({"tune", "--seconds", "1", "--out", path("mine.json"), "--json", "--report", path("r.html")});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const json tuned = json::parse(outcome.out);
  const ReportPage page(path("r.html"));
  expect_alone(page);
  const auto rows = page.table("Values");
  ASSERT_EQ(rows.size(), tuned["values"].size() + 1);
  for (std::size_t i = 0; i < tuned["values"].size(); ++i) {
    EXPECT_EQ(rows[i + 1][0], tuned["values"][i]["name"].get<std::string>());
    EXPECT_EQ(rows[i + 1][2], std::to_string(tuned["values"][i]["tuned"].get<std::uint64_t>()));
  }
  EXPECT_EQ(page.fact("Profile", "profile written"), path("mine.json"));
}

}  // namespace
}  // namespace kith::test
