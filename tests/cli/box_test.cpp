// kith box: points in boxes, counts, reports, and boxes that do not fit.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

namespace kith::test {
namespace {

using nlohmann::json;

class BoxCommand : public CommandTest {};

constexpr const char* kSquare = "0,0\n1,0\n0,1\n1,1\n0.5,0.5\n3,-2\n";

TEST_F(BoxCommand, FindsThePointsInside) {
  write("p.csv", kSquare);
  write("b.csv", "0,0,1,1\n0.5,0.5,0.5,0.5\n1,1,0,0\n-inf,-inf,inf,0\n");
  const Outcome outcome = run_kith({"box", path("p.csv"), path("b.csv")});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out, "query,index\n0,0\n0,1\n0,2\n0,3\n0,4\n1,4\n3,0\n3,1\n3,5\n");
  EXPECT_PRED2(has, outcome.err, "9 points in 4 boxes among 6 points");
  EXPECT_EQ(run_kith({"box", path("p.csv"), path("b.csv"), "--count"}).out, "query,count\n0,5\n1,1\n2,0\n3,3\n");
  for (const char* engine : {"brute", "kdtree"}) {
    EXPECT_EQ(run_kith({"box", path("p.csv"), path("b.csv"), "--engine", engine, "--leaf-size", "1"}).out, outcome.out);
  }
  ASSERT_EQ(run_kith({"box", path("p.csv"), path("b.csv"), "--out", path("b.tsv")}).code, 0);
  EXPECT_PRED2(has, content(path("b.tsv")), "query\tindex\n0\t0\n");
  ASSERT_EQ(run_kith({"box", path("p.csv"), path("b.csv"), "--out", path("b.npz")}).code, 0);
  ASSERT_EQ(run_kith({"box", path("p.csv"), path("b.csv"), "--count", "--out", path("c.npz")}).code, 0);
  for (const char* name : {"offsets.npy", "indices.npy", "points.npy"}) {
    EXPECT_PRED2(has, content(path("b.npz")), name);
  }
  expect_failure(run_kith({"verify", path("b.npz"), path("p.csv")}), 4, "holds points in boxes, not neighbours");
}

TEST_F(BoxCommand, ColumnsAreThoseOfThePoints) {
  write("p.csv", "name,x,y\na,1,2\nb,5,6\n");
  write("b.csv", "x0,y0,x1,y1\n0,0,2,2\n");
  EXPECT_EQ(run_kith({"box", path("p.csv"), path("b.csv"), "--columns", "x,y", "--quiet"}).out, "query,index\n0,0\n");
  EXPECT_EQ(run_kith({"box", path("p.csv"), "-", "--columns", "x,y", "--quiet"}, "0,0,9,9\n").out,
            "query,index\n0,0\n0,1\n");
}

TEST_F(BoxCommand, Reports) {
  write("p.csv", kSquare);
  write("b.csv", "0,0,1,1\n0,0,nan,1\n");
  write("a.csv", "1\n0\n1\n0\n1\n0\n");
  expect_failure(run_kith({"box", path("p.csv"), path("b.csv")}), 3, "upper corners: row 1, column 0");
  const Outcome outcome =
      run_kith({"box", path("p.csv"), path("b.csv"), "--json", "--skip-nonfinite", "--allow", path("a.csv")});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["points"], 6);
  EXPECT_EQ(report["queries"], 2);
  EXPECT_EQ(report["found"], 3);
  EXPECT_EQ(report["allowed_points"], 3);
  EXPECT_EQ(report["skipped_queries"], 1);
  EXPECT_FALSE(report.contains("metric"));
}

TEST_F(BoxCommand, EmptyFilesAreDefined) {
  write("p.csv", "x,y\n");
  write("b.csv", "0,0,1,1\n");
  EXPECT_EQ(run_kith({"box", path("p.csv"), path("b.csv"), "--count"}).out, "query,count\n0,0\n");
  write("p.csv", kSquare);
  write("b.csv", "a,b,c,d\n");
  EXPECT_EQ(run_kith({"box", path("p.csv"), path("b.csv")}).out, "query,index\n");
}

TEST_F(BoxCommand, SaysWhatDoesNotFit) {
  write("p.csv", kSquare);
  write("b.csv", "0,0,1\n");
  expect_failure(run_kith({"box", path("p.csv"), path("b.csv")}), 2, "need 4: all lower, then all upper ends");
  expect_failure(run_kith({"box", path("p.csv")}), 2, "BOXES is required");
  expect_failure(run_kith({"box", "-", "-"}), 2, "cannot both be standard input");
  expect_failure(run_kith({"box", path("p.csv"), path("b.csv"), "--metric", "l1"}), 2, "there is no flag --metric");
}

}  // namespace
}  // namespace kith::test
