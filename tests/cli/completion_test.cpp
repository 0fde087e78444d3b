// The completion scripts know every command and flag, and work when a shell sources them.
#include "cli/run_command.hpp"

namespace kith::test {
namespace {

const std::vector<std::string> kCommands = {
    "generate",  "info",       "plan",     "build",    "knn",        "radius",   "box",   "classify", "dedupe",
    "transform", "downsample", "outliers", "distance", "normals",    "register", "track", "select",   "convert",
    "export",    "verify",     "bench",    "tune",     "completion", "man",      "help",  "view"};

/// Every "--flag" that stands at the head of a line of the help.
std::vector<std::string> flags_in_help(const std::string& command) {
  std::istringstream lines(run_kith({"help", command}).out);
  std::vector<std::string> flags;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word && word[0] == '-';) {
      flags.push_back(word.ends_with(',') ? word.substr(0, word.size() - 1) : word);
    }
  }
  return flags;
}

Outcome run_shell(const std::string& program, const std::vector<std::string>& words) {
  RunningCommand::Settings settings;
  settings.program = program;
  settings.words = words;
  return RunningCommand(settings).finish();
}

/// What bash offers after the words; the last one is being typed.
std::vector<std::string> offered_by_bash(const std::vector<std::string>& words) {
  std::string script = "source <(" + command_path() + " completion bash) || exit 9\nCOMP_WORDS=(";
  for (const std::string& word : words) script += "'" + word + "' ";
  script += ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) + "\n_kith\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  const Outcome outcome = run_shell("bash", {"--norc", "-c", script});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
  std::istringstream lines(outcome.out);
  std::vector<std::string> offered;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) offered.push_back(line);
  }
  return offered;
}

using Words = std::vector<std::string>;

TEST(Completion, EveryFlagOfEveryCommandIsInBothScripts) {
  const std::string bash = run_kith({"completion", "bash"}).out;
  const std::string zsh = run_kith({"completion", "zsh"}).out;
  for (const std::string& command : kCommands) {
    SCOPED_TRACE(command);
    const Words flags = flags_in_help(command);
    EXPECT_FALSE(flags.empty());
    const Words offered = offered_by_bash({"kith", command, "--"});
    for (const std::string& flag : flags) {
      if (flag.starts_with("--")) {
        EXPECT_NE(std::find(offered.begin(), offered.end(), flag), offered.end()) << flag;
      }
      EXPECT_PRED2(has, bash, flag);
      EXPECT_PRED2(has, zsh.substr(zsh.find("    " + command + ")")), flag);
    }
  }
}

TEST(Completion, BashCompletesCommands) {
  EXPECT_EQ(offered_by_bash({"kith", "k"}), Words{"knn"});
  EXPECT_EQ(offered_by_bash({"kith", "help", "ver"}), Words{"verify"});
  EXPECT_EQ(offered_by_bash({"kith", "--v"}), Words{"--version"});
  EXPECT_EQ(offered_by_bash({"kith", ""}).size(), kCommands.size() + 2);
}

TEST(Completion, BashCompletesFlags) {
  EXPECT_EQ(offered_by_bash({"kith", "knn", "a.csv", "--ex"}), (Words{"--exclude-self", "--explain"}));
  EXPECT_EQ(offered_by_bash({"kith", "generate", "--po"}), Words{"--points"});
}

TEST(Completion, BashCompletesValues) {
  EXPECT_EQ(offered_by_bash({"kith", "knn", "--engine", "b"}), Words{"brute"});
  EXPECT_EQ(offered_by_bash({"kith", "knn", "--engine", "=", "k"}), Words{"kdtree"});
  EXPECT_EQ(offered_by_bash({"kith", "knn", "--engine", "="}), (Words{"auto", "brute", "kdtree", "covertree"}));
  EXPECT_EQ(offered_by_bash({"kith", "generate", "--shape", "l"}), (Words{"lidar", "line"}));
  EXPECT_EQ(offered_by_bash({"kith", "knn", "-k", ""}), Words{});
  EXPECT_EQ(offered_by_bash({"kith", "completion", ""}), (Words{"bash", "zsh"}));
}

TEST(Completion, BashCompletesFileNames) {
  const std::string folder = std::string(KITH_TEST_TEMPORARY) + "/completion";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a scan.ply") << "";
  EXPECT_EQ(offered_by_bash({"kith", "knn", folder + "/a"}), Words{folder + "/a scan.ply"});
  EXPECT_EQ(offered_by_bash({"kith", "knn", "--out", folder + "/a"}), Words{folder + "/a scan.ply"});
  std::filesystem::remove_all(folder);
}

TEST(Completion, ZshAcceptsItsScript) {
  if (run_shell("zsh", {"-f", "-c", "true"}).code != 0) GTEST_SKIP() << "zsh is not installed";
  const std::string script =
      "compdef() { print compdef $@ }; source <(" + command_path() + " completion zsh); whence -w _kith";
  const Outcome outcome = run_shell("zsh", {"-f", "-c", script});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out, "compdef _kith kith\n_kith: function\n");
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace kith::test
