// kith view: what the page holds, what is computed for it, and what is refused.
#include "cli/run_command.hpp"

#include "support/page_scene.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace kith::test {
namespace {

class ViewCommand : public CommandTest {
 protected:
  /// The page that these words make.
  PageScene view(std::vector<std::string> words) const {
    words.insert(words.begin(), "view");
    words.insert(words.end(), {"--out", path("page.html"), "-q"});
    const Outcome outcome = run_kith(words);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(outcome.out + outcome.err, "");
    return PageScene(content(path("page.html")));
  }
  Outcome fail(std::vector<std::string> words) const {
    words.insert(words.begin(), "view");
    return run_kith(words);
  }
};

TEST_F(ViewCommand, ShowsPointsColumnsAndNeighbors) {
  write("a.csv", "name,y,x,z,amount\n\"p, 1\",2,1,3,10\n<b>,5,4,6,\nr,8,7,9,30.5\n");
  const PageScene page = view({path("a.csv"), "-k", "2"});
  EXPECT_EQ(page.json()["title"], "a.csv");
  EXPECT_EQ(page.cloud(0)["dims"], 3);
  EXPECT_EQ(page.values(page.cloud(0)["axes"][0]), (std::vector<double>{1, 4, 7}));
  EXPECT_EQ(page.values(page.cloud(0)["axes"][1]), (std::vector<double>{2, 5, 8}));
  EXPECT_EQ(page.column(0, "name")["words"], (nlohmann::json{"<b>", "p, 1", "r"}));
  const std::vector<double> amounts = page.values(page.column(0, "amount")["values"]);
  EXPECT_EQ(amounts[0], 10);
  EXPECT_TRUE(std::isnan(amounts[1]));
  EXPECT_EQ(amounts[2], 30.5);
  EXPECT_EQ(page.values(page.cloud(0)["neighbors"]["indices"]), (std::vector<double>{1, 2, 0, 2, 1, 0}));
  EXPECT_EQ(page.page().find("<b>"), std::string::npos);

  const PageScene plain = view({path("a.csv"), "--columns", "x,amount", "--drop", "name"});
  EXPECT_EQ(plain.cloud(0)["count"], 2);
  EXPECT_EQ(plain.values(plain.cloud(0)["rows"]), (std::vector<double>{0, 2}));
  EXPECT_EQ(plain.cloud(0)["columns"].size(), 2u);
  EXPECT_EQ(view({path("a.csv"), "--drop", "all"}).cloud(0)["columns"].size(), 0u);
}

TEST_F(ViewCommand, TakesNeighborsFromAFile) {
  ASSERT_EQ(run_kith({"generate", "--points", "500", "--dims", "3", "-o", path("p.npy"), "-q"}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("p.npy"), "-k", "4", "-o", path("n.npz"), "-q"}).code, 0);
  const PageScene page = view({path("p.npy"), "--neighbors", path("n.npz")});
  const PageScene computed = view({path("p.npy"), "-k", "3"});
  const std::vector<double> found = page.values(page.cloud(0)["neighbors"]["indices"]);
  const std::vector<double> others = computed.values(computed.cloud(0)["neighbors"]["indices"]);
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(found[i * 4], static_cast<double>(i));
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(found[i * 4 + 1 + j], others[i * 3 + j]) << i;
  }
  ASSERT_EQ(run_kith({"generate", "--points", "400", "--dims", "3", "-o", path("q.npy"), "-q"}).code, 0);
  expect_failure(fail({path("q.npy"), "--neighbors", path("n.npz"), "-o", path("x.html")}), 2,
                 "neighbours of 500 points");
  ASSERT_EQ(run_kith({"radius", path("p.npy"), "-r", "0.1", "-o", path("r.npz"), "-q"}).code, 0);
  expect_failure(fail({path("p.npy"), "--neighbors", path("r.npz"), "-o", path("x.html")}), 2, "lists of a radius");
}

TEST_F(ViewCommand, ComputesDistancesWherePosesMoveThem) {
  write("low.csv", "x,y,z\n0,0,0\n1,0,0\nnan,0,0\n");
  write("high.csv", "x,y,z\n0,0,1\n1,0,2\n");
  write("pose.txt", "1 0 0 0\n0 1 0 0\n0 0 1 0.25\n0 0 0 1\n");
  const PageScene page = view({path("low.csv"), path("high.csv"), "--pose", path("pose.txt"), "--color", "distance"});
  EXPECT_EQ(page.json()["color"], (nlohmann::json{{"by", "column"}, {"name", "distance"}}));
  EXPECT_EQ(page.values(page.column(0, "distance")["values"]), (std::vector<double>{0.75, 1.25}));
  EXPECT_EQ(page.values(page.column(1, "distance")["values"]), (std::vector<double>{0.75, 1.75}));
  EXPECT_EQ(page.cloud(0)["pose"][11], 0.25);
  EXPECT_FALSE(page.cloud(1).contains("pose"));
  EXPECT_EQ(page.json()["notes"][0], "1 point of low.csv with NaN or infinity is not shown");
  const PageScene second = view({path("low.csv"), path("high.csv"), "--pose", "," + path("pose.txt")});
  EXPECT_FALSE(second.cloud(0).contains("pose"));
  EXPECT_EQ(second.cloud(1)["pose"][11], 0.25);
  expect_failure(fail({path("high.csv"), "--color", "distance"}), 2, "between two clouds");
}

