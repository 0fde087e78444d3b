// Runs the real command kith in a process of its own and catches what it says.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {

/// What a finished command left behind. `code` is -1 if a signal ended it.
struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

/// Shows everything when an expectation fails.
inline std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  return stream << "exit code " << outcome.code << "\nstdout: " << outcome.out << "\nstderr: " << outcome.err;
}

/// The command that was built with these tests, or the one that KITH_TEST_COMMAND names: the tests need not be compiled
/// again to try a command that has the sanitizers.
inline std::string command_path() {
  const char* other = std::getenv("KITH_TEST_COMMAND");
  return other != nullptr ? other : KITH_COMMAND;
}

/// A command that runs. Standard input is a pipe; so are the two outputs, unless redirected.
class RunningCommand {
 public:
  struct Settings {
    std::vector<std::string> words;
    std::string input;
    std::string directory;                 ///< where to run; empty: here
    std::vector<std::string> environment;  ///< added settings, "NAME=value"
    std::string stdout_path;               ///< redirect standard output to this file, e.g. /dev/full
    bool close_stdout = false;             ///< start with standard output closed
    std::string program = command_path();
  };

  explicit RunningCommand(const Settings& settings) {
    int in[2], out[2], err[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::abort();
    std::vector<char*> arguments;
    std::vector<std::string> words = settings.words;
    std::string program = settings.program;
    arguments.push_back(program.data());
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = fork();
    if (process_ < 0) std::abort();
    if (process_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      if (!settings.stdout_path.empty()) dup2(open(settings.stdout_path.c_str(), O_WRONLY), STDOUT_FILENO);
      if (settings.close_stdout) close(STDOUT_FILENO);
      if (!settings.directory.empty() && chdir(settings.directory.c_str()) != 0) _exit(126);
      // Under the address sanitizer the search for leaks costs seconds at the end of each of hundreds of processes.
      setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
      for (const std::string& setting : settings.environment) {
        const std::size_t equals = setting.find('=');
        setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
      }
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    signal(SIGPIPE, SIG_IGN);
    std::string_view rest = settings.input;  // small enough for the pipe in every test
    while (!rest.empty()) {
      const ssize_t put = write(in[1], rest.data(), rest.size());
      if (put <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(put));
    }
    close(in[1]);
    out_ = out[0];
    err_ = err[0];
  }

  ~RunningCommand() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    close_output();
    if (err_ >= 0) close(err_);
  }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  void send(int signal_number) const { kill(process_, signal_number); }

  /// Closes our end of its standard output, as "| head" does.
  void close_output() {
    if (out_ >= 0) close(out_);
    out_ = -1;
  }

  /// Reads both outputs to their ends and waits.
  Outcome finish() {
    Outcome outcome;
    while (out_ >= 0 || err_ >= 0) {
      pollfd waiting[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
      if (poll(waiting, 2, 120000) <= 0) {
        ADD_FAILURE() << "the command hangs";
        return outcome;
      }
      if (waiting[0].revents != 0) take(out_, outcome.out);
      if (waiting[1].revents != 0) take(err_, outcome.err);
    }
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

 private:
  static void take(int& descriptor, std::string& text) {
    char buffer[65536];
    const ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got > 0) {
      text.append(buffer, static_cast<std::size_t>(got));
    } else {
      close(descriptor);
      descriptor = -1;
    }
  }

  pid_t process_ = -1;
  int out_ = -1;
  int err_ = -1;
};

/// `kith WORDS…` with `input` on standard input.
inline Outcome run_kith(std::vector<std::string> words, std::string input = {}) {
  RunningCommand::Settings settings;
  settings.words = std::move(words);
  settings.input = std::move(input);
  return RunningCommand(settings).finish();
}

/// A test with an empty folder of its own, removed at the end.
class CommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::string(KITH_TEST_TEMPORARY) + "/cli-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  static std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  /// The names of the files in the folder, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string folder_;
};

/// True if `text` holds `part`; for EXPECT_PRED2.
inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The command failed as it should: this code, nothing on standard output, one line "kith: …" that holds `part`.
inline void expect_failure(const Outcome& outcome, int code, const std::string& part) {
  EXPECT_EQ(outcome.code, code) << outcome;
  EXPECT_EQ(outcome.out, "") << outcome;
  EXPECT_TRUE(outcome.err.starts_with("kith: ")) << outcome;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome;
  EXPECT_PRED2(has, outcome.err, part);
}

}  // namespace kith::test
