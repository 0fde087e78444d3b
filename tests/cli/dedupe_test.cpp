// kith dedupe: what stays, which columns come along, the map, the report, and flags that contradict each other.
#include "cli/run_command.hpp"

#include <kith/io/read_points.hpp>

#include <nlohmann/json.hpp>

#include <vector>

namespace kith::test {
namespace {

using Json = nlohmann::json;

class DedupeCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("found.csv", "x,y,score,name\n0,0,1,a\n5,5,2,b\n-0,0,3,c\n0.5,0,2,d\n");
  }

  Outcome dedupe(const std::string& file, std::vector<std::string> more) const {
    std::vector<std::string> words = {"dedupe", path(file)};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
};

TEST_F(DedupeCommand, KeepsTheFirstAndTheOrder) {
  write("p.csv", "x,y\n3,1\n1,1\n3,1\n2,2\n1,1\n");
  const Outcome outcome = dedupe("p.csv", {});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out, "x,y\n3,1\n1,1\n2,2\n");
  EXPECT_PRED2(has, outcome.err, "3 of 5 points kept, 2 removed (points equal to a kept one, the first stays)");
  EXPECT_EQ(dedupe("p.csv", {"--quiet"}).err, "");
  EXPECT_EQ(run_kith({"dedupe", "-", "-q"}, "x,y\n1,2\n1,2\n").out, "x,y\n1,2\n");
}

TEST_F(DedupeCommand, KeepsTheBestAndItsColumns) {
  EXPECT_EQ(dedupe("found.csv", {"--label", "name", "--by", "score", "-q"}).out,
            "x,y,score,name\n5,5,2,b\n-0,0,3,c\n0.5,0,2,d\n");
  EXPECT_EQ(dedupe("found.csv", {"--label", "name", "--by", "score", "--lowest", "-q"}).out,
            "x,y,score,name\n0,0,1,a\n5,5,2,b\n0.5,0,2,d\n");
  EXPECT_EQ(dedupe("found.csv", {"--columns", "x,y", "--by", "3", "--tolerance", "1", "-q"}).out,
            "x,y,score,name\n5,5,2,b\n-0,0,3,c\n");
  EXPECT_EQ(dedupe("found.csv", {"--columns", "x,y", "--carry", "score", "-q"}).out,
            "x,y,score\n0,0,1\n5,5,2\n0.5,0,2\n");
  // A score that is a coordinate too counts as one, and is written once.
  EXPECT_EQ(dedupe("found.csv", {"--columns", "y,score", "--by", "score", "-q"}).out, content(path("found.csv")));
  EXPECT_EQ(dedupe("found.csv", {"--columns", "y", "--by", "score", "--carry", "x,score", "-q"}).out,
            "y,score,x\n5,2,5\n0,3,-0\n");
}

TEST_F(DedupeCommand, WritesTheMap) {
  const std::vector<std::string> flags = {"--label", "name", "--by",  "score",         "--tolerance",
                                          "1",       "-q",   "--out", path("kept.csv")};
  const auto with_map = [&](const std::string& name) {
    std::vector<std::string> words = flags;
    words.insert(words.end(), {"--map", path(name)});
    return dedupe("found.csv", words);
  };
  ASSERT_EQ(with_map("map.csv").code, 0);
  EXPECT_EQ(content(path("map.csv")), "row,kept,kept_row\n0,1,2\n1,0,1\n2,1,2\n3,1,2\n");
  EXPECT_EQ(content(path("kept.csv")), "x,y,score,name\n5,5,2,b\n-0,0,3,c\n");
  ASSERT_EQ(with_map("map.npy").code, 0);
  const io::PointFile map = io::read_points(path("map.npy"));
  ASSERT_EQ(map.points.rows(), 4u);
  EXPECT_EQ(map.view().at(0, 0), 1);
  EXPECT_EQ(map.view().at(1, 0), 0);
  ASSERT_EQ(with_map("map.npz").code, 0);
  const io::PointFile kept = io::read_points(path("map.npz"), {.array = "kept"});
  ASSERT_EQ(kept.points.rows(), 2u);
  EXPECT_EQ(kept.view().at(0, 0), 1);
  EXPECT_EQ(kept.view().at(1, 0), 2);
  EXPECT_EQ(io::read_points(path("map.npz"), {.array = "map"}).points.rows(), 4u);
}

TEST_F(DedupeCommand, ColumnsComeAlongInBinaryFiles) {
  write("c.ply",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "property uchar red\nproperty double weight\nend_header\n1 2 3 200 0.1\n1 2 3 201 0.2\n4 5 6 7 0.3\n");
  ASSERT_EQ(dedupe("c.ply", {"--by", "weight", "--carry", "red", "--out", path("out.ply")}).code, 0);
  const io::PointFile file = io::read_points(path("out.ply"), {.columns = {"x", "y", "z", "weight", "red"}});
  ASSERT_EQ(file.points.rows(), 2u);
  EXPECT_EQ(file.points.dtype(), DType::f64);  // the weights are
  EXPECT_EQ(file.view().at(0, 3), 0.2);
  EXPECT_EQ(file.view().at(0, 4), 201);
  EXPECT_EQ(file.view().at(1, 0), 4);
  ASSERT_EQ(dedupe("c.ply", {"--carry", "red", "--out", path("small.ply")}).code, 0);
  EXPECT_EQ(io::read_points(path("small.ply"), {.columns = {"x", "red"}}).points.dtype(), DType::f32);
}

