// Runs the real command kith in a process of its own and catches what it says.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kith::test {

/// Only against waiting for ever. No test relies on a machine being fast: they wait for what they can see.
inline constexpr std::chrono::minutes kHangs{8};

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

/// Looks every few milliseconds until `happened()`; fails and returns false if it never does.
template <typename Happened>
bool wait_until(Happened&& happened) {
  const auto start = std::chrono::steady_clock::now();
  while (!happened()) {
    if (std::chrono::steady_clock::now() - start > kHangs) {
      ADD_FAILURE() << "the command hangs";
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
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
    bool stderr_on_terminal = false;       ///< standard error is a terminal of its own
    std::string program = command_path();
  };

  explicit RunningCommand(const Settings& settings) {
    int in[2], out[2], err[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
    if (settings.stderr_on_terminal) {
      err[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
      if (err[0] < 0 || grantpt(err[0]) != 0 || unlockpt(err[0]) != 0) std::abort();
      err[1] = open(ptsname(err[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
      if (err[1] < 0) std::abort();
    } else if (pipe2(err, O_CLOEXEC) != 0) {
      std::abort();
    }
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

  /// Reads until standard error holds `part`; false, and a failure, if it ends without.
  bool wait_for_message(const std::string& part) {
    while (outcome_.err.find(part) == std::string::npos) {
      if (err_ < 0 || !take_more()) {
        ADD_FAILURE() << "no \"" << part << "\" in: " << outcome_.err;
        return false;
      }
    }
    return true;
  }

  /// Waits until the process has computed for `seconds` from now on.
  bool wait_for_work(double seconds) const {
    const double start = cpu_seconds();
    return wait_until([&] { return has_ended() || cpu_seconds() - start >= seconds; });
  }

  /// Waits until the process sleeps, and not just for a moment: it waits for input or output.
  bool wait_for_sleep() const {
    int same = 0;
    double before = -1;
    return wait_until([&] {
      const double now = cpu_seconds();
      same = state() == 'S' && now == before ? same + 1 : 0;
      before = now;
      return has_ended() || same == 20;
    });
  }

  /// Waits until the pipe of its standard output, which has no reader, is full.
  bool wait_for_full_output() const {
    const int capacity = fcntl(out_, F_GETPIPE_SZ);
    return wait_until([&] {
      int held = 0;
      return has_ended() || (ioctl(out_, FIONREAD, &held) == 0 && held >= capacity);
    });
  }

  /// Waits for the end without reading standard output; the exit code, or -1 if a signal ended it or it never ends.
  int wait_for_end() {
    return wait_until([&] { return has_ended(); }) ? finish().code : -1;
  }

  /// Reads both outputs to their ends and waits.
  Outcome finish() {
    while (out_ >= 0 || err_ >= 0) {
      if (!take_more()) {
        ADD_FAILURE() << "the command hangs";
        return outcome_;
      }
    }
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    outcome_.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome_;
  }

 private:
  /// Waits for either output; false if nothing comes for minutes.
  bool take_more() {
    pollfd waiting[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    constexpr auto kMilliseconds = std::chrono::milliseconds(kHangs).count();
    if (poll(waiting, 2, static_cast<int>(kMilliseconds)) <= 0) return false;
    if (waiting[0].revents != 0) take(out_, outcome_.out);
    if (waiting[1].revents != 0) take(err_, outcome_.err);
    return true;
  }

  /// The fields of /proc/PID/stat after the name: state first, user and system time as the 12th and 13th.
  std::vector<std::string> stat_fields() const {
    std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::vector<std::string> fields;
    for (std::string field; rest >> field;) fields.push_back(field);
    fields.resize(std::max<std::size_t>(fields.size(), 13), "0");
    return fields;
  }
  char state() const { return stat_fields()[0][0]; }
  double cpu_seconds() const {
    const std::vector<std::string> fields = stat_fields();
    return (std::stod(fields[11]) + std::stod(fields[12])) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  /// Ended, but not yet waited for: nothing will change any more.
  bool has_ended() const { return state() == 'Z'; }

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

  Outcome outcome_;
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
