// kith transform: moved points and normals, what poses are read and written, and what is refused.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace kith::test {
namespace {

class TransformCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("p.csv", "x,y,z\n1,2,3\n4,5,6\n");
    write("quarter.txt", "# a quarter turn and a step\n0 -1 0 10\n1 0 0 20\n0 0 1 30\n0 0 0 1\n");
  }

  Outcome transform(const std::string& file, std::vector<std::string> more) const {
    std::vector<std::string> words = {"transform", path(file)};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
};

TEST_F(TransformCommand, MovesAndMovesBack) {
  const Outcome outcome = transform("p.csv", {"--pose", path("quarter.txt")});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out, "x,y,z\n8,21,33\n5,24,36\n");
  EXPECT_PRED2(has, outcome.err, "2 points moved");
  ASSERT_EQ(transform("p.csv", {"--pose", path("quarter.txt"), "--out", path("m.csv"), "-q"}).err, "");
  EXPECT_EQ(transform("m.csv", {"--pose", path("quarter.txt"), "--inverse", "-q"}).out, content(path("p.csv")));
}

TEST_F(TransformCommand, TurnsAndTranslatesWithoutAFile) {
  EXPECT_EQ(transform("p.csv", {"--rotate-z", "90", "--translate", "10,20,30", "-q"}).out, "x,y,z\n8,21,33\n5,24,36\n");
  EXPECT_EQ(transform("p.csv", {"--pose", path("quarter.txt"), "--rotate-z", "-90", "-q"}).out,
            "x,y,z\n21,-8,33\n24,-5,36\n");
  write("flat.csv", "x,y\n1,2\n");
  EXPECT_EQ(transform("flat.csv", {"--translate", "0.5,-1", "-q"}).out, "x,y\n1.5,1\n");
}

TEST_F(TransformCommand, OtherColumnsStayAndNormalsTurn) {
  write("n.csv", "x,y,z,name,nx,ny,nz,score\n1,2,3,a,1,0,0,35.50\n4,5,6,b,0,0,1,2\n");
  const std::vector<std::string> flags = {"--columns", "x,y,z", "--pose", path("quarter.txt"), "-q"};
  EXPECT_EQ(transform("n.csv", flags).out, "x,y,z,name,nx,ny,nz,score\n8,21,33,a,0,1,0,35.50\n5,24,36,b,0,0,1,2\n");
  std::vector<std::string> fewer = flags;
  fewer.insert(fewer.end(), {"--drop", "nx,ny,nz,name"});
  EXPECT_EQ(transform("n.csv", fewer).out, "x,y,z,score\n8,21,33,35.50\n5,24,36,2\n");
  write("m.csv", "x,y,z,Normal_X,normal_y,normal_z\n1,2,3,0,1,0\n4,5,6,nan,0,0\n");
  EXPECT_EQ(transform("m.csv", flags).out, "x,y,z,Normal_X,normal_y,normal_z\n8,21,33,-1,0,0\n5,24,36,nan,nan,nan\n");
  std::vector<std::string> carried = flags;
  carried.insert(carried.end(), {"--carry", "nx,ny,nz"});
  EXPECT_EQ(transform("n.csv", carried).out, "x,y,z,nx,ny,nz\n8,21,33,0,1,0\n5,24,36,0,0,1\n");
  // A column of whole numbers is of an integer type in PLY.
  ASSERT_EQ(run_kith({"convert", path("n.csv"), path("n.ply"), "--drop", "name", "-q"}).code, 0);
  EXPECT_EQ(transform("n.ply", {"--pose", path("quarter.txt"), "--drop", "score", "-q"}).out,
            "x,y,z,nx,ny,nz\n8,21,33,0,1,0\n5,24,36,0,0,1\n");
  EXPECT_EQ(transform("p.csv", {"--columns", "y,x,z", "--translate", "1,0,0", "-q"}).out, "y,x,z\n3,1,3\n6,4,6\n");
}

TEST_F(TransformCommand, KeepsTypesInPly) {
  ASSERT_EQ(transform("p.csv", {"--dtype", "f32", "--translate", "0,0,0", "--out", path("p.ply"), "-q"}).code, 0);
  ASSERT_EQ(transform("p.ply", {"--pose", path("quarter.txt"), "--out", path("m.ply"), "--ascii", "-q"}).code, 0);
  EXPECT_PRED2(has, content(path("m.ply")), "property float x");
  EXPECT_PRED2(has, content(path("m.ply")), "8 21 33");
}

