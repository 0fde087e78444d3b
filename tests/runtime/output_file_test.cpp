// Files to write: whole or not at all, links kept, devices in place, a full disk said.
#include "runtime/output_file.hpp"

#include "support/file_content.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kith::runtime {
namespace {

namespace fs = std::filesystem;

/// A fresh directory for each test.
class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(KITH_TEST_TEMPORARY) /
                 (std::string("output_file_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override {
    std::error_code ignored;
    fs::permissions(directory_, fs::perms::owner_all, ignored);
    fs::remove_all(directory_, ignored);
  }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  static std::string content(const std::string& path) { return test::file_content(path); }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(directory_)) result.push_back(entry.path().filename());
    return result;
  }

  fs::path directory_;
};

TEST_F(OutputFileTest, AppearsWholeAtCommit) {
  {
    OutputFile file(path("a"));
    file.write("hello ");
    EXPECT_FALSE(fs::exists(path("a")));
    const std::string large(3 << 20, 'x');
    file.write(large);
    file.write("end");
    EXPECT_EQ(file.position(), 6 + large.size() + 3);
    EXPECT_FALSE(fs::exists(path("a")));
    file.commit();
    EXPECT_EQ(content(path("a")), "hello " + large + "end");
  }
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(OutputFileTest, WithoutCommitNothingChanges) {
  put(path("a"), "old");
  {
    OutputFile file(path("a"));
    file.write(std::string(2 << 20, 'x'));
    OutputFile other(path("b"));
    other.write("x");
  }
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"a"}) << "temporary files are left";
}

TEST_F(OutputFileTest, ReplacesTheOldFile) {
  put(path("a"), "old");
  OutputFile file(path("a"));
  file.write("new");
  EXPECT_EQ(content(path("a")), "old");
  file.commit();
  EXPECT_EQ(content(path("a")), "new");
}

TEST_F(OutputFileTest, FollowsTheUmask) {
  const mode_t mask = umask(027);
  {
    OutputFile file(path("a"));
    file.commit();
  }
  umask(mask);
  struct stat status {};
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(OutputFileTest, KeepsASymbolicLink) {
  fs::create_directory(directory_ / "elsewhere");
  put(path("elsewhere/target"), "old");
  fs::create_symlink("elsewhere/target", directory_ / "link");
  {
    OutputFile file(path("link"));
    file.write("new");
    file.commit();
  }
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(content(path("elsewhere/target")), "new");
}

TEST_F(OutputFileTest, DirectoriesAreNoFiles) {
  EXPECT_THROW(OutputFile{directory_.string()}, IoError);
  EXPECT_THROW(OutputFile{directory_.string() + "/"}, IoError);
  EXPECT_THROW(OutputFile{path("missing/a")}, IoError);
  EXPECT_THROW(OutputFile{""}, IoError);
  put(path("a"), "");
  EXPECT_THROW(OutputFile{path("a/b")}, IoError);
}

TEST_F(OutputFileTest, AnUnwritableDirectoryIsSaid) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THROW(OutputFile{path("a")}, IoError);
}

TEST_F(OutputFileTest, DevicesAreWrittenInPlace) {
  {
    OutputFile file("/dev/null");
    file.write(std::string(3 << 20, 'x'));
    file.commit();
  }
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputFileTest, AFullDiskIsSaid) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  {
    OutputFile file("/dev/full");
    EXPECT_THROW(
        {
          file.write("x");
          file.commit();
        },
        IoError);
  }
  OutputFile file("/dev/full");
  try {
    file.write(std::string(3 << 20, 'x'));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace kith::runtime
