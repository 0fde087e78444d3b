// Exit codes, interrupts, closed and full outputs: nothing half done is ever left behind.
#include "cli/run_command.hpp"

#include <sys/stat.h>

namespace kith::test {
namespace {

class Trouble : public CommandTest {
 protected:
  RunningCommand::Settings settings(std::vector<std::string> words) const {
    RunningCommand::Settings result;
    result.words = std::move(words);
    return result;
  }

  /// For a search of all against all that no machine ends while a test waits: 10^10 pairs, each 16 times `pow`.
  void make_long_work() {
    ASSERT_EQ(run_kith({"generate", "--points", "100k", "--dims", "16", "--out", path("p.npy"), "--quiet"}).code, 0);
  }

  RunningCommand::Settings long_work(std::vector<std::string> words, const std::string& threads) const {
    words.insert(words.end(), {"--metric", "lp:2.5", "--engine", "brute", "--device", "cpu", "--threads", threads});
    words.push_back("--explain");
    return settings(std::move(words));
  }

  /// Waits until the command is in the midst of the search: the index is there and time was spent since.
  static void wait_for_search(RunningCommand& command) {
    ASSERT_TRUE(command.wait_for_message("explain: brute force"));
    ASSERT_TRUE(command.wait_for_work(0.2));
  }

  /// What an interrupted command leaves behind, but for its explanations.
  static void expect_interrupted(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 130) << outcome;
    EXPECT_EQ(outcome.out, "") << outcome;
    std::istringstream lines(outcome.err);
    std::string line, others;
    while (std::getline(lines, line)) others += line.starts_with("explain: ") ? "" : line + "\n";
    EXPECT_EQ(others, "kith: interrupted; nothing was written\n");
  }
};

TEST_F(Trouble, EveryExitCode) {
  write("good.csv", "1,2\n3,4\n");
  EXPECT_EQ(run_kith({"info", path("good.csv")}).code, 0);
  expect_failure(run_kith({"info", path("good.csv"), "--wrong"}), 2, "--wrong");
  expect_failure(run_kith({"info", write("ragged.csv", "1,2\n3\n")}), 3, "ragged.csv");
  expect_failure(run_kith({"knn", write("nan.csv", "1,nan\n2,2\n"), "-k", "1"}), 3, "");
  expect_failure(run_kith({"info", write("cut.npy", "\x93NUMPY")}), 4, "cut.npy");
  expect_failure(run_kith({"info", path("absent.csv")}), 5, "absent.csv");
  expect_failure(run_kith({"info", folder_}), 5, "directory");
  std::string many;  // 48 TB of results: more than any machine has
  for (int row = 0; row < 1000; ++row) many += "1,2\n";
  expect_failure(run_kith({"knn", write("many.csv", many), "-k", "4e9"}), 6, "memory");
}

TEST_F(Trouble, ARowWithNanIsNamedByFileLineAndFlag) {
  const std::string bad = write("bad.csv", "# made\nx,name,y\n1,a,2\n\n3,b,nan\n4,c,inf\n");
  const std::string good = write("good.csv", "x,name,y\n1,a,2\n3,b,4\n");
  const std::string expected =
      bad +
      ": line 5, column 3 (y) is NaN; 2 rows are bad in all; correct it, or leave such rows out (--skip-nonfinite)";
  const std::vector<std::string> columns = {"--columns", "x,y"};
  for (std::vector<std::string> words : {std::vector<std::string>{"knn", bad, "-k", "1"},
                                         {"knn", good, bad, "-k", "1"},
                                         {"radius", bad, "--radius", "1"},
                                         {"build", bad, "--out", path("i.kith")},
                                         {"dedupe", bad},
                                         {"export", bad, "--layout", "nodes", "--out", path("t.npz")}}) {
    words.insert(words.end(), columns.begin(), columns.end());
    SCOPED_TRACE(words[0]);
    expect_failure(run_kith(words), 3, expected);
  }
  expect_failure(run_kith({"classify", "--train", bad, "--label", "name", "--test", good, "-k", "1"}), 3,
                 bad + ": line 5, column 3 (y)");
  // What can be read only once, and files without lines.
  expect_failure(run_kith({"knn", "-", "-k", "1"}, "1,2\n3,nan\n"), 3,
                 "standard input: row 1, column 1 (counted from 0) is NaN");
}

TEST_F(Trouble, ControlCharactersAreNeverPrintedRaw) {
  const std::string title = "\x1b]0;owned\x07";
  const std::string file = write("a\x1b[31m.csv", "x," + title + ",class\n1,2,\x1b[2J\n3,4,\x7f\xc2\x9b\xe2\x80\xae\n");
  const auto expect_clean = [](const std::string& text) {
    for (const char* raw : {"\x1b", "\x07", "\x7f", "\xc2\x9b", "\xe2\x80\xae"}) EXPECT_FALSE(has(text, raw)) << text;
  };
  for (const std::vector<std::string>& words : {std::vector<std::string>{"info", file, "--label", "class", "--explain"},
                                                {"info", file, "--label", "class", "--json"},
                                                {"info", file},
                                                {"info", file, "--columns", "none"},
                                                {"knn", file, "-k", "1", "--label", title},
                                                {"knn", path(title), "-k", "1"},
                                                {title},
                                                {"knn", "--" + title},
                                                {"classify", "--train", file, "--test", file, "--label", "class", "-k",
                                                 "1", "--out", path("c.csv"), "--explain"}}) {
    SCOPED_TRACE(words[0]);
    const Outcome outcome = run_kith(words);
    expect_clean(outcome.out);
    expect_clean(outcome.err);
  }
  EXPECT_PRED2(has, run_kith({"info", file, "--label", "class"}).out, "\\u001b[2J");
}

TEST_F(Trouble, EndlessAndHugeFilesEndAtOnce) {
  expect_failure(run_kith({"info", "/dev/zero"}), 5, "/dev/zero: is a device, not a file");
  expect_failure(run_kith({"info", "-"}, std::string()), 3, "the file is empty");
  for (const std::string name : {"huge.fvecs", "huge.csv"}) {
    const std::string huge = write(name, std::string("\x80\0\0\0", 4));
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 40);
    const Outcome outcome = run_kith({"info", huge});
    EXPECT_TRUE(outcome.code == 4 || outcome.code == 6) << outcome;
    EXPECT_PRED2(has, outcome.err, huge);
    EXPECT_FALSE(has(outcome.err, "smaller k")) << outcome;
  }
}

