// kith normals: columns that are added, directions, formats, and what is refused.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace kith::test {
namespace {

class NormalsCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    std::string plane = "x,y,z,name\n";
    for (int i = 0; i < 25; ++i)
      plane += std::to_string(i % 5) + "," + std::to_string(i / 5) + ",2,p" + std::to_string(i) + "\n";
    write("plane.csv", plane);
  }

  Outcome normals(const std::string& file, std::vector<std::string> more) const {
    std::vector<std::string> words = {"normals", path(file)};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
};

TEST_F(NormalsCommand, AddsColumnsBehindTheOthers) {
  const Outcome outcome = normals("plane.csv", {"--columns", "x,y,z"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n', 40)), "x,y,z,name,nx,ny,nz,curvature\n0,0,2,p0,0,0,1,0");
  EXPECT_PRED2(has, outcome.err, "25 normals (planes through the 16 nearest points, direction axis)");
  const Outcome below = normals("plane.csv", {"--columns", "x,y,z", "--viewpoint", "0,0,-5", "--radius", "1.5", "-q"});
  EXPECT_PRED2(has, below.out, "0,0,2,p0,0,0,-1,0\n");
  EXPECT_EQ(below.err, "");
  // Its own columns are replaced when it runs again.
  ASSERT_EQ(normals("plane.csv", {"--columns", "x,y,z", "-o", path("once.csv"), "-q"}).code, 0);
  EXPECT_EQ(normals("once.csv", {"--columns", "x,y,z", "-q"}).out, content(path("once.csv")));
}

TEST_F(NormalsCommand, NamesThemAsTheFormatDoes) {
  const std::vector<std::string> read = {"--columns", "x,y,z", "--ascii", "-q", "-o"};
  std::vector<std::string> ply = read, pcd = read;
  ply.push_back(path("n.ply"));
  pcd.push_back(path("n.pcd"));
  ASSERT_EQ(normals("plane.csv", ply).code, 0);
  ASSERT_EQ(normals("plane.csv", pcd).code, 0);
  EXPECT_PRED2(has, content(path("n.ply")), "property double nx");
  EXPECT_PRED2(has, content(path("n.pcd")), "FIELDS x y z normal_x normal_y normal_z curvature");
}

TEST_F(NormalsCommand, ReportsAndSkips) {
  write("gaps.csv", "x,y\n0,0\n1,0\nnan,1\n2,0\n3,0\n");
  expect_failure(normals("gaps.csv", {}), 3, "line 4, column 1 (x) is NaN");
  const Outcome outcome = normals("gaps.csv", {"--skip-nonfinite", "-k", "3"});
  EXPECT_EQ(outcome.out, "x,y,nx,ny,curvature\n0,0,0,1,0\n1,0,0,1,0\nnan,1,0,0,0\n2,0,0,1,0\n3,0,0,1,0\n") << outcome;
  EXPECT_PRED2(has, outcome.err, "1 point without a normal");
  const nlohmann::json report = nlohmann::json::parse(normals("gaps.csv", {"--skip-nonfinite", "--json"}).out);
  EXPECT_EQ(report["without_normal"], 1);
  EXPECT_EQ(report["neighbors"], 16);
  EXPECT_EQ(report["dims"], 2);
}

TEST_F(NormalsCommand, RefusesWhatMakesNoSense) {
  const std::vector<std::string> read = {"--columns", "x,y,z"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), read.begin(), read.end());
    return normals("plane.csv", more);
  };
  expect_failure(with({"-k", "2"}), 2, "define no plane");
  expect_failure(with({"-k", "5", "--radius", "1"}), 2, "give one of them");
  expect_failure(with({"--orient", "up"}), 2, "--orient");
  expect_failure(with({"--orient", "consistent", "--viewpoint", "0,0,0"}), 2, "--orient viewpoint");
  expect_failure(with({"--viewpoint", "1"}), 2, "--viewpoint");
  expect_failure(with({"--json", "--out", "-"}), 2, "standard output");
  expect_failure(with({"--out", path("plane.csv")}), 2, "plane.csv");
}

}  // namespace
}  // namespace kith::test
