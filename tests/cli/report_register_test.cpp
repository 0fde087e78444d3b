// Reports of kith register: the pose in numbers and words, residuals, information, the viewer inside, lists of pairs.
#include "cli/report_page.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace kith::test {
namespace {

using nlohmann::json;

class RegisterReport : public ReportTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run_kith({"generate", "--shape", "surface", "-n", "2000", "-o", path("t.ply"), "-q"}).code, 0);
    ASSERT_EQ(
        run_kith({"transform", path("t.ply"), "--rotate-z", "3", "--translate", "0.02,0,0", "-o", path("s.ply"), "-q"})
            .code,
        0);
  }

  ReportPage page_of(std::vector<std::string> more, const std::string& source = "s.ply",
                     const std::string& target = "t.ply") const {
    std::vector<std::string> words = {"register", path(source), path(target), "--out", path("pose.txt")};
    words.insert(words.end(), more.begin(), more.end());
    return report_of(words);
  }
};

TEST_F(RegisterReport, HasTheNumbersOfJson) {
  const Outcome outcome = run_kith({"register", path("s.ply"), path("t.ply"), "--json", "--report", path("r.html")});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
  const json result = json::parse(outcome.out);
  const ReportPage page(path("r.html"));
  expect_alone(page);
  EXPECT_EQ(page.figure("Result"), "Converged");
  EXPECT_EQ(page.figure("Fitness"), "100 %");
  const auto matrix = page.table("The matrix that moves the source onto the target");
  ASSERT_EQ(matrix.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_EQ(number(matrix[i].at(j)), result["transformation"][i][j].get<double>());
  }
  EXPECT_EQ(page.counted("Distances of matches"), result["inliers"].get<double>());
  const auto iterations = page.table("Before the step of each iteration");
  ASSERT_EQ(iterations.size(), result["iterations"].size() + 1);
  for (std::size_t i = 0; i < result["iterations"].size(); ++i) {
    EXPECT_EQ(number(iterations[i + 1].at(5)), result["iterations"][i]["error"].get<double>());
  }
  const auto information = page.table("Information matrix");
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      EXPECT_EQ(number(information[i + 1].at(j + 1)), result["information"][i][j].get<double>());
    }
  }
}

TEST_F(RegisterReport, SaysThePoseInWords) {
  const ReportPage page = page_of({});
  std::string words;
  for (const Element* item : page.root().all("li")) words += item->text + "\n";
  EXPECT_PRED2(has, words, "° about the axis (0, 0, -1).");  // back by the 3 degrees
  EXPECT_TRUE(page.figure("Turn").starts_with("3")) << page.figure("Turn");
  write("flat.csv", "x,y\n0,0\n1,0\n0,1\n2,3\n5,1\n4,4\n");
  ASSERT_EQ(run_kith({"transform", path("flat.csv"), "--translate", "0.1,0", "-o", path("moved.csv"), "-q"}).code, 0);
  const ReportPage flat = page_of({"--method", "point"}, "flat.csv", "moved.csv");
  EXPECT_PRED2(has, flat.source(), "Shift by (0.1, ");
  EXPECT_EQ(flat.table("Directions, held best first").size(), 4u);  // a plane has three unknowns
}

TEST_F(RegisterReport, KnowsHalfTurns) {
  write("p.csv", "x,y,z\n1,0,0\n0,2,0\n0,0,3\n1,2,3\n-1,2,-1\n4,1,0\n");
  write("half.txt", "-1 0 0 0\n0 -0.6 0.8 0\n0 0.8 0.6 0\n0 0 0 1\n");
  const ReportPage page =
      page_of({"--method", "point", "--initial", path("half.txt"), "--max-iterations", "0"}, "p.csv", "p.csv");
  EXPECT_PRED2(has, page.source(), "Turn by 180° about the axis (0, 0.447, 0.894).");
  EXPECT_EQ(page.figure("Result"), "Not converged");
}

