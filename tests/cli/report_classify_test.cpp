// Reports of kith classify: numbers are those of --json, hostile labels, one class, the choice of k, regression.
#include "cli/report_page.hpp"

#include <nlohmann/json.hpp>

namespace kith::test {
namespace {

using nlohmann::json;

class ClassifyReport : public ReportTest {
 protected:
  /// Two clusters, with a few points of each in the other one.
  std::string table(const std::string& name, const std::string& first, const std::string& second, int rows) const {
    std::string text = "x,y,class\n";
    for (int i = 0; i < rows; ++i) {
      const bool is_first = i % 2 == 0, is_odd_one = i % 11 == 0;
      text += std::to_string((is_first ? 0.0 : 5.0) + i % 7 * 0.1) + "," + std::to_string(i % 5 * 0.1) + "," +
              (is_first != is_odd_one ? first : second) + "\n";
    }
    return write(name, text);
  }
};

TEST_F(ClassifyReport, HasTheNumbersOfJson) {
  const std::string train = table("train.csv", "oak", "elm", 80), test = table("test.csv", "oak", "elm", 60);
  const Outcome outcome = run_kith(
      {"classify", "--train", train, "--test", test, "--label", "class", "--json", "--report", path("r.html")});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const json score = json::parse(outcome.out)["score"];
  const ReportPage page(path("r.html"));
  expect_alone(page);
  std::uint64_t sum = 0;
  const auto matrix = page.table("Confusion matrix");
  EXPECT_EQ(matrix[0], (std::vector<std::string>{"truth \\ predicted", "elm", "oak", "members"}));
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  for (const json& pair : score["confusion"]) counts[{pair["truth"], pair["predicted"]}] = pair["rows"];
  for (std::size_t i = 1; i < matrix.size(); ++i) {
    for (std::size_t j = 1; j < 3; ++j) {
      const auto wanted = counts.find({matrix[i][0], matrix[0][j]});
      EXPECT_EQ(number(matrix[i][j]), wanted == counts.end() ? 0 : static_cast<double>(wanted->second));
      sum += static_cast<std::uint64_t>(number(matrix[i][j]));
    }
  }
  EXPECT_EQ(sum, score["rows"].get<std::uint64_t>());
  const auto classes = page.table("Each class");
  ASSERT_EQ(classes.size(), score["classes"].size() + 1);
  for (std::size_t i = 0; i < score["classes"].size(); ++i) {
    EXPECT_EQ(classes[i + 1][0], score["classes"][i]["class"].get<std::string>());
    EXPECT_EQ(number(classes[i + 1][4]), score["classes"][i]["precision"].get<double>());
    EXPECT_EQ(number(classes[i + 1][5]), score["classes"][i]["recall"].get<double>());
    EXPECT_EQ(number(classes[i + 1][6]), score["classes"][i]["f1"].get<double>());
  }
  EXPECT_EQ(page.counted("How clear votes were"), 60);
}

TEST_F(ClassifyReport, ChangesNoRow) {
  const std::string train = table("train.csv", "oak", "elm", 80), test = table("test.csv", "oak", "elm", 60);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--proba"}}) {
    std::vector<std::string> words = {"classify", "--train", train, "--test", test, "--label", "class", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome plain = run_kith(words);
    words.insert(words.end(), {"--report", path("r.html")});
    EXPECT_EQ(run_kith(words).out, plain.out);
  }
  write("file.csv", "4,2,2,2\n0,0,0\n1,1,0\n5,5,1\n6,6,1\n0,1,-1\n6,5,-1\n");
  const Outcome plain = run_kith({"classify", path("file.csv"), "-k", "3", "-q"});
  EXPECT_EQ(run_kith({"classify", path("file.csv"), "-k", "3", "-q", "--report", path("r.html")}).out, plain.out);
  const ReportPage page(path("r.html"));
  expect_alone(page);
  EXPECT_EQ(page.figure("Labels given"), "2");
}

TEST_F(ClassifyReport, LabelsAreText) {
  const std::string hostile = "</script><script>alert(1)</script>]]>&amp;", quotes = "\"\"it's\"\"";
  const std::string train = table("train.csv", "\"" + hostile + "\"", "\"" + quotes + "\"", 40);
  const ReportPage page =
      report_of({"classify", "--train", train, "--test", train, "--label", "class", "-k", "7", "--out", path("o.csv")});
  const auto classes = page.table("Each class");
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes[1][0], "\"it's\"");
  EXPECT_EQ(classes[2][0], hostile.substr(0, 39) + "…");  // long names are cut
}

TEST_F(ClassifyReport, OneClassAndNoPoint) {
  write("one.csv", "x,class\n1,a\n2,a\n3,a\n4,a\n5,a\n");
  ReportPage page = report_of(
      {"classify", "--train", path("one.csv"), "--test", path("one.csv"), "--label", "class", "--out", path("o.csv")});
  EXPECT_EQ(page.figure("Accuracy"), "100 %");
  EXPECT_PRED2(has, page.source(), "No class is taken for another.");
  EXPECT_PRED2(has, page.source(), "Every vote was unanimous.");
  write("none.csv", "x,class\n");
  page = report_of(
      {"classify", "--train", path("one.csv"), "--test", path("none.csv"), "--label", "class", "--out", path("o.csv")});
  EXPECT_EQ(page.figure("Labels given"), "0");
}

TEST_F(ClassifyReport, ShowsEachK) {
  const std::string train = table("train.csv", "oak", "elm", 80);
  const Outcome outcome = run_kith(
      {"classify", "--train", train, "--label", "class", "--choose-k", "1..9", "--json", "--report", path("r.html")});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const json choice = json::parse(outcome.out)["choice"];
  const ReportPage page(path("r.html"));
  expect_alone(page);
  EXPECT_EQ(page.figure("Best k"), std::to_string(choice["best"].get<int>()));
  const auto rows = page.table("Each k");
  ASSERT_EQ(rows.size(), 10u);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(number(rows[i + 1][1]), choice["table"][i]["right"].get<double>());
    EXPECT_EQ(number(rows[i + 1][2]), choice["table"][i]["accuracy"].get<double>());
  }
}

TEST_F(ClassifyReport, ShowsErrorsOfValues) {
  std::string text = "x,y,price\n";
  for (int i = 0; i < 50; ++i)
    text += std::to_string(i % 10) + "," + std::to_string(i / 10) + "," + std::to_string(i * i % 17) + "\n";
  write("t.csv", text);
  const Outcome outcome = run_kith({"classify", "--train", path("t.csv"), "--test", path("t.csv"), "--regress", "price",
                                    "-k", "3", "--json", "--report", path("r.html")});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const ReportPage page(path("r.html"));
  expect_alone(page);
  EXPECT_EQ(page.counted("Errors"), 50);
  EXPECT_EQ(page.counted("Values predicted"), 50);
  EXPECT_TRUE(has(page.source(), "Predicted against true"));
}

}  // namespace
}  // namespace kith::test