TEST_F(ViewCommand, ComputesNormalsAndCurvature) {
  ASSERT_EQ(run_kith({"generate", "--shape", "surface", "--points", "300", "-o", path("s.ply"), "-q"}).code, 0);
  ASSERT_EQ(run_kith({"normals", path("s.ply"), "-o", path("n.npz"), "-q"}).code, 0);
  const PageScene page = view({path("s.ply"), "--color", "curvature"});
  EXPECT_EQ(page.column(0, "normal")["kind"], "direction");
  EXPECT_EQ(page.values(page.column(0, "curvature")["values"]).size(), 300u);
  EXPECT_EQ(page.json()["color"]["name"], "curvature");
  ASSERT_EQ(run_kith({"normals", path("s.ply"), "-o", path("n.ply"), "-q"}).code, 0);
  const PageScene read = view({path("n.ply"), "--color", "normal"});
  for (std::size_t part = 0; part < 3; ++part) {
    EXPECT_EQ(page.values(page.column(0, "normal")["parts"][part]),
              read.values(read.column(0, "normal")["parts"][part]));
  }
}

TEST_F(ViewCommand, SamplesKeepTheirRowNumbers) {
  std::string rows = "x,y\n";
  for (int i = 0; i < 1000; ++i) rows += std::to_string(i) + "," + std::to_string(2 * i) + "\n";
  write("line.csv", rows);
  const PageScene page = view({path("line.csv"), "--sample", "50", "--seed", "3", "-k", "1"});
  EXPECT_EQ(page.cloud(0)["count"], 50);
  const std::vector<double> numbers = page.values(page.cloud(0)["rows"]);
  EXPECT_EQ(numbers, page.values(page.cloud(0)["axes"][0]));
  for (const double near : page.values(page.cloud(0)["neighbors"]["indices"])) {
    EXPECT_NE(std::find(numbers.begin(), numbers.end(), near), numbers.end());
  }
}

TEST_F(ViewCommand, WritesToStandardOutputAndReports) {
  write("a.csv", "1,2\n3,4\n");
  const Outcome outcome = run_kith({"view", path("a.csv")});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.out.starts_with("<!doctype html>"));
  EXPECT_TRUE(outcome.out.ends_with("</html>\n"));
  EXPECT_PRED2(has, outcome.err, "2 points in a page of ");
  const Outcome json = run_kith({"view", path("a.csv"), "--json"});
  const nlohmann::json report = nlohmann::json::parse(json.out);
  EXPECT_EQ(report["bytes"], outcome.out.size());
  EXPECT_EQ(report["clouds"][0], (nlohmann::json{{"name", "a.csv"}, {"points", 2}, {"dims", 2}}));
}

TEST_F(ViewCommand, RefusesWhatCannotBeShown) {
  write("five.csv", "1,2,3,4,5\n");
  write("text.csv", "x,y\n1,2\na,b\n");
  write("a.csv", "x,y\n1,2\n");
  expect_failure(fail({path("five.csv")}), 2, "name the coordinates: --columns 1,2,3");
  EXPECT_EQ(view({path("five.csv"), "--columns", "1,2,3"}).cloud(0)["columns"].size(), 2u);
  expect_failure(fail({path("text.csv"), "--columns", "x,y"}), 2, "holds text");
  expect_failure(fail({path("a.csv"), "--color", "size"}), 2, "no column \"size\"; there are cloud, x, y");
  expect_failure(fail({"-", "-"}), 2, "standard input");
  expect_failure(fail({path("a.csv"), "--pose", "p,q"}), 2, "--pose names 2 files for 1 cloud");
  expect_failure(fail({path("a.csv"), "-k", "2", "--neighbors", "n.npz"}), 2, "two ways");
  expect_failure(fail({path("a.csv"), "--sample", "1", "--neighbors", "n.npz"}), 2, "use -k instead");
  expect_failure(fail({path("a.csv"), "--out", path("a.csv")}), 2, "--out");
  expect_failure(fail({path("none.csv")}), 5, "none.csv");
}

}  // namespace
}  // namespace kith::test
