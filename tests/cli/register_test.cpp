// kith register and kith track: poses, reports, moved points, lists of pairs, and what is refused.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace kith::test {
namespace {

class RegisterCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run_kith({"generate", "--shape", "surface", "-n", "3000", "-o", path("t.ply"), "-q"}).code, 0);
    // The source is the target turned and shifted: the pose undoes that.
    write("there.txt",
          "0.99881093935790721 -0.048751486325802614 0 0.02\n"
          "0.048751486325802614 0.99881093935790721 0 -0.01\n0 0 1 0.015\n0 0 0 1\n");
    ASSERT_EQ(
        run_kith({"transform", path("t.ply"), "--pose", path("there.txt"), "--inverse", "-o", path("s.ply"), "-q"})
            .code,
        0);
  }

  Outcome register_clouds(std::vector<std::string> more, const std::string& source = "s.ply") const {
    std::vector<std::string> words = {"register", path(source), path("t.ply")};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }

  static std::vector<double> numbers(const std::string& text) {
    std::istringstream in(text);
    std::vector<double> values;
    for (double x; in >> x;) values.push_back(x);
    return values;
  }

  void expect_truth(const std::vector<double>& pose) const {
    const std::vector<double> truth = {0.99881093935790721,
                                       -0.048751486325802614,
                                       0,
                                       0.02,
                                       0.048751486325802614,
                                       0.99881093935790721,
                                       0,
                                       -0.01,
                                       0,
                                       0,
                                       1,
                                       0.015};
    ASSERT_GE(pose.size(), 12u);
    for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(pose[i], truth[i], 1e-5) << i;
  }
};

TEST_F(RegisterCommand, PrintsThePoseAndASummary) {
  for (const char* method : {"auto", "point", "plane", "gicp"}) {
    const Outcome outcome = register_clouds({"--method", method});
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(numbers(outcome.out).size(), 16u);
    expect_truth(numbers(outcome.out));
    EXPECT_PRED2(has, outcome.err, "converged after");
    EXPECT_PRED2(has, outcome.err, "fitness 1 (3 000 pairs)");
  }
  EXPECT_EQ(register_clouds({"-q"}).err, "");
  EXPECT_EQ(register_clouds({"-q", "--threads", "1"}).out, register_clouds({"-q", "--threads", "5"}).out);
  EXPECT_PRED2(has, register_clouds({"--explain", "--keep", "0.9"}).err, "explain: method gicp");
}

TEST_F(RegisterCommand, FindsAPoseOfWhichNothingIsKnown) {
  ASSERT_EQ(run_kith({"generate", "--shape", "surface", "-n", "1500", "-o", path("t.ply"), "-q"}).code, 0);
  write("lost.txt", "0 0 -1 9\n-0.6 0.8 0 8\n0.8 0.6 0 7\n0 0 0 1\n");
  ASSERT_EQ(run_kith({"transform", path("t.ply"), "--pose", path("lost.txt"), "-o", path("far.ply"), "-q"}).code, 0);
  const Outcome outcome = register_clouds({"--initial", "global", "--explain", "--apply", path("back.npy")}, "far.ply");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.err, "from global");
  EXPECT_PRED2(has, outcome.err, "global start: ");
  EXPECT_PRED2(has, outcome.err, "fitness 1 (1 500 pairs)");
  EXPECT_EQ(register_clouds({"-q", "--initial", "global", "--threads", "1"}, "far.ply").out,
            register_clouds({"-q", "--initial", "global", "--threads", "3"}, "far.ply").out);
  const auto report = nlohmann::json::parse(register_clouds({"--initial", "global", "--json"}, "far.ply").out);
  EXPECT_EQ(report["global"]["found"], true);
  EXPECT_GT(report["global"]["consistent"], 3);
  EXPECT_EQ(report["global"]["pose"].size(), 4u);
  EXPECT_FALSE(nlohmann::json::parse(register_clouds({"--json"}).out).contains("global"));
  const Outcome tracked = run_kith({"track", path("t.ply"), path("far.ply"), path("far.ply"), "--initial", "global"});
  ASSERT_EQ(tracked.code, 0) << tracked;
  EXPECT_PRED2(has, tracked.err, "2 of 2 frames converged");
  write("pairs.csv", "source,target,initial\n" + path("far.ply") + "," + path("t.ply") + ",global\n");
  EXPECT_PRED2(has, run_kith({"register", "--pairs", path("pairs.csv"), "-o", path("p.csv")}).err, "1 of 1 pair");

  write("one.csv", "x,y,z\n1,2,3\n");
  EXPECT_PRED2(has, register_clouds({"--initial", "global"}, "one.csv").err, "global start: nothing found");
  EXPECT_EQ(register_clouds({"--initial", "global", "--scale"}).code, 2);
  EXPECT_EQ(register_clouds({"--initial", "global", "--global-voxel", "-1"}).code, 2);
}