TEST_F(DedupeCommand, AttributesPassThroughWithTheirTypes) {
  const std::string head =
      "ply\nformat ascii 1.0\ncomment by hand\nelement vertex {}\nproperty float x\nproperty float y\nproperty float "
      "z\nproperty uchar red\nproperty short nx\nproperty double weight\nend_header\n";
  const auto with = [&](const std::string& count) { return std::string(head).replace(head.find("{}"), 2, count); };
  write("c.ply", with("3") + "1 2 3 200 -7 0.1\n1 2 3 201 8 0.2\n4 5 6 7 9 0.3\n");
  const Outcome outcome = dedupe("c.ply", {"--ascii", "--out", path("out.ply")});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(content(path("out.ply")), with("2") + "1 2 3 200 -7 0.1\n4 5 6 7 9 0.3\n");
  EXPECT_EQ(outcome.err.find("note"), std::string::npos) << outcome;
  // A pipe is read once and gives the same.
  const Outcome piped = run_kith({"dedupe", "-", "--out", path("piped.ply"), "--ascii", "-q"}, content(path("c.ply")));
  ASSERT_EQ(piped.code, 0) << piped;
  EXPECT_EQ(content(path("piped.ply")), content(path("out.ply")));
  ASSERT_EQ(dedupe("c.ply", {"--out", path("out.pcd"), "--drop", "nx,weight"}).code, 0);
  EXPECT_PRED2(has, content(path("out.pcd")), "FIELDS x y z red\nSIZE 4 4 4 1\nTYPE F F F U\n");
  ASSERT_EQ(dedupe("c.ply", {"--out", path("bare.ply"), "--drop", "all"}).code, 0);
  EXPECT_EQ(content(path("bare.ply")).find("red"), std::string::npos);
  const Outcome npy = dedupe("c.ply", {"--out", path("out.npy")});
  ASSERT_EQ(npy.code, 0) << npy;
  EXPECT_PRED2(has, npy.err,
               "kith: note: npy files hold one matrix, the coordinates, so these columns are left out: red");
  EXPECT_EQ(io::read_points(path("out.npy")).points.dims(), 3u);
  ASSERT_EQ(dedupe("c.ply", {"--out", path("out.csv.gz")}).code, 0);
  EXPECT_EQ(io::read_points(path("out.csv.gz")).points.dims(), 6u);
}

TEST_F(DedupeCommand, TextStaysBesideThePoints) {
  write("t.csv", "name,x,y,note\n\"Smith, J.\",1.50,2,\nb,1.5,2,n/a\nc,3,4.00,x\n");
  EXPECT_EQ(dedupe("t.csv", {"--columns", "x,y", "-q"}).out, "name,x,y,note\n\"Smith, J.\",1.50,2,\nc,3,4.00,x\n");
  const Outcome ply = dedupe("t.csv", {"--columns", "x,y", "--out", path("t.ply")});
  EXPECT_EQ(ply.code, 0) << ply;
  EXPECT_PRED2(has, ply.err, "ply files hold no text, so these columns are left out: name, note");
}

