// The guide, the help of every command, the version, and words that kith does not know.
#include "cli/run_command.hpp"

#include <kith/version.hpp>

namespace kith::test {
namespace {

const std::vector<std::string> kHelpedCommands = {
    "generate", "info",   "plan",   "build", "knn",  "radius",     "box", "classify", "dedupe", "select",
    "convert",  "export", "verify", "bench", "tune", "completion", "man", "help",     "view"};

TEST(Help, KithAlonePrintsTheGuide) {
  const Outcome alone = run_kith({});
  EXPECT_EQ(alone.code, 0) << alone;
  EXPECT_EQ(alone.err, "");
  for (const std::string& command : kHelpedCommands) EXPECT_PRED2(has, alone.out, "\n  " + command + " ");
  EXPECT_EQ(run_kith({"help"}).out, alone.out);
  EXPECT_EQ(run_kith({"--help"}).out, alone.out);
}

TEST(Help, VersionIsTheVersionOfTheLibrary) {
  const Outcome version = run_kith({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, "kith " KITH_VERSION "\n");
}

TEST(Help, EveryCommandHasFlagsAndExamples) {
  for (const std::string& command : kHelpedCommands) {
    SCOPED_TRACE(command);
    const Outcome help = run_kith({"help", command});
    EXPECT_EQ(help.code, 0) << help;
    EXPECT_EQ(help.err, "");
    EXPECT_PRED2(has, help.out, "Usage: kith " + command);
    EXPECT_PRED2(has, help.out, "Examples:\n  # ");
    EXPECT_PRED2(has, help.out.substr(help.out.find("Examples:")), "kith " + command);
    EXPECT_EQ(run_kith({command, "--help"}).out, help.out);
    EXPECT_EQ(run_kith({command, "-h"}).out, help.out);
  }
}

TEST(Help, TheGuideCanBeTyped) {
  // The five lines that newcomers copy must parse; the files are not there, so reading them fails with 5, not 2.
  EXPECT_EQ(run_kith({"info", "/nonexistent/scan.npy"}).code, 5);
  EXPECT_EQ(run_kith({"knn", "/nonexistent/scan.npy", "-k", "8"}).code, 5);
  EXPECT_EQ(run_kith({"radius", "/nonexistent/scan.npy", "-r", "0.5", "--count"}).code, 5);
  EXPECT_EQ(run_kith({"verify", "/nonexistent/near.npz", "scan.npy", "--sample", "1000"}).code, 5);
}

TEST(Help, UnknownCommandsAreRefusedWithASuggestion) {
  expect_failure(run_kith({"kn"}), 2, "did you mean \"knn\"?");
  expect_failure(run_kith({"genrate", "--points", "5"}), 2, "did you mean \"generate\"?");
  expect_failure(run_kith({"raidus"}), 2, "did you mean \"radius\"?");
  expect_failure(run_kith({"help", "verfy"}), 2, "did you mean \"verify\"?");
  expect_failure(run_kith({"cluster"}), 2, "there is no command \"cluster\"");
  const Outcome far = run_kith({"xyzzy-plugh"});
  expect_failure(far, 2, "there is no command");
  EXPECT_FALSE(has(far.err, "did you mean"));
}

TEST(Help, UnknownFlagsAreRefusedWithASuggestion) {
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--engin", "brute"}), 2, "did you mean \"--engine\"?");
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--exclude"}), 2, "did you mean \"--exclude-self\"?");
  expect_failure(run_kith({"info", "a.csv", "--jsno"}), 2, "did you mean \"--json\"?");
  expect_failure(run_kith({"info", "a.csv", "--zzzzzzz"}), 2, "there is no flag --zzzzzzz");
  expect_failure(run_kith({"knn", "a.csv", "b.csv", "c.csv", "-k", "3"}), 2, "\"c.csv\" is one argument too many");
  expect_failure(run_kith({"--quiet", "knn"}), 2, "flags come after the command");
  expect_failure(run_kith({"knn", "a.csv", "--kay", "3"}), 2, "there is no flag --kay");
}

TEST(Help, WhatIsMissingIsNamed) {
  expect_failure(run_kith({"knn", "a.csv"}), 2, "-k is required");
  expect_failure(run_kith({"knn", "-k", "3"}), 2, "POINTS is required");
  expect_failure(run_kith({"radius", "a.csv"}), 2, "--radius is required");
  expect_failure(run_kith({"verify", "a.npz"}), 2, "POINTS is required");
  expect_failure(run_kith({"info"}), 2, "FILE is required");
  expect_failure(run_kith({"completion"}), 2, "SHELL is required");
  expect_failure(run_kith({"knn", "a.csv", "-k"}), 2, "-k needs a value: K");
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "-k", "4"}), 2, "-k is given more than once");
}

TEST(Help, NumbersAreReadStrictly) {
  expect_failure(run_kith({"knn", "a.csv", "-k", "abc"}), 2, "-k: \"abc\" is not a whole number");
  expect_failure(run_kith({"knn", "a.csv", "-k", "2.5"}), 2, "-k: \"2.5\" is not a whole number");
  expect_failure(run_kith({"knn", "a.csv", "-k", "-1"}), 2, "-k: -1 is too small");
  expect_failure(run_kith({"knn", "a.csv", "-k", "1e10"}), 2, "too large");
  expect_failure(run_kith({"knn", "a.csv", "-k", "99999999999999999999999"}), 2, "too large");
  expect_failure(run_kith({"knn", "a.csv", "-k", ""}), 2, "is not a whole number");
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--threads", "-1"}), 2, "--threads: -1 is too small");
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--threads", "1025"}), 2, "the most is 1024");
  expect_failure(run_kith({"radius", "a.csv", "-r", "-0.5"}), 2, "--radius: -0.5 is not a distance");
  expect_failure(run_kith({"radius", "a.csv", "-r", "nan"}), 2, "--radius: nan is not a distance");
  expect_failure(run_kith({"radius", "a.csv", "-r", "1m"}), 2, "--radius: \"1m\" is not a number");
  expect_failure(run_kith({"generate", "--points", "many"}), 2, "--points: \"many\" is not a whole number");
  expect_failure(run_kith({"generate", "--dims", "0"}), 2, "--dims: 0 is too small");
  expect_failure(run_kith({"generate", "--dims", "4097"}), 2, "the most is 4096");
}

TEST(Help, ChoicesAreNamed) {
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--engine", "brut"}), 2, "did you mean \"brute\"?");
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--metric", "l7"}), 2, "--metric: ");
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--device", "gpu"}), 2, "--device: ");
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--header", "maybe"}), 2, "is not one of yes, no, auto");
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--delimiter", "dash"}), 2, "--delimiter: ");
  expect_failure(run_kith({"knn", "a.csv", "-k", "3", "--columns", "x,,y"}), 2, "--columns: ");
  expect_failure(run_kith({"generate", "--shape", "unifrom"}), 2, "did you mean \"uniform\"?");
  expect_failure(run_kith({"completion", "fish"}), 2, "is not one of bash, zsh");
}

}  // namespace
}  // namespace kith::test