TEST_F(Trouble, AGpuThatIsNotThereIsExitCode7) {
  write("p.csv", "1,2\n3,4\n");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--device", "cuda:99"}), 7, "cuda:99");
  expect_failure(run_kith({"build", path("p.csv"), "--out", path("p.kith"), "--device", "cuda:99"}), 7, "cuda:99");
  EXPECT_EQ(files(), std::vector<std::string>{"p.csv"});
  ASSERT_EQ(run_kith({"build", path("p.csv"), "--engine", "kdtree", "--out", path("p.kith"), "--quiet"}).code, 0);
  expect_failure(run_kith({"verify", path("p.kith"), "--device", "cuda:99"}), 7, "cuda:99");
  expect_failure(run_kith({"dedupe", path("p.csv"), "--device", "cuda:99"}), 7, "cuda:99");
  expect_failure(run_kith({"dedupe", path("p.csv"), "--tolerance", "1", "--device", "cuda:99"}), 7, "cuda:99");
}

TEST_F(Trouble, AutoNeedsNoGpu) {
  write("p.csv", "1,2\n3,4\n");
  ASSERT_EQ(run_kith({"build", path("p.csv"), "--engine", "kdtree", "--out", path("p.kith"), "--device", "auto"}).code,
            0);
  const Outcome verified = run_kith({"verify", path("p.kith"), "--device", "auto", "--explain"});
  EXPECT_EQ(verified.code, 0) << verified;
  EXPECT_PRED2(has, verified.err, "explain: device cpu: ");
}

TEST_F(Trouble, InterruptEndsWith130AndLeavesNoFile) {
  make_long_work();
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    RunningCommand command(long_work({"knn", path("p.npy"), "-k", "8", "--out", path("n.npz")}, "2"));
    wait_for_search(command);
    command.send(signal_number);
    expect_interrupted(command.finish());
    EXPECT_EQ(files(), std::vector<std::string>{"p.npy"});
  }
}

TEST_F(Trouble, InterruptKeepsTheOldResult) {
  make_long_work();
  write("n.npz", "the old result");
  RunningCommand command(long_work({"radius", path("p.npy"), "-r", "0.1", "--out", path("n.npz")}, "2"));
  wait_for_search(command);
  command.send(SIGINT);
  command.send(SIGINT);  // an impatient user
  expect_interrupted(command.finish());
  EXPECT_EQ(content(path("n.npz")), "the old result");
  EXPECT_EQ(files(), (std::vector<std::string>{"n.npz", "p.npy"}));
}

TEST_F(Trouble, InterruptWakesAReadThatWaits) {
  const std::string pipe_path = path("pipe");
  ASSERT_EQ(mkfifo(pipe_path.c_str(), 0600), 0);
  RunningCommand command(settings({"info", pipe_path}));
  const int writer = open(pipe_path.c_str(), O_WRONLY);
  ASSERT_GE(writer, 0);
  ASSERT_TRUE(command.wait_for_sleep());
  command.send(SIGINT);
  expect_failure(command.finish(), 130, "interrupted");
  close(writer);
}

TEST_F(Trouble, InterruptEndsAWriteThatNobodyReads) {
  RunningCommand command(settings({"generate", "--points", "1M", "--quiet"}));
  ASSERT_TRUE(command.wait_for_full_output());
  ASSERT_TRUE(command.wait_for_sleep());
  command.send(SIGTERM);
  EXPECT_EQ(command.wait_for_end(), 130);
}

TEST_F(Trouble, AClosedPipeIsAnErrorNotASignal) {
  RunningCommand command(settings({"generate", "--points", "1M", "--quiet"}));
  command.close_output();
  expect_failure(command.finish(), 5, "standard output");
}