TEST_F(TransformCommand, WritesThePoseAndAReport) {
  for (const std::string name : {"out.txt", "out.npy", "out.json"}) {
    ASSERT_EQ(transform("p.csv", {"--pose", path("quarter.txt"), "--inverse", "--write-pose", path(name), "-q"}).code,
              0);
    EXPECT_EQ(transform("p.csv", {"--pose", path(name), "--inverse", "-q"}).out, "x,y,z\n8,21,33\n5,24,36\n");
  }
  const Outcome outcome = transform("p.csv", {"--pose", path("quarter.txt"), "--json"});
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["points"], 2);
  EXPECT_EQ(report["pose"][1][3], 20);
  EXPECT_EQ(report["dtype"], "f64");
  const Outcome explained = transform("p.csv", {"--pose", path("quarter.txt"), "--explain"});
  EXPECT_PRED2(has, explained.err, "explain: 1 0 0 20");
}

TEST_F(TransformCommand, BadRowsAreNamedOrBecomeNan) {
  write("gaps.csv", "x,y\n0,0\nnan,1\n5,5\n");
  expect_failure(transform("gaps.csv", {"--translate", "1,1"}), 3, "line 3, column 1 (x) is NaN");
  EXPECT_EQ(transform("gaps.csv", {"--translate", "1,1", "--skip-nonfinite", "-q"}).out, "x,y\n1,1\nnan,nan\n6,6\n");
}

TEST_F(TransformCommand, RefusesWhatMakesNoSense) {
  expect_failure(transform("p.csv", {}), 2, "say how: --pose FILE");
  expect_failure(transform("p.csv", {"--pose", path("absent.txt")}), 5, "absent.txt");
  expect_failure(transform("p.csv", {"--pose", write("t.txt", "1 0 0 0\n0 1 0 0\n0 0 1 0\n1 2 3 1\n")}), 3,
                 "but must be 0 0 0 1");
  expect_failure(transform("p.csv", {"--pose", write("s.txt", "1 2 3\n")}), 3, "a pose is 4 rows of 4 numbers");
  expect_failure(transform("p.csv", {"--rotate-z", "400"}), 2, "between -360 and 360");
  expect_failure(transform("p.csv", {"--translate", "1"}), 2, "--translate: \"1\" is not X,Y,Z");
  expect_failure(transform("p.csv", {"--translate", "1,2,inf"}), 2, "must be finite");
  expect_failure(transform("p.csv", {"--rotate-z", "9", "--write-pose", "-"}), 2, "--write-pose - would write");
  expect_failure(transform("p.csv", {"--pose", write("f.txt", "1 0 0 0\n0 1 0 0\n0 0 0 0\n"), "--inverse"}), 3,
                 "no inverse");
  write("four.csv", "a,b,c,d\n1,2,3,4\n");
  expect_failure(transform("four.csv", {"--rotate-z", "90"}), 2, "4 dims");
  expect_failure(transform("p.csv", {"--rotate-z", "90", "--json", "--out", "-"}), 2, "standard output");
  expect_failure(transform("p.csv", {"--rotate-z", "90", "--out", path("p.csv")}), 2, "p.csv");
  expect_failure(run_kith({"transform"}), 2, "POINTS is required");
}

TEST_F(TransformCommand, NoPointsAndManyThreads) {
  write("none.csv", "x,y,z\n");
  EXPECT_EQ(transform("none.csv", {"--rotate-z", "90", "-q"}).out, "x,y,z\n");
  ASSERT_EQ(run_kith({"generate", "--shape", "lidar", "--points", "50k", "--out", path("scan.npy")}).code, 0);
  for (const std::string threads : {"1", "2", "5"}) {
    ASSERT_EQ(transform("scan.npy", {"--rotate-z", "33.3", "--threads", threads, "--out", path(threads + ".npy")}).code,
              0);
    EXPECT_EQ(content(path("1.npy")), content(path(threads + ".npy")));
  }
}

}  // namespace
}  // namespace kith::test
