// kith distance: figures as text and JSON, distances per point, and what is refused.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace kith::test {
namespace {

class DistanceCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("a.csv", "x,y\n0,0\n3,4\n10,0\n");
    write("b.csv", "x,y\n0,0\n3,0\n");
  }

  Outcome distance(std::vector<std::string> more) const {
    std::vector<std::string> words = {"distance", path("a.csv"), path("b.csv")};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
};

TEST_F(DistanceCommand, PrintsTheFigures) {
  const Outcome outcome = distance({"--percentiles", "50,99"});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out,
            "matched 3 of 3\nmean 3.6666666666666665\nrms 4.654746681256314\npercentile 50 4\npercentile 99 7\n"
            "max 7 (row 2)\n");
  const Outcome both = distance({"--symmetric", "-q"});
  EXPECT_PRED2(has, both.out, "from B to A\nmatched 2 of 2\nmean 1.5\n");
  EXPECT_PRED2(has, both.out, "chamfer (sum of means) 5.166666666666666\n");
  EXPECT_PRED2(has, both.out, "hausdorff 7\n");
  EXPECT_EQ(both.err, "");
}

TEST_F(DistanceCommand, ReportsAsJson) {
  const nlohmann::json report =
      nlohmann::json::parse(distance({"--symmetric", "--percentiles", "50", "--max-distance", "5", "--json"}).out);
  EXPECT_EQ(report["forward"]["matched"], 2);
  EXPECT_EQ(report["forward"]["unmatched"], 1);
  EXPECT_EQ(report["forward"]["mean"], 2);
  EXPECT_EQ(report["forward"]["percentiles"]["50"], 0);
  EXPECT_EQ(report["backward"]["max"], 3);
  EXPECT_EQ(report["chamfer"], 3.5);
  EXPECT_EQ(report["chamfer_squared"], 12.5);
  EXPECT_EQ(report["hausdorff"], 4);
}

TEST_F(DistanceCommand, WritesDistancesBesideTheColumns) {
  ASSERT_EQ(distance({"--out", path("d.csv"), "-q"}).code, 0);
  EXPECT_EQ(content(path("d.csv")), "x,y,distance\n0,0,0\n3,4,4\n10,0,7\n");
  write("named.csv", "x,y,name\n0,0,a\n3,4,b\n");
  ASSERT_EQ(run_kith({"distance", path("named.csv"), path("b.csv"), "--columns", "x,y", "--max-distance", "1", "--out",
                      path("e.csv")})
                .code,
            0);
  EXPECT_EQ(content(path("e.csv")), "x,y,name,distance\n0,0,a,0\n3,4,b,inf\n");
}

TEST_F(DistanceCommand, ComparesF32WithF64) {
  ASSERT_EQ(
      run_kith({"transform", path("a.csv"), "--dtype", "f32", "--rotate-z", "0", "--out", path("a.npy"), "-q"}).code,
      0);
  const Outcome outcome = run_kith({"distance", path("a.npy"), path("b.csv")});
  EXPECT_PRED2(has, outcome.out, "mean 3.6666666666666665");
  EXPECT_PRED2(has, outcome.err, "distances are computed in f64");
}

TEST_F(DistanceCommand, EmptyCloudsHaveNoFigures) {
  write("none.csv", "x,y\n");
  EXPECT_EQ(run_kith({"distance", path("a.csv"), path("none.csv"), "-q"}).out, "matched 0 of 3\n");
  const nlohmann::json report =
      nlohmann::json::parse(run_kith({"distance", path("none.csv"), path("a.csv"), "--json", "--symmetric"}).out);
  EXPECT_EQ(report["forward"]["mean"], nullptr);
  EXPECT_EQ(report["hausdorff"], nullptr);
}

TEST_F(DistanceCommand, BadRowsAreNamedOrLeftOut) {
  write("gaps.csv", "x,y\n0,0\nnan,1\n");
  expect_failure(run_kith({"distance", path("gaps.csv"), path("b.csv")}), 3, "gaps.csv: line 3, column 1 (x) is NaN");
  expect_failure(run_kith({"distance", path("b.csv"), path("gaps.csv")}), 3, "gaps.csv: line 3, column 1 (x) is NaN");
  EXPECT_PRED2(has, run_kith({"distance", path("gaps.csv"), path("b.csv"), "--skip-nonfinite"}).out, "matched 1 of 2");
}

TEST_F(DistanceCommand, RefusesWhatMakesNoSense) {
  expect_failure(distance({"--percentiles", "101"}), 2, "from 0 to 100");
  expect_failure(distance({"--percentiles", "50,,90"}), 2, "--percentiles");
  expect_failure(distance({"--max-distance", "-1"}), 2, "--max-distance");
  expect_failure(distance({"--out", "-"}), 2, "--out: the figures go to standard output");
  expect_failure(distance({"--out", path("a.csv")}), 2, "a.csv");
  write("three.csv", "x,y,z\n1,2,3\n");
  expect_failure(run_kith({"distance", path("a.csv"), path("three.csv")}), 2, "they must be the same");
  expect_failure(run_kith({"distance", path("a.csv")}), 2, "B is required");
  expect_failure(run_kith({"distance", "-", "-"}), 2, "standard input");
}

}  // namespace
}  // namespace kith::test
