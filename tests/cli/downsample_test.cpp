// kith downsample: which points stay, which columns come along, the map, the report, and what is refused.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace kith::test {
namespace {

class DownsampleCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("p.csv", "x,y,name,score\n0.25,0,a,35.50\n0.75,0,b,2\n5,5,c,3\n0.5,0.125,d,4\n");
  }

  Outcome downsample(const std::string& file, std::vector<std::string> more) const {
    std::vector<std::string> words = {"downsample", path(file)};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
};

TEST_F(DownsampleCommand, OnePointPerVoxel) {
  const Outcome outcome = downsample("p.csv", {"--columns", "x,y", "--voxel", "1"});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out, "x,y,name,score\n0.5,0.041666666666666664,d,4\n5,5,c,3\n");
  EXPECT_PRED2(has, outcome.err, "2 of 4 points (voxels of 1, the mean of each)");
  EXPECT_EQ(downsample("p.csv", {"--columns", "x,y", "--voxel", "1", "--keep", "nearest", "-q"}).out,
            "x,y,name,score\n0.5,0.125,d,4\n5,5,c,3\n");
  EXPECT_EQ(downsample("p.csv", {"--columns", "x,y", "--voxel", "1", "--keep", "first", "-q"}).out,
            "x,y,name,score\n0.25,0,a,35.50\n5,5,c,3\n");
}

TEST_F(DownsampleCommand, FarthestPointsAndDistances) {
  EXPECT_EQ(downsample("p.csv", {"--columns", "x,y", "--farthest", "3", "--drop", "name", "-q"}).out,
            "x,y,score\n0.25,0,35.50\n5,5,3\n0.75,0,2\n");
  EXPECT_EQ(downsample("p.csv", {"--columns", "x,y", "--farthest", "2", "--start", "2", "--drop", "all", "-q"}).out,
            "x,y\n5,5\n0.25,0\n");
  EXPECT_EQ(downsample("p.csv", {"--columns", "x,y", "--distance", "0.4", "--carry", "name", "-q"}).out,
            "x,y,name\n0.25,0,a\n0.75,0,b\n5,5,c\n");
}

TEST_F(DownsampleCommand, WritesMapAndCounts) {
  const Outcome outcome = downsample("p.csv", {"--columns", "x,y", "--voxel", "1", "--counts", "n", "--drop",
                                               "name,score", "--map", path("m.csv"), "-q"});
  EXPECT_EQ(outcome.out, "x,y,n\n0.5,0.041666666666666664,3\n5,5,1\n");
  EXPECT_EQ(content(path("m.csv")), "row,kept,kept_row\n0,0,3\n1,0,3\n2,1,2\n3,0,3\n");
  const Outcome farthest = downsample("p.csv", {"--columns", "x,y", "--farthest", "2", "--counts", "n", "--drop",
                                                "name,score", "--map", path("f.csv"), "-q"});
  EXPECT_EQ(farthest.out, "x,y,n\n0.25,0,3\n5,5,1\n");
  EXPECT_EQ(content(path("f.csv")), "row,kept,kept_row\n0,0,0\n1,0,0\n2,1,2\n3,0,0\n");
}

TEST_F(DownsampleCommand, ReportsAsJson) {
  const Outcome outcome = downsample("p.csv", {"--columns", "x,y", "--voxel", "1", "--json", "--out", path("o.ply")});
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["points"], 4);
  EXPECT_EQ(report["kept"], 2);
  EXPECT_EQ(report["voxel"], 1);
  EXPECT_EQ(report["keep"], "mean");
  EXPECT_EQ(report["farthest"], nullptr);
  EXPECT_EQ(files(), (std::vector<std::string>{"o.ply", "p.csv"}));
}

TEST_F(DownsampleCommand, BadRowsAreNamedOrLeftOut) {
  write("gaps.csv", "x,y\n0,0\nnan,1\n5,5\n");
  expect_failure(downsample("gaps.csv", {"--voxel", "1"}), 3, "line 3, column 1 (x) is NaN");
  const Outcome outcome = downsample("gaps.csv", {"--voxel", "1", "--skip-nonfinite", "--map", path("m.csv")});
  EXPECT_EQ(outcome.out, "x,y\n0,0\n5,5\n");
  EXPECT_PRED2(has, outcome.err, "1 point with NaN or infinity");
  EXPECT_EQ(content(path("m.csv")), "row,kept,kept_row\n0,0,0\n1,,\n2,1,2\n");
}

TEST_F(DownsampleCommand, RefusesWhatMakesNoSense) {
  const std::vector<std::string> columns = {"--columns", "x,y"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), columns.begin(), columns.end());
    return downsample("p.csv", more);
  };
  expect_failure(with({}), 2, "say how, by one of");
  expect_failure(with({"--voxel", "1", "--distance", "1"}), 2, "say how, by one of");
  expect_failure(with({"--voxel", "1", "--counts", "x"}), 2, "take the place of a coordinate");
  expect_failure(with({"--voxel", "1", "--counts", ""}), 2, "the name of the column is empty");
  expect_failure(with({"--voxel", "0"}), 2, "above 0");
  expect_failure(with({"--voxel", "-1"}), 2, "--voxel");
  expect_failure(with({"--voxel", "1", "--keep", "last"}), 2, "--keep");
  expect_failure(with({"--distance", "1", "--keep", "first"}), 2, "--keep goes with --voxel");
  expect_failure(with({"--voxel", "1", "--start", "1"}), 2, "--start goes with --farthest");
  expect_failure(with({"--farthest", "1", "--start", "4"}), 2, "row 4 of 4 points");
  expect_failure(with({"--voxel", "1e-320"}), 3, "more than 2^53 voxels");
  expect_failure(with({"--voxel", "1", "--map", "-"}), 2, "standard output");
  expect_failure(run_kith({"downsample"}), 2, "POINTS is required");
}

TEST_F(DownsampleCommand, IsTheSameForEveryNumberOfThreads) {
  ASSERT_EQ(run_kith({"generate", "--shape", "lidar", "--points", "15k", "--out", path("scan.npy")}).code, 0);
  for (const std::vector<std::string>& rule :
       {std::vector<std::string>{"--voxel", "0.5"}, {"--farthest", "200"}, {"--distance", "1"}}) {
    for (const std::string threads : {"1", "2", "5"}) {
      std::vector<std::string> words = rule;
      words.insert(words.end(),
                   {"--threads", threads, "--out", path(threads + ".npy"), "--map", path(threads + ".npz")});
      ASSERT_EQ(downsample("scan.npy", words).code, 0);
      EXPECT_EQ(content(path("1.npy")), content(path(threads + ".npy")));
      EXPECT_EQ(content(path("1.npz")), content(path(threads + ".npz")));
    }
  }
}

}  // namespace
}  // namespace kith::test
