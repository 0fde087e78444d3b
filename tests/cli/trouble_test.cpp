// Exit codes, interrupts, closed and full outputs: nothing half done is ever left behind.
#include "cli/run_command.hpp"

#include <sys/stat.h>

#include <chrono>
#include <thread>

namespace kith::test {
namespace {

using Clock = std::chrono::steady_clock;

class Trouble : public CommandTest {
 protected:
  RunningCommand::Settings settings(std::vector<std::string> words) const {
    RunningCommand::Settings result;
    result.words = std::move(words);
    return result;
  }

  /// Points enough that a search of all against all takes minutes.
  void make_long_work() {
    ASSERT_EQ(run_kith({"generate", "--points", "400k", "--dims", "64", "--out", path("p.npy"), "--quiet"}).code, 0);
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

TEST_F(Trouble, AGpuThatIsNotThereIsExitCode7) {
  write("p.csv", "1,2\n3,4\n");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--device", "cuda:99"}), 7, "cuda:99");
  expect_failure(run_kith({"build", path("p.csv"), "--out", path("p.kith"), "--device", "cuda:99"}), 7, "cuda:99");
  EXPECT_EQ(files(), std::vector<std::string>{"p.csv"});
  ASSERT_EQ(run_kith({"build", path("p.csv"), "--engine", "kdtree", "--out", path("p.kith"), "--quiet"}).code, 0);
  expect_failure(run_kith({"verify", path("p.kith"), "--device", "cuda:99"}), 7, "cuda:99");
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
    RunningCommand command(settings({"knn", path("p.npy"), "-k", "8", "--out", path("n.npz")}));
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    const auto asked = Clock::now();
    command.send(signal_number);
    const Outcome outcome = command.finish();
    EXPECT_LT(std::chrono::duration<double>(Clock::now() - asked).count(), 2.0);
    expect_failure(outcome, 130, "interrupted");
    EXPECT_EQ(files(), std::vector<std::string>{"p.npy"});
  }
}

TEST_F(Trouble, InterruptKeepsTheOldResult) {
  make_long_work();
  write("n.npz", "the old result");
  RunningCommand command(settings({"radius", path("p.npy"), "-r", "0.1", "--out", path("n.npz")}));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  command.send(SIGINT);
  command.send(SIGINT);  // an impatient user
  EXPECT_EQ(command.finish().code, 130);
  EXPECT_EQ(content(path("n.npz")), "the old result");
  EXPECT_EQ(files(), (std::vector<std::string>{"n.npz", "p.npy"}));
}

TEST_F(Trouble, InterruptWakesAReadThatWaits) {
  const std::string pipe_path = path("pipe");
  ASSERT_EQ(mkfifo(pipe_path.c_str(), 0600), 0);
  RunningCommand command(settings({"info", pipe_path}));
  const int writer = open(pipe_path.c_str(), O_WRONLY);
  ASSERT_GE(writer, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  command.send(SIGINT);
  expect_failure(command.finish(), 130, "interrupted");
  close(writer);
}

TEST_F(Trouble, InterruptEndsAWriteThatNobodyReads) {
  RunningCommand command(settings({"generate", "--points", "1M", "--quiet"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));  // by now the pipe is full
  command.send(SIGTERM);
  const auto asked = Clock::now();
  const Outcome outcome = command.finish();
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - asked).count(), 2.0);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
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
  RunningCommand command(settings({"knn", path("p.npy"), path("p.npy"), "-k", "1"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  command.send(SIGINT);
  const Outcome outcome = command.finish();
  EXPECT_EQ(outcome.err, "kith: interrupted; nothing was written\n");
}

/// Runs a search of about a second under a terminal of its own (script(1)) and returns what appears on it.
std::string seen_on_a_terminal(const std::string& environment, const std::string& command) {
  RunningCommand::Settings script;
  script.program = "script";
  script.words = {"-qec", environment + " timeout -s INT 1.5 " + command, "/dev/null"};
  return RunningCommand(script).finish().out;
}

TEST_F(Trouble, TheBarIsDrawnOnATerminalUnlessToldNotTo) {
  RunningCommand::Settings which;
  which.program = "bash";
  which.words = {"-c", "command -v timeout && script -qec true /dev/null"};
  if (RunningCommand(which).finish().code != 0) GTEST_SKIP() << "script(1) cannot open a terminal here";
  make_long_work();
  const std::string command = command_path() + " knn " + path("p.npy") + " -k 8 --out " + path("n.npz");
  const std::string drawn = seen_on_a_terminal("env -u NO_COLOR TERM=xterm", command);
  EXPECT_PRED2(has, drawn, "[");
  EXPECT_PRED2(has, drawn, "%");
  EXPECT_PRED2(has, drawn, " left");
  EXPECT_PRED2(has, drawn, "\x1b[2Kkith: interrupted");  // erased before the message
  for (const std::string environment : {"env NO_COLOR=1 TERM=xterm", "env -u NO_COLOR TERM=dumb"}) {
    SCOPED_TRACE(environment);
    const std::string plain = seen_on_a_terminal(environment, command);
    EXPECT_FALSE(has(plain, "\x1b")) << plain;
    EXPECT_FALSE(has(plain, "%")) << plain;
  }
  EXPECT_FALSE(has(seen_on_a_terminal("env -u NO_COLOR TERM=xterm", command + " --quiet"), "\x1b"));
}

}  // namespace
}  // namespace kith::test
