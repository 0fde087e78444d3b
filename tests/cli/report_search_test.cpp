// Reports of kith knn and kith radius: numbers are those of --json, histograms add up, names are text, empty inputs.
#include "cli/report_page.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>

namespace kith::test {
namespace {

using nlohmann::json;

class SearchReport : public ReportTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run_kith({"generate", "-n", "2000", "-d", "3", "--out", path("p.npy"), "-q"}).code, 0);
  }
};

TEST_F(SearchReport, KnnCountsEveryDistance) {
  const std::vector<std::string> words = {"knn", path("p.npy"), "-k", "5", "--exclude-self", "--out", path("n.csv")};
  const ReportPage page = report_of(words);
  EXPECT_EQ(page.root().all("h1").front()->text, "kith knn");
  EXPECT_PRED2(has, page.root().all("code").front()->text, "kith knn " + path("p.npy") + " -k 5 --exclude-self");
  EXPECT_EQ(page.figure("Queries"), "2000");
  EXPECT_EQ(page.figure("Without neighbours"), "0");
  EXPECT_EQ(page.counted("To the nearest neighbour"), 2000);
  EXPECT_EQ(page.counted("To the 5th neighbour"), 2000);
  EXPECT_EQ(page.counted("To all neighbours"), 10000);
  EXPECT_EQ(page.fact("What was searched, and how", "k"), "5");
  EXPECT_EQ(page.fact("What was searched, and how", "engine"), "kdtree");

  std::vector<double> nearest;
  std::istringstream lines(content(path("n.csv")));
  for (std::string line; std::getline(lines, line);) {
    if (line.find(",0,") == line.find(',')) nearest.push_back(number(line.substr(line.rfind(',') + 1)));
  }
  std::ranges::sort(nearest);
  ASSERT_EQ(nearest.size(), 2000u);
  const auto rows = page.table("Percentiles");
  EXPECT_EQ(rows[0], (std::vector<std::string>{"", "nearest", "5th", "all"}));
  const std::map<std::string, double> truth = {{"least", nearest.front()},
                                               {"1 %", nearest[19]},
                                               {"5 %", nearest[99]},
                                               {"25 %", nearest[499]},
                                               {"50 % (median)", nearest[999]},
                                               {"99 %", nearest[1979]},
                                               {"most", nearest.back()},
                                               {"values", 2000},
                                               {"missing", 0}};
  for (const auto& row : rows) {
    const auto wanted = truth.find(row[0]);
    if (wanted == truth.end()) continue;
    EXPECT_FLOAT_EQ(number(row[1]), wanted->second) << row[0];
  }
}

TEST_F(SearchReport, ChangesNeitherResultNorOutput) {
  const std::vector<std::string> words = {"radius", path("p.npy"), "-r", "0.1"};
  const Outcome plain = run_kith(words);
  std::vector<std::string> more = words;
  more.insert(more.end(), {"--report", path("r.html")});
  const Outcome reported = run_kith(more);
  EXPECT_EQ(plain.out, reported.out);
  EXPECT_PRED2(has, reported.err, "report in " + path("r.html"));
  more.insert(more.end(), {"--json"});
  const Outcome as_json = run_kith(more);
  EXPECT_EQ(as_json.err, "");
  const json facts = json::parse(as_json.out);
  const ReportPage page(path("r.html"));
  EXPECT_EQ(page.counted("To all neighbours"), facts["neighbors"].get<double>());
  EXPECT_EQ(page.counted("Neighbours of a query"), 2000);
  EXPECT_EQ(page.fact("What was searched, and how", "neighbors"), std::to_string(facts["neighbors"].get<int>()));
  EXPECT_EQ(files(), (std::vector<std::string>{"p.npy", "r.html"}));
}