TEST_F(DedupeCommand, ReportsAsJson) {
  const Outcome outcome =
      dedupe("found.csv", {"--columns", "x,y", "--json", "--tolerance", "1", "--metric", "l1", "--explain"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const Json report = Json::parse(outcome.out);
  EXPECT_EQ(report["points"], 4);
  EXPECT_EQ(report["kept"], 2);
  EXPECT_EQ(report["removed"], 2);
  EXPECT_EQ(report["skipped_points"], 0);
  EXPECT_EQ(report["tolerance"], 1);
  EXPECT_EQ(report["metric"], "l1");
  EXPECT_EQ(report["device"], "cpu");
  for (const char* key : {"read_ms", "dedupe_ms", "write_ms"}) EXPECT_TRUE(report[key].is_number()) << key;
  EXPECT_PRED2(has, outcome.err, "explain: removing points within 1 (l1) of a kept one");
  EXPECT_PRED2(has, outcome.err, "explain: device cpu");
  EXPECT_EQ(files(), std::vector<std::string>{"found.csv"});
}

TEST_F(DedupeCommand, BadRowsAreNamedOrLeftOut) {
  write("gaps.csv", "x,y\n0,0\n,1\n0,0\n5,5\n");
  expect_failure(dedupe("gaps.csv", {"--out", path("o.csv")}), 3, "gaps.csv");
  EXPECT_EQ(files(), (std::vector<std::string>{"found.csv", "gaps.csv"}));
  write("nan.csv", "x,y\n0,0\nnan,1\n0,0\n5,5\n");
  expect_failure(dedupe("nan.csv", {"--out", path("o.csv")}), 3, "line 3, column 1 (x) is NaN");
  const Outcome outcome = dedupe("gaps.csv", {"--skip-nonfinite", "--map", path("m.csv")});
  EXPECT_EQ(outcome.out, "x,y\n0,0\n5,5\n");
  EXPECT_PRED2(has, outcome.err, "1 point with NaN or infinity");
  EXPECT_EQ(content(path("m.csv")), "row,kept,kept_row\n0,0,0\n1,,\n2,0,0\n3,1,3\n");
}

TEST_F(DedupeCommand, RefusesFlagsThatMakeNoSense) {
  expect_failure(dedupe("found.csv", {"--metric", "l1"}), 2, "--metric goes with --tolerance");
  expect_failure(dedupe("found.csv", {"--lowest"}), 2, "--lowest goes with --by");
  expect_failure(dedupe("found.csv", {"--device", "tpu"}), 2, "--device: unknown device");
  expect_failure(dedupe("found.csv", {"--metric", "edit", "--device", "cuda"}), 2, "--device is for points");
  expect_failure(dedupe("found.csv", {"--tolerance", "-1"}), 2, "--tolerance: -1 is not a distance");
  expect_failure(dedupe("found.csv", {"--by", "speed"}), 2, "speed");
  expect_failure(dedupe("found.csv", {"--columns", "x,y", "--by", "name"}), 3, "holds text");
  expect_failure(dedupe("found.csv", {"--json", "--out", "-"}), 2, "standard output");
  expect_failure(dedupe("found.csv", {"--map", "-"}), 2, "standard output");
  expect_failure(dedupe("found.csv", {"--map", path("m.txt.gz")}), 2, "--map: ");
  expect_failure(dedupe("found.csv", {"--map", path("m.ply")}), 2, "--map: ");
  expect_failure(dedupe("found.csv", {"--out", path("o.laz")}), 2, "points are written as");
  expect_failure(dedupe("found.csv", {"--columns", "x,y", "--drop", "x"}), 2, "--drop: x is a coordinate");
  expect_failure(dedupe("found.csv", {"--columns", "x,y", "--drop", "speed"}), 2, "no column \"speed\"");
  expect_failure(dedupe("found.csv", {"--out", path("o.csv"), "--map", path("o.csv")}), 2, "the same file");
  expect_failure(dedupe("found.csv", {"--out", path("none/o.csv")}), 5, "none/o.csv");
  expect_failure(dedupe("found.csv", {"--carry", "a,,b"}), 2, "--carry");
  expect_failure(run_kith({"dedupe"}), 2, "POINTS is required");
  expect_failure(dedupe("absent.csv", {}), 5, "absent.csv");
}

TEST_F(DedupeCommand, SaysThatLargeWholeNumbersAreRoundedBeforeItMergesThem) {
  write("ids.csv", "id,x\n9007199254740993,1\n9007199254740992,1\n");
  const Outcome merged = run_kith({"dedupe", path("ids.csv")});
  EXPECT_EQ(merged.out, "id,x\n9007199254740992,1\n");
  EXPECT_PRED2(has, merged.err, "1 whole number has more digits than f64 holds and was rounded; the first is ");
  EXPECT_PRED2(has, merged.err, "9007199254740993 in line 2, column 1 (id)");
  const Outcome kept = run_kith({"dedupe", path("ids.csv"), "--columns", "x", "--map", path("map.csv")});
  EXPECT_EQ(kept.out, "id,x\n9007199254740993,1\n");
  EXPECT_EQ(kept.err.find("rounded"), std::string::npos) << kept.err;
}

TEST_F(DedupeCommand, IsTheSameForEveryNumberOfThreads) {
  ASSERT_EQ(run_kith({"generate", "--shape", "lidar", "--points", "20k", "--out", path("scan.npy")}).code, 0);
  for (const std::string threads : {"1", "2", "5"}) {
    ASSERT_EQ(dedupe("scan.npy", {"--tolerance", "0.3", "--threads", threads, "--out", path(threads + ".npy"), "--map",
                                  path(threads + ".npz")})
                  .code,
              0);
    EXPECT_EQ(content(path("1.npy")), content(path(threads + ".npy")));
    EXPECT_EQ(content(path("1.npz")), content(path(threads + ".npz")));
  }
  // Nothing is left to remove, and no point is within the tolerance of another.
  EXPECT_PRED2(has, dedupe("1.npy", {"--tolerance", "0.3", "--out", path("again.npy")}).err, ", 0 removed");
  EXPECT_EQ(content(path("again.npy")), content(path("1.npy")));
}

}  // namespace
}  // namespace kith::test