TEST_F(RegisterCommand, WritesPoseAndMovedPoints) {
  ASSERT_EQ(register_clouds({"--out", path("pose.txt"), "--apply", path("moved.csv")}).out, "");
  expect_truth(numbers(content(path("pose.txt"))));
  ASSERT_EQ(run_kith({"transform", path("s.ply"), "--pose", path("pose.txt"), "-o", path("again.csv"), "-q"}).code, 0);
  EXPECT_EQ(content(path("moved.csv")), content(path("again.csv")));
  // From the result nothing is left to do.
  const Outcome again = register_clouds({"--initial", path("pose.txt"), "--json"});
  EXPECT_LT(nlohmann::json::parse(again.out)["iterations"][0]["shifted"].get<double>(), 1e-6);
}

TEST_F(RegisterCommand, ColumnsOfTheSourceTravelAlong) {
  ASSERT_EQ(run_kith({"normals", path("s.ply"), "-o", path("n.csv"), "-q"}).code, 0);
  const Outcome outcome = register_clouds({"--apply", path("moved.csv"), "-q"}, "n.csv");
  ASSERT_EQ(outcome.code, 0) << outcome;  // x, y and z are found among more columns
  EXPECT_EQ(content(path("moved.csv")).substr(0, 24), "x,y,z,nx,ny,nz,curvature");
  expect_truth(numbers(outcome.out));
}

TEST_F(RegisterCommand, CloudsComeThroughPipes) {
  // A pipe can be read only once, also where x, y and z are to be found among more columns.
  ASSERT_EQ(run_kith({"normals", path("s.ply"), "-o", path("n.csv"), "-q"}).code, 0);
  const std::string points = content(path("n.csv"));
  ASSERT_EQ(mkfifo(path("pipe.csv").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path("pipe.csv"), std::ios::binary) << points; });
  const Outcome outcome = register_clouds({"-q"}, "pipe.csv");
  writer.join();
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out, register_clouds({"-q"}, "n.csv").out);
}