TEST_F(RegisterReport, ShowsTheCloudsInside) {
  const ReportPage page = page_of({});
  const auto frames = page.root().all("iframe");
  ASSERT_EQ(frames.size(), 1u);
  const std::string inner = frames[0]->attribute("srcdoc");
  EXPECT_TRUE(inner.starts_with("<!doctype html>"));
  const std::string policy = page.root().all("meta").at(1)->attribute("content");
  for (const char* part : {"script-src", "style-src"}) {  // the frame's policy is within this one
    const std::size_t own = inner.find(part), hash = inner.find("'sha256-", own);
    EXPECT_PRED2(has, policy, inner.substr(hash, inner.find("'", hash + 1) - hash + 1));
  }
}

TEST_F(RegisterReport, NamesWeakDirectionsFirst) {
  ASSERT_EQ(run_kith({"generate", "-n", "1500", "-d", "2", "--out", path("flat.csv"), "-q"}).code, 0);
  std::string rows = "x,y,z\n";
  std::istringstream lines(content(path("flat.csv")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) rows += line + ",0\n";
  write("plane.csv", rows);
  const ReportPage page = page_of({"--method", "plane"}, "plane.csv", "plane.csv");
  std::size_t notices = 0;
  for (const Element* words : page.root().all("p")) {
    if (!words->has_class("notice")) continue;
    ++notices;
    EXPECT_PRED2(has, words->text, "with hardly any change of the error (eigenvalue");
  }
  EXPECT_EQ(notices, 3u);
  EXPECT_PRED2(has, page.source(), "Weak directions:");
}

TEST_F(RegisterReport, SaysWhatAGlobalStartFound) {
  const ReportPage page = page_of({"--initial", "global"});
  EXPECT_EQ(page.fact("What the features said", "found"), "yes");
  EXPECT_EQ(page.fact("Options", "start"), "global");
}

TEST_F(RegisterReport, EmptyAndHopelessClouds) {
  write("none.csv", "x,y,z\n");
  write("one.csv", "x,y,z\n1,2,3\n");
  for (const char* source : {"none.csv", "one.csv"}) {
    const ReportPage page = page_of({}, source);
    EXPECT_EQ(page.figure("Result"), "Not converged");
    EXPECT_EQ(page.source().find(">nan<"), std::string::npos);
  }
  EXPECT_EQ(page_of({}, "none.csv", "none.csv").root().all("iframe").size(), 0u);
  const ReportPage voxels = page_of({"--voxel", "0.2,0.1"});
  EXPECT_PRED2(has, voxels.source(), "The last stage matched means of voxels");
  const Outcome strict = run_kith(
      {"register", path("one.csv"), path("t.ply"), "--require-convergence", "--report", path("strict.html"), "-q"});
  EXPECT_EQ(strict.code, 3) << strict;
  EXPECT_EQ(ReportPage(path("strict.html")).figure("Result"), "Not converged");
}

TEST_F(RegisterReport, ListsPairs) {
  write("pairs.csv",
        "source,target\n" + path("s.ply") + "," + path("t.ply") + "\n" + path("none.ply") + "," + path("t.ply") + "\n");
  const Outcome outcome =
      run_kith({"register", "--pairs", path("pairs.csv"), "--out", path("p.csv"), "--report", path("r.html"), "-q"});
  EXPECT_EQ(outcome.code, 5) << outcome;
  const ReportPage page(path("r.html"));
  expect_alone(page);
  EXPECT_EQ(page.figure("Pairs"), "2");
  EXPECT_EQ(page.figure("Converged"), "1");
  EXPECT_EQ(page.figure("Failed"), "1");
  const auto rows = page.table("Each pair");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1][3], "yes");
  EXPECT_EQ(rows[2][3], "failed");
  EXPECT_PRED2(has, rows[2].back(), "none.ply");
  std::filesystem::copy(path("t.ply"), path("t.html"));
  write("lost.csv", "source,target\n" + path("s.ply") + "," + path("t.html") + "\n");
  expect_failure(run_kith({"register", "--pairs", path("lost.csv"), "-o", path("p.csv"), "--report", path("t.html")}),
                 2, "is an input and would be lost");
  write("empty.csv", "source,target\n");
  EXPECT_EQ(report_of({"register", "--pairs", path("empty.csv"), "-o", path("p.csv")}).figure("Pairs"), "0");
}

}  // namespace
}  // namespace kith::test