TEST_F(Trouble, HeadMayStopReading) {
  RunningCommand::Settings shell;
  shell.program = "bash";
  shell.words = {"-c", command_path() + " generate --points 1M --quiet | head -1; exit ${PIPESTATUS[0]}"};
  const Outcome outcome = RunningCommand(shell).finish();
  EXPECT_EQ(outcome.out, "x,y,z\n");
  EXPECT_EQ(outcome.code, 5) << outcome;
}

TEST_F(Trouble, AFullDeviceIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "/dev/full is not there";
  write("p.csv", "1,2\n3,4\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"knn", path("p.csv"), "-k", "1"},
                                             {"radius", path("p.csv"), "-r", "1", "--count"},
                                             {"knn", path("p.csv"), "-k", "1", "--json"},
                                             {"info", path("p.csv")},
                                             {"generate", "--points", "10", "--quiet"},
                                             {"--version"},
                                             {"help", "knn"},
                                             {}}) {
    RunningCommand::Settings full = settings(words);
    full.stdout_path = "/dev/full";
    expect_failure(RunningCommand(full).finish(), 5, "No space left on device");
  }
  expect_failure(run_kith({"generate", "--points", "10", "--format", "csv", "--out", "/dev/full"}), 5, "/dev/full");
}

TEST_F(Trouble, AFileBeyondTheLimitIsAnErrorAndLeavesNothing) {
  RunningCommand::Settings shell;
  shell.program = "bash";
  shell.words = {"-c",
                 "ulimit -f 100; exec " + command_path() + " generate --points 100k --quiet --out " + path("p.npy")};
  expect_failure(RunningCommand(shell).finish(), 5, "File too large");
  EXPECT_TRUE(files().empty());
}

TEST_F(Trouble, ClosedStandardOutputIsAnErrorAndNoFileTakesItsPlace) {
  write("p.csv", "1,2\n3,4\n");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"knn", path("p.csv"), "-k", "1"}, {"info", path("p.csv")}, {"generate", "--points", "10"}, {}}) {
    RunningCommand::Settings closed = settings(words);
    closed.close_stdout = true;
    expect_failure(RunningCommand(closed).finish(), 5, "standard output");
  }
  EXPECT_EQ(content(path("p.csv")), "1,2\n3,4\n");
}

TEST_F(Trouble, NothingIsDrawnOffATerminal) {
  make_long_work();
  RunningCommand command(long_work({"knn", path("p.npy"), path("p.npy"), "-k", "1"}, "1"));
  wait_for_search(command);
  ASSERT_TRUE(command.wait_for_work(0.6));  // on one thread that is no less than 0.6 s: twice what the bar waits
  command.send(SIGINT);
  expect_interrupted(command.finish());
}

class BarOnATerminal : public Trouble {
 protected:
  void SetUp() override {
    Trouble::SetUp();
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) GTEST_SKIP() << "no terminal can be opened here";
    close(terminal);
    make_long_work();
  }

  /// A search whose standard error is a terminal.
  RunningCommand::Settings search(std::vector<std::string> environment, std::vector<std::string> flags = {}) const {
    std::vector<std::string> words = {"knn", path("p.npy"), "-k", "8", "--out", path("n.npz")};
    words.insert(words.end(), flags.begin(), flags.end());
    RunningCommand::Settings result = long_work(std::move(words), "1");
    result.stderr_on_terminal = true;
    result.environment = std::move(environment);
    return result;
  }
};

TEST_F(BarOnATerminal, IsDrawnAndErasedAfterAnInterrupt) {
  RunningCommand command(search({"NO_COLOR=", "TERM=xterm"}));
  ASSERT_TRUE(command.wait_for_message(" left"));
  command.send(SIGINT);
  const Outcome outcome = command.finish();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_PRED2(has, outcome.err, "[");
  EXPECT_PRED2(has, outcome.err, "%");
  EXPECT_PRED2(has, outcome.err, "\x1b[2Kkith: interrupted");  // erased before the message
}

TEST_F(BarOnATerminal, IsNotDrawnIfToldNotTo) {
  using Strings = std::vector<std::string>;
  const std::vector<std::pair<Strings, Strings>> cases = {
      {{"NO_COLOR=1", "TERM=xterm"}, {}}, {{"NO_COLOR=", "TERM=dumb"}, {}}, {{"NO_COLOR=", "TERM=xterm"}, {"--quiet"}}};
  for (const auto& [environment, flags] : cases) {
    SCOPED_TRACE(environment[0] + " " + environment[1]);
    RunningCommand command(search(environment, flags));
    wait_for_search(command);
    ASSERT_TRUE(command.wait_for_work(0.6));
    command.send(SIGINT);
    const Outcome outcome = command.finish();
    EXPECT_EQ(outcome.code, 130);
    EXPECT_PRED2(has, outcome.err, "kith: interrupted");
    EXPECT_FALSE(has(outcome.err, "\x1b")) << outcome;
    EXPECT_FALSE(has(outcome.err, "#")) << outcome;
    EXPECT_FALSE(has(outcome.err, "[--")) << outcome;
  }
}

}  // namespace
}  // namespace kith::test