TEST_F(SearchReport, CountsOfRadiusAreThoseOfItsFile) {
  const ReportPage page =
      report_of({"radius", path("p.npy"), "-r", "0.05", "--count", "--exclude-self", "--out", path("c.csv")});
  double alone = 0, all = 0;
  std::istringstream lines(content(path("c.csv")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const double count = number(line.substr(line.rfind(',') + 1));
    alone += count == 0;
    all += count;
  }
  EXPECT_GT(alone, 0);
  EXPECT_EQ(number(page.fact("Neighbours of a query", "0")), alone);
  EXPECT_EQ(page.counted("Neighbours of a query"), 2000);
  EXPECT_NEAR(number(page.fact("Percentiles", "mean")), all / 2000, 1e-9);
}

TEST_F(SearchReport, NamesOfFilesAreText) {
  const std::string name = "<script>alert(1)<script> & \"x\" ]]> --><b>.csv";
  write(name, "a<b,\"y\"\n0,0\n1,2\n");
  const ReportPage page = report_of({"knn", path(name), "-k", "1", "--exclude-self", "--out", path("o.csv")});
  EXPECT_PRED2(has, page.root().all("p").front()->text, name);
  EXPECT_PRED2(has, page.root().all("code").front()->text, "'" + path(name) + "'");
  EXPECT_TRUE(page.root().all("b").empty());
  const std::string turned =
      "\xE2\x80\xAE"
      "evil.csv";
  write(turned, "0,0\n1,2\n");
  const ReportPage other = report_of({"knn", path(turned), "-k", "1", "--out", path("o.csv")});
  EXPECT_PRED2(has, other.root().all("p").front()->text, "\\u202eevil.csv");
}

TEST_F(SearchReport, EmptyInputsHaveAPage) {
  write("none.csv", "x,y,z\n");
  write("two.csv", "0,0,0\n3,4,0\n");
  ReportPage page = report_of({"knn", path("p.npy"), path("none.csv"), "-k", "3", "--out", path("o.csv")});
  EXPECT_EQ(page.figure("Queries"), "0");
  EXPECT_PRED2(has, page.source(), "There is nothing to show.");
  page = report_of({"knn", path("none.csv"), path("two.csv"), "-k", "2", "--out", path("o.csv")});
  EXPECT_EQ(page.counted("To all neighbours"), 4);
  EXPECT_EQ(page.fact("To all neighbours", "none (inf)"), "4");
  EXPECT_EQ(page.figure("Without neighbours"), "2");
  page = report_of({"knn", path("two.csv"), "-k", "0", "--out", path("o.csv")});
  EXPECT_EQ(page.figure("Without neighbours"), "2");
  page = report_of({"knn", path("two.csv"), "-k", "5", "--out", path("o.csv")});
  EXPECT_EQ(page.counted("To all neighbours"), 10);
  EXPECT_EQ(page.fact("To all neighbours", "none (inf)"), "6");
  page = report_of({"knn", path("two.csv"), "-k", "1", "--exclude-self", "--within", "1", "--out", path("o.csv")});
  EXPECT_EQ(page.figure("Without neighbours"), "2");
  page = report_of({"radius", path("none.csv"), "-r", "1", "--out", path("o.csv")});
  EXPECT_EQ(page.figure("Neighbours"), "0");
  page = report_of({"radius", path("two.csv"), "-r", "0", "--exclude-self", "--count", "--out", path("o.csv")});
  EXPECT_EQ(page.fact("Neighbours of a query", "0"), "2");
}

TEST_F(SearchReport, HugeAndTinyDistancesHaveBins) {
  write("far.csv", "0\n1e-300\n1e300\n-1e308\n1e308\n");
  const ReportPage page = report_of({"knn", path("far.csv"), "-k", "5", "--out", path("o.csv")});
  EXPECT_EQ(page.counted("To all neighbours"), 25);
  for (const char* shape : {"rect", "line", "text", "circle", "path"}) {
    for (const Element* drawn : page.root().all(shape)) {
      for (const auto& [name, value] : drawn->attributes) {
        EXPECT_TRUE(value.find("nan") == std::string::npos && value.find("inf") == std::string::npos) << name << value;
      }
    }
  }
  write("same.csv", "7,7\n7,7\n7,7\n");
  EXPECT_EQ(report_of({"knn", path("same.csv"), "-k", "3", "--out", path("o.csv")}).counted("To all neighbours"), 9);
}

TEST_F(SearchReport, ChartsStayInTheirDrawings) {
  const ReportPage page = report_of({"knn", path("p.npy"), "-k", "6", "--exclude-self", "--out", path("o.csv")});
  std::size_t bars = 0;
  for (const Element* drawing : page.root().all("svg")) {
    double width = 0, height = 0;
    ASSERT_EQ(std::sscanf(drawing->attribute("viewBox").c_str(), "0 0 %lf %lf", &width, &height), 2);
    for (const Element* bar : drawing->all("rect")) {
      const double left = number(bar->attribute("x")), top = number(bar->attribute("y"));
      EXPECT_GE(left, 0);
      EXPECT_GE(top, 0);
      EXPECT_LE(left + number(bar->attribute("width")), width);
      EXPECT_LE(top + number(bar->attribute("height")), height);
      ++bars;
    }
    // Ticks to the right of each other have rising numbers, evenly apart where the axis begins at 0.
    std::map<double, std::vector<double>> rows;
    for (const Element* group : drawing->all("g")) {
      if (!group->has_class("ticks")) continue;
      for (const Element* label : group->all("text")) {
        if (label->attribute("text-anchor") == "middle") {
          rows[number(label->attribute("y"))].push_back(number(label->text));
        }
      }
    }
    for (const auto& [y, ticks] : rows) {
      ASSERT_GE(ticks.size(), 2u);
      for (std::size_t i = 1; i < ticks.size(); ++i) EXPECT_NEAR(ticks[i] - ticks[i - 1], ticks[1] - ticks[0], 1e-9);
    }
  }
  EXPECT_GT(bars, 30u);
}

TEST_F(SearchReport, WordsHaveWholeDistances) {
  write("words.txt", "one\ntwo\nthree\nfour\nfive\n");
  const ReportPage page =
      report_of({"knn", path("words.txt"), "-k", "2", "--metric", "edit", "--exclude-self", "--out", path("o.csv")});
  for (const auto& row : page.table("To the nearest neighbour")) {
    EXPECT_EQ(row[0].find(" to "), std::string::npos) << row[0];
  }
  EXPECT_EQ(page.counted("To the nearest neighbour"), 5);
}

TEST_F(SearchReport, TheFlagIsChecked) {
  const std::vector<std::string> words = {"knn", path("p.npy"), "-k", "1", "--report"};
  const auto with = [&](const std::string& file, std::vector<std::string> more = {}) {
    std::vector<std::string> all = words;
    all.push_back(file);
    all.insert(all.end(), more.begin(), more.end());
    return run_kith(all);
  };
  expect_failure(with("-"), 2, "--report: a report is a file that a browser opens");
  expect_failure(with(""), 2, "--report: the name of the file is empty");
  expect_failure(with(path("r.txt")), 2, "choose a name with .html");
  expect_failure(with(path("none/r.html")), 5, "cannot be created");
  std::filesystem::create_directory(path("folder.html"));
  expect_failure(with(path("folder.html")), 5, "is a directory");
  std::filesystem::copy(path("p.npy"), path("p.html"));
  const Outcome lost = run_kith({"knn", path("p.html"), "-k", "1", "--report", path("p.html")});
  expect_failure(lost, 2, "--report: " + path("p.html") + " is an input and would be lost");
}

}  // namespace
}  // namespace kith::test
