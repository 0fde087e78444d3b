// Every command has a page that names each of its flags, so that the pages do not fall behind.
#include "cli/run_command.hpp"

#include <kith/job_plan.hpp>
#include <kith/metric.hpp>

namespace kith::test {
namespace {

std::string page(const std::string& name) {
  std::ifstream stream(std::string(KITH_TEST_PAGES) + "/" + name + ".md");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(Documentation, EveryFlagIsOnThePageOfItsCommand) {
  for (const std::string command :
       {"generate",  "info",       "plan",     "build",    "knn",     "radius",     "box",   "classify", "dedupe",
        "transform", "downsample", "outliers", "distance", "normals", "register",   "track", "view",     "select",
        "convert",   "export",     "verify",   "bench",    "tune",    "completion", "man"}) {
    SCOPED_TRACE(command);
    const std::string text = page(command);
    ASSERT_FALSE(text.empty());
    EXPECT_PRED2(has, page("README"), "(" + command + ".md)");
    std::istringstream lines(run_kith({"help", command}).out);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t start = line.find("--");
      if (!line.starts_with("  -") || start == std::string::npos || start > 6) continue;
      const std::string flag = line.substr(start, line.find(' ', start) - start);
      if (flag == "--help") continue;
      EXPECT_PRED2(has, text, "`" + flag);
    }
  }
}

TEST(Documentation, EveryCardIsOnThePageOfPlan) {
  for (const GpuCard& card : known_cards()) EXPECT_PRED2(has, page("plan"), std::string(card.name));
}

TEST(Documentation, EveryMetricIsARowOfItsPage) {
  const std::string text = page("../metrics");
  for (const MetricInfo& info : metric_table()) {
    std::string names = "| `" + info.pattern() + "` | ";
    for (const std::string_view alias : info.aliases) {
      if (!alias.empty()) names += (names.ends_with("`") ? ", `" : "`") + std::string(alias) + "`";
    }
    std::string summary;
    for (const char c : info.summary) summary += c == '|' ? "\\|" : std::string(1, c);
    const std::string engines =
        std::string("brute") + (info.has_kd_tree ? ", kdtree" : "") + (info.has_cover_tree ? ", covertree" : "");
    EXPECT_PRED2(has, text, names + " | " + summary + " | " + engines + " | " + (info.wraps ? "yes" : "no") + " |");
  }
}

}  // namespace
}  // namespace kith::test
