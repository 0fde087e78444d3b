// Regular files, read and mapped; and the first of many things, the same for every number of threads.
#include "runtime/first_match.hpp"
#include "runtime/regular_file.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace kith::runtime {
namespace {

class RegularFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::string(KITH_TEST_TEMPORARY) + "/regular-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(path("a")) << "0123456789";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(RegularFileTest, ReadsFromAnyOffset) {
  const RegularFile file(path("a"));
  EXPECT_EQ(file.size(), 10u);
  char text[4] = {};
  file.read_exact(3, text, 3);
  EXPECT_STREQ(text, "345");
  file.read_exact(10, text, 0);
  EXPECT_THROW(file.read_exact(8, text, 3), CorruptFile);
  EXPECT_THROW(file.read_exact(100, text, 1), CorruptFile);
}

TEST_F(RegularFileTest, AFileThatShrinksIsAnError) {
  const RegularFile file(path("a"));
  ASSERT_EQ(truncate(path("a").c_str(), 5), 0);
  char text[8] = {};
  EXPECT_THROW(file.read_exact(0, text, 8), CorruptFile);
}

TEST_F(RegularFileTest, NothingElseIsOpened) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_THROW(RegularFile{path("fifo")}, IoError);  // and does not wait
  EXPECT_THROW(RegularFile{folder_}, IoError);
  EXPECT_THROW(RegularFile{path("missing")}, IoError);
  EXPECT_THROW(RegularFile{"/dev/null"}, IoError);
}

TEST_F(RegularFileTest, AMappingOutlivesTheFile) {
  std::shared_ptr<const std::byte> mapped;
  {
    const RegularFile file(path("a"));
    mapped = map_file(file);
  }
  std::filesystem::remove(path("a"));
  EXPECT_EQ(std::memcmp(mapped.get(), "0123456789", 10), 0);
  std::ofstream(path("empty"));
  EXPECT_THROW(map_file(RegularFile(path("empty"))), IoError);
}

TEST(FirstMatch, IsTheFirstForEveryNumberOfThreads) {
  for (const int threads : {1, 2, 5}) {
    for (const std::uint64_t per_task : {1ull, 7ull, 1000ull}) {
      EXPECT_EQ(first_match(0, per_task, threads, [](std::uint64_t) { return true; }), 0u);
      EXPECT_EQ(first_match(500, per_task, threads, [](std::uint64_t) { return false; }), 500u);
      EXPECT_EQ(first_match(500, per_task, threads, [](std::uint64_t i) { return i % 50 == 33; }), 33u);
      EXPECT_EQ(first_match(500, per_task, threads, [](std::uint64_t i) { return i >= 499; }), 499u);
    }
  }
}

}  // namespace
}  // namespace kith::runtime
