// The manual pages name every command and flag of the help, and groff and mandoc set them without a warning.
#include "cli/run_command.hpp"

namespace kith::test {
namespace {

const std::vector<std::string> kManualCommands = {
    "generate", "info",   "plan",   "build", "knn",  "radius",     "box", "classify", "dedupe", "select",
    "convert",  "export", "verify", "bench", "tune", "completion", "man", "help",     "view"};

/// A flag as roff writes it: "\-\-exclude\-self".
std::string in_roff(const std::string& flag) {
  std::string out;
  for (const char c : flag) out += c == '-' ? "\\-" : std::string(1, c);
  return out;
}

/// Runs a program that sets pages, with `page` as its standard input; code 127 if it is not installed.
Outcome set_page(const std::string& program, const std::vector<std::string>& words, const std::string& page) {
  RunningCommand::Settings settings;
  settings.program = program;
  settings.words = words;
  settings.input = page;
  return RunningCommand(settings).finish();
}

bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

std::vector<std::string> all_pages() {
  std::vector<std::string> pages = {run_kith({"man"}).out};
  for (const std::string& command : kManualCommands) pages.push_back(run_kith({"man", command}).out);
  return pages;
}

TEST(Manual, TheOverviewNamesEveryCommand) {
  const Outcome overview = run_kith({"man"});
  EXPECT_EQ(overview.code, 0) << overview;
  EXPECT_TRUE(overview.out.starts_with(".TH KITH 1 ")) << overview;
  for (const std::string& command : kManualCommands)
    EXPECT_PRED2(has, overview.out, ".BR kith\\-" + command + " (1)\n");
}

TEST(Manual, EveryFlagOfTheHelpIsOnThePageOfItsCommand) {
  for (const std::string& command : kManualCommands) {
    SCOPED_TRACE(command);
    const Outcome page = run_kith({"man", command});
    EXPECT_EQ(page.code, 0) << page;
    EXPECT_PRED2(has, page.out, ".SH NAME\nkith\\-" + command + " \\- ");
    EXPECT_PRED2(has, page.out, ".B kith " + command + "\n");
    EXPECT_PRED2(has, page.out, ".SH EXAMPLES\n");
    std::istringstream lines(run_kith({"help", command}).out);
    int flags = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  -")) continue;
      std::istringstream words(line);
      for (std::string word; words >> word && word[0] == '-'; ++flags) {
        if (word.ends_with(',')) word.pop_back();
        EXPECT_PRED2(has, page.out, "\\fB" + in_roff(word) + "\\fR");
      }
    }
    EXPECT_GE(flags, 2);
  }
}

TEST(Manual, PagesAreAsciiAndHoldNoTabs) {
  for (const std::string& page : all_pages()) {
    EXPECT_TRUE(std::all_of(page.begin(), page.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }))
        << page;
  }
}

TEST(Manual, GroffHasNoWarnings) {
  if (!is_installed("groff")) GTEST_SKIP() << "groff is not installed";
  for (const std::string& page : all_pages()) {
    const Outcome outcome = set_page("groff", {"-ww", "-z", "-man", "-Tutf8", "-rLL=78n"}, page);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(outcome.err, "") << page.substr(0, page.find('\n'));
  }
}

TEST(Manual, MandocHasNoWarnings) {
  if (!is_installed("mandoc")) GTEST_SKIP() << "mandoc is not installed";
  for (const std::string& page : all_pages()) {
    const Outcome outcome = set_page("mandoc", {"-Tlint", "-Wwarning"}, page);
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_PRED2(has, line, "missing date") << "pages are the same whenever they are made: they have no date";
    }
  }
}

TEST(Manual, UnknownCommandsAreRefusedWithASuggestion) {
  expect_failure(run_kith({"man", "verfy"}), 2, "man: there is no command \"verfy\"; did you mean \"verify\"?");
}

}  // namespace
}  // namespace kith::test
