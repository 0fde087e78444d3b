// Every command has a page that names each of its flags, so that the pages do not fall behind.
#include "cli/run_command.hpp"

namespace kith::test {
namespace {

std::string page(const std::string& name) {
  std::ifstream stream(std::string(KITH_TEST_PAGES) + "/" + name + ".md");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(Documentation, EveryFlagIsOnThePageOfItsCommand) {
  for (const std::string command : {"generate", "info", "build", "knn", "radius", "box", "classify", "dedupe", "select",
                                    "convert", "export", "verify", "bench", "completion", "man"}) {
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

}  // namespace
}  // namespace kith::test
