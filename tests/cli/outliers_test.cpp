// kith outliers: what is removed or marked, the report, and what is refused.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace kith::test {
namespace {

class OutliersCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("p.csv", "x,y,name\n0,0,a\n1,0,b\n0,1,c\n50,50,d\n1,1,e\n");
  }

  Outcome outliers(const std::string& file, std::vector<std::string> more) const {
    std::vector<std::string> words = {"outliers", path(file)};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
};

TEST_F(OutliersCommand, RemovesWhatLiesApart) {
  const std::vector<std::string> rule = {"--columns", "x,y", "--neighbors", "2", "--ratio", "1"};
  const Outcome outcome = outliers("p.csv", rule);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out, "x,y,name\n0,0,a\n1,0,b\n0,1,c\n1,1,e\n");
  EXPECT_PRED2(has, outcome.err, "1 outlier of 5 points");
  std::vector<std::string> both = rule;
  both.insert(both.end(), {"--outliers", path("noise.csv"), "--out", path("clean.csv"), "-q"});
  EXPECT_EQ(outliers("p.csv", both).err, "");
  EXPECT_EQ(content(path("noise.csv")), "x,y,name\n50,50,d\n");
  EXPECT_EQ(content(path("clean.csv")), outcome.out);
}

TEST_F(OutliersCommand, CountsNeighboursWithinARadius) {
  EXPECT_EQ(outliers("p.csv", {"--columns", "x,y", "--radius", "1", "--min-neighbors", "2", "-q"}).out,
            "x,y,name\n0,0,a\n1,0,b\n0,1,c\n1,1,e\n");
  EXPECT_EQ(outliers("p.csv", {"--columns", "x,y", "--radius", "1", "--min-neighbors", "3", "-q"}).out, "x,y,name\n");
  EXPECT_EQ(outliers("p.csv", {"--columns", "x,y", "--radius", "0", "--min-neighbors", "0", "-q"}).out,
            content(path("p.csv")));
}

TEST_F(OutliersCommand, MarksInsteadOfRemoving) {
  EXPECT_EQ(outliers("p.csv", {"--columns", "x,y", "--neighbors", "2", "--ratio", "1", "--flags", "noise", "-q"}).out,
            "x,y,name,noise\n0,0,a,0\n1,0,b,0\n0,1,c,0\n50,50,d,1\n1,1,e,0\n");
  write("plain.xyz", "0 0\n1 0\n0 1\n50 50\n");
  EXPECT_EQ(outliers("plain.xyz", {"--radius", "2", "--min-neighbors", "1", "--flags", "noise", "-q"}).out,
            "x,y,noise\n0,0,0\n1,0,0\n0,1,0\n50,50,1\n");
}

TEST_F(OutliersCommand, ReportsAsJson) {
  const nlohmann::json report =
      nlohmann::json::parse(outliers("p.csv", {"--columns", "x,y", "--neighbors", "1", "--json"}).out);
  EXPECT_EQ(report["points"], 5);
  EXPECT_EQ(report["kept"], 5);
  EXPECT_EQ(report["ratio"], 2);
  EXPECT_GT(report["threshold"].get<double>(), report["mean"].get<double>());
  const nlohmann::json counted = nlohmann::json::parse(
      outliers("p.csv", {"--columns", "x,y", "--radius", "1", "--min-neighbors", "1", "--json"}).out);
  EXPECT_EQ(counted["outliers"], 1);
  EXPECT_EQ(counted["radius"], 1);
}

TEST_F(OutliersCommand, BadRowsAreNamedOrLeftOut) {
  write("gaps.csv", "x,y\n0,0\nnan,1\n0,1\n");
  expect_failure(outliers("gaps.csv", {"--neighbors", "1"}), 3, "line 3, column 1 (x) is NaN");
  const Outcome outcome = outliers("gaps.csv", {"--neighbors", "1", "--skip-nonfinite"});
  EXPECT_EQ(outcome.out, "x,y\n0,0\n0,1\n");
  EXPECT_PRED2(has, outcome.err, "1 point with NaN or infinity");
}

TEST_F(OutliersCommand, RefusesWhatMakesNoSense) {
  expect_failure(outliers("p.csv", {}), 2, "say how, by either --neighbors K or --radius R");
  expect_failure(outliers("p.csv", {"--neighbors", "1", "--radius", "1"}), 2, "say how");
  expect_failure(outliers("p.csv", {"--neighbors", "0"}), 2, "--neighbors");
  expect_failure(outliers("p.csv", {"--radius", "1"}), 2, "--radius and --min-neighbors go together");
  expect_failure(outliers("p.csv", {"--neighbors", "1", "--min-neighbors", "1"}), 2, "go together");
  expect_failure(outliers("p.csv", {"--radius", "1", "--min-neighbors", "1", "--ratio", "1"}), 2, "--ratio goes with");
  expect_failure(outliers("p.csv", {"--neighbors", "1", "--flags", ""}), 2, "--flags");
  expect_failure(outliers("p.csv", {"--neighbors", "1", "--outliers", "-"}), 2, "standard output");
  expect_failure(outliers("p.csv", {"--neighbors", "1", "--out", path("a.csv"), "--outliers", path("a.csv")}), 2,
                 "the same file");
  expect_failure(run_kith({"outliers"}), 2, "POINTS is required");
}

TEST_F(OutliersCommand, IsTheSameForEveryNumberOfThreads) {
  ASSERT_EQ(run_kith({"generate", "--shape", "lidar", "--points", "20k", "--out", path("scan.npy")}).code, 0);
  for (const std::string threads : {"1", "2", "5"}) {
    ASSERT_EQ(outliers("scan.npy", {"--neighbors", "8", "--threads", threads, "--out", path(threads + ".npy")}).code,
              0);
    EXPECT_EQ(content(path("1.npy")), content(path(threads + ".npy")));
  }
}

}  // namespace
}  // namespace kith::test