TEST_F(RegisterCommand, ReportsAllAsJson) {
  const Outcome outcome = register_clouds({"--json"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["converged"], true);
  EXPECT_EQ(report["reason"], "converged");
  EXPECT_EQ(report["source_points"], 3000);
  EXPECT_EQ(report["inliers"], 3000);
  EXPECT_EQ(report["fitness"], 1);
  EXPECT_EQ(report["information"].size(), 6u);
  EXPECT_EQ(report["transformation"][3], nlohmann::json({0, 0, 0, 1}));
  for (const char* key : {"stage", "pairs", "error", "turned", "shifted", "max_distance"}) {
    EXPECT_TRUE(report["iterations"][0].contains(key)) << key;
  }
  EXPECT_GE(report["register_ms"], 0);
}

TEST_F(RegisterCommand, SaysInWhichDirectionCloudsSlide) {
  std::string plane = "x,y,z\n";
  for (int i = 0; i < 900; ++i) plane += std::to_string(i % 30) + "," + std::to_string(i / 30) + ",0\n";
  write("plane.csv", plane);
  const Outcome outcome = run_kith({"register", path("plane.csv"), path("plane.csv"), "--method", "plane"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.err, "note: the clouds can slide along (");
  EXPECT_PRED2(has, outcome.err, "note: the clouds can turn about (0, 0, 1)");
}

TEST_F(RegisterCommand, NotConvergedIsNoErrorUnlessRequired) {
  const Outcome outcome = register_clouds({"--max-iterations", "1"});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.err, "not converged after 1 iteration: the iterations were used up");
  const Outcome required = register_clouds({"--max-iterations", "1", "--require-convergence", "-q"});
  EXPECT_EQ(required.code, 3);
  EXPECT_EQ(required.out, outcome.out);  // the pose is there all the same
  EXPECT_EQ(required.err, "kith: register: not converged: the iterations were used up before it converged\n");
}

TEST_F(RegisterCommand, RegistersListsOfPairs) {
  write("list.csv", "source,target\n" + path("s.ply") + "," + path("t.ply") + "\n" + path("gone.ply") + "," +
                        path("t.ply") + "\n" + path("t.ply") + "," + path("t.ply") + "\n");
  const Outcome outcome = run_kith({"register", "--pairs", path("list.csv")});
  EXPECT_EQ(outcome.code, 5) << outcome;  // the file that is not there
  EXPECT_PRED2(has, outcome.err, "list.csv, row 2: ");
  EXPECT_PRED2(has, outcome.err, "2 of 3 pairs converged");
  std::istringstream lines(outcome.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "source,target,converged,iterations,inliers,fitness,inlier_rmse,"
            "m00,m01,m02,m03,m10,m11,m12,m13,m20,m21,m22,m23,reason");
  std::getline(lines, line);
  EXPECT_PRED2(has, line, ",yes,");
  std::getline(lines, line);
  EXPECT_PRED2(has, line, ",no,0,0,0,0,");
  std::getline(lines, line);
  EXPECT_PRED2(has, line, ",3000,1,0,1,0,0,0,0,1,0,0,0,0,1,0,converged");

  write("good.csv", "source,target,initial\n" + path("s.ply") + "," + path("t.ply") + "," + path("there.txt") + "\n");
  const Outcome reported = run_kith({"register", "--pairs", path("good.csv"), "--json"});
  ASSERT_EQ(reported.code, 0) << reported;
  const nlohmann::json report = nlohmann::json::parse(reported.out);
  ASSERT_EQ(report.size(), 1u);
  EXPECT_EQ(report[0]["row"], 1);
  EXPECT_EQ(report[0]["converged"], true);
  const std::string single = register_clouds({"--initial", path("there.txt"), "--json"}).out;
  EXPECT_EQ(report[0]["transformation"], nlohmann::json::parse(single)["transformation"]);
}

TEST_F(RegisterCommand, ListsOfPairsGiveWhatSingleCallsGive) {
  ASSERT_EQ(run_kith({"transform", path("s.ply"), "--translate", "0,0,0", "-o", path("s.csv"), "-q"}).code, 0);
  write("gaps.csv", "x,y,z\n0,0,0\n1,nan,1\n");
  write("flat.csv", "x,y\n0,0\n1,1\n");
  const std::vector<std::vector<std::string>> rows = {
      {"s.ply", "t.ply", path("there.txt")}, {"gaps.csv", "t.ply", ""},      {"s.csv", "t.ply", "centroid"},
      {"flat.csv", "t.ply", "identity"},     {"t.ply", "s.ply", "identity"}, {"s.ply", "t.ply", ""}};
  std::string list = "source,target,initial\n";
  for (const auto& row : rows) list += path(row[0]) + "," + path(row[1]) + "," + row[2] + "\n";
  write("list.csv", list);
  for (const char* threads : {"1", "3"}) {
    const Outcome outcome = run_kith({"register", "--pairs", path("list.csv"), "--json", "--threads", threads});
    EXPECT_EQ(outcome.code, 3) << outcome;  // of the first row that failed
    EXPECT_LT(outcome.err.find("row 2: "), outcome.err.find("row 4: ")) << outcome.err;
    EXPECT_PRED2(has, outcome.err, "gaps.csv: line 3, column 2 (y) is NaN");
    const nlohmann::json report = nlohmann::json::parse(outcome.out);
    ASSERT_EQ(report.size(), rows.size());
    for (const std::size_t i : {0u, 2u, 4u, 5u}) {
      const std::string start = rows[i][2].empty() ? "identity" : rows[i][2];
      const Outcome single =
          run_kith({"register", path(rows[i][0]), path(rows[i][1]), "--initial", start, "--json", "-q"});
      const nlohmann::json expected = nlohmann::json::parse(single.out);
      for (const char* key : {"transformation", "iterations", "information", "inliers", "reason"}) {
        EXPECT_EQ(report[i][key], expected[key]) << "row " << i + 1 << ", " << key;
      }
    }
    EXPECT_TRUE(report[1].contains("error") && report[3].contains("error"));
  }
}

TEST_F(RegisterCommand, RefusesWhatMakesNoSense) {
  expect_failure(run_kith({"register", path("s.ply")}), 2, "give SOURCE and TARGET");
  expect_failure(register_clouds({"--pairs", path("x.csv")}), 2, "leave SOURCE and TARGET out");
  expect_failure(register_clouds({"--method", "icp"}), 2, "--method");
  expect_failure(register_clouds({"--kernel", "huber"}), 2, "needs a positive scale");
  expect_failure(register_clouds({"--kernel-scale", "0.1"}), 2, "--kernel-scale goes with --kernel");
  expect_failure(run_kith({"track", path("t.ply"), path("s.ply"), "--kernel-scale", "0.1"}), 2,
                 "--kernel-scale goes with --kernel");
  expect_failure(register_clouds({"--keep", "2"}), 2, "share of pairs");
  expect_failure(register_clouds({"--dof", "5"}), 2, "--dof");
  expect_failure(register_clouds({"--out", path("s.ply")}), 2, "s.ply");
  expect_failure(register_clouds({"--apply", "-"}), 2, "standard output");
  expect_failure(register_clouds({"--initial", path("none.txt")}), 5, "none.txt");
  write("gaps.csv", "x,y,z\n0,0,0\n1,nan,1\n");
  expect_failure(register_clouds({}, "gaps.csv"), 3, "line 3, column 2 (y) is NaN");
  EXPECT_PRED2(has, register_clouds({"--skip-nonfinite"}, "gaps.csv").err, "1 point of the source");
  write("flat.csv", "x,y\n0,0\n1,1\n");
  expect_failure(register_clouds({}, "flat.csv"), 2, "2 dims");
}

TEST_F(RegisterCommand, TracksFramesFromPoseToPose) {
  // Three frames, each a step farther away: the last is out of reach of the first guess.
  std::vector<std::string> words = {"track", path("t.ply")};
  for (int i = 1; i <= 6; ++i) {
    const std::string name = path("f" + std::to_string(i) + ".ply");
    ASSERT_EQ(
        run_kith({"transform", path("t.ply"), "--translate", "0,0," + std::to_string(0.03 * i), "-o", name, "-q"}).code,
        0);
    words.push_back(name);
  }
  const Outcome outcome = run_kith(words);
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.err, "6 of 6 frames converged");
  const std::vector<double> rows = numbers(outcome.out);
  ASSERT_EQ(rows.size(), 72u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(rows[i * 12 + 11], -0.03 * static_cast<double>(i + 1), 1e-5);

  std::vector<std::string> more = words;
  more.insert(more.end(), {"--predict", "--to-first", "--json"});
  const Outcome reported = run_kith(more);
  ASSERT_EQ(reported.code, 0) << reported;
  std::istringstream lines(reported.out);
  std::string line;
  std::vector<nlohmann::json> frames;
  while (std::getline(lines, line)) frames.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(frames.size(), 7u);
  EXPECT_EQ(frames[0]["transformation"][2][3], 0);
  EXPECT_EQ(frames[6]["frame"], 6);
  // What a constant velocity predicts is right from the third frame on.
  EXPECT_LT(frames[3]["iterations"][0]["inlier_rmse"].get<double>(), 1e-4);
  EXPECT_GT(frames[2]["iterations"][0]["inlier_rmse"].get<double>(), 1e-3);

  expect_failure(run_kith({"track", path("t.ply"), path("gone.ply")}), 5, "gone.ply");
  const Outcome required =
      run_kith({"track", path("t.ply"), path("s.ply"), "--max-iterations", "1", "--require-convergence"});
  EXPECT_EQ(required.code, 3);
  EXPECT_PRED2(has, required.err, "1 of 1 frame did not converge");
  write("gaps.csv", "x,y,z\n0,0,0\n1,nan,1\n");
  expect_failure(run_kith({"track", path("t.ply"), path("gaps.csv"), "-q"}), 3,
                 "gaps.csv: line 3, column 2 (y) is NaN");
  write("bad.csv", "source,target\n" + path("gaps.csv") + "," + path("t.ply") + "\n");
  const Outcome bad = run_kith({"register", "--pairs", path("bad.csv")});
  EXPECT_EQ(bad.code, 3);
  EXPECT_PRED2(has, bad.err, "gaps.csv: line 3, column 2 (y) is NaN");
}

TEST_F(RegisterCommand, CloudsOfTwoTypesAreRegisteredAsF64) {
  ASSERT_EQ(run_kith({"transform", path("s.ply"), "--translate", "0,0,0", "-o", path("s.csv"), "-q"}).code, 0);
  const Outcome outcome = register_clouds({"--explain"}, "s.csv");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.err, "both are registered as f64");
  expect_truth(numbers(outcome.out));
}

}  // namespace
}  // namespace kith::test
