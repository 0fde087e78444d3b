// A save leaves the new file or the old one: when the process is killed, the disk is full, the directory is closed.
#include "support/file_content.hpp"
#include "support/random_case.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <tuple>

namespace kith::test {
namespace {

namespace fs = std::filesystem;

class SaveTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::string(KITH_TEST_TEMPORARY) + "/save-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/index.kith";
  }
  void TearDown() override {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_);
  }

  static Index index_of(std::uint64_t seed, std::uint64_t rows) {
    std::mt19937_64 random(seed);
    const PointSet points = nasty_points(NastyShape::uniform, DType::f32, rows, 3, random);
    return Index::build(points.view(), {.engine = Engine::kd_tree, .threads = 1});
  }

  std::string content() const { return file_content(path_); }

  static std::string text_of(const Index& index) {
    const std::vector<std::byte> bytes = index.to_bytes();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  /// Changes whenever another file takes the place of the old one.
  std::tuple<ino_t, time_t, long> file_identity() const {
    struct stat status {};
    stat(path_.c_str(), &status);
    return {status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  }

  /// Runs `work` in a child; its exit code, or -1 if a signal ended it.
  static int in_child(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(SaveTest, KilledAtAnyMomentLeavesTheOldFileOrTheNewOne) {
  const Index one = index_of(1, 20000), two = index_of(2, 15000);
  const std::string first = text_of(one), second = text_of(two);
  one.save(path_);
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const auto before = file_identity();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) {
        two.save(path_, {.threads = 1});
        one.save(path_, {.threads = 1});
      }
    }
    // Moments within the first save, and in every second round within those after a finished one, whatever a save
    // takes.
    bool saved = round % 2 == 0;
    for (int looks = 0; !saved && looks < 1000000; ++looks) {
      saved = file_identity() != before;
      if (!saved) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    const auto moment = std::chrono::microseconds(random() % 8000);
    std::this_thread::sleep_for(moment);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    ASSERT_TRUE(saved) << "no save was finished";
    const std::string after = content();
    ASSERT_TRUE(after == first || after == second) << "round " << round << ", killed after " << moment.count() << " us";
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path() != path_) fs::remove(entry.path());  // what a killed process could not remove itself
    }
  }
}

TEST_F(SaveTest, AFullDiskLeavesTheOldFile) {
  const Index old = index_of(1, 100), large = index_of(2, 20000);
  old.save(path_);
  for (const rlim_t limit : {rlim_t{0}, rlim_t{100}, rlim_t{5000}, rlim_t{100000}, rlim_t{300000}}) {
    const int code = in_child([&] {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit small{limit, limit};
      if (setrlimit(RLIMIT_FSIZE, &small) != 0) return 1;
      try {
        large.save(path_, {.threads = 1});
        return 2;
      } catch (const IoError&) {
        return 0;
      }
    });
    EXPECT_EQ(code, 0) << limit;
    EXPECT_TRUE(content() == text_of(old));
    EXPECT_EQ(files(), 1u) << "a temporary file is left";
  }
  if (fs::exists("/dev/full")) {
    EXPECT_THROW(large.save("/dev/full"), IoError);
  }
}

TEST_F(SaveTest, WhereNothingCanBeWrittenNothingChanges) {
  const Index old = index_of(1, 100), other = index_of(2, 200);
  old.save(path_);
  EXPECT_THROW(other.save(folder_), IoError);
  EXPECT_THROW(other.save(folder_ + "/missing/index.kith"), IoError);
  EXPECT_THROW(other.save(path_ + "/inside"), IoError);
  EXPECT_THROW(other.save(""), IoError);
  EXPECT_TRUE(content() == text_of(old));
  EXPECT_EQ(files(), 1u);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  // Root may write anywhere, so a child gives up its rights first.
  const int code = in_child([&] {
    if (geteuid() == 0) {
      fs::permissions(path_, fs::perms::others_read | fs::perms::owner_read);
      if (setgid(65534) != 0 || setuid(65534) != 0) return 3;
    }
    try {
      other.save(path_, {.threads = 1});
      return 2;
    } catch (const IoError&) {
      return 0;
    }
  });
  if (code == 3) GTEST_SKIP() << "rights cannot be given up here";
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(content() == text_of(old));
}

TEST_F(SaveTest, SavingOverTheFileThatIsMappedIsSafe) {
  const Index old = index_of(1, 3000);
  old.save(path_);
  const Index mapped = Index::load(path_, {.map = true});
  index_of(2, 10).save(path_);  // a new file takes the place; the mapped one lives on
  EXPECT_TRUE(text_of(mapped) == text_of(old));
  mapped.save(path_);
  EXPECT_TRUE(content() == text_of(old));
}

}  // namespace
}  // namespace kith::test
