// Index files where they lie: only regular ones are read, and they are checked like bytes in memory.
#include "engine/forged_index.hpp"

#include <kith/index_file.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using namespace forged;

class IndexPath : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::string(KITH_TEST_TEMPORARY) + "/index-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(IndexPath, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  for (const bool map : {false, true}) {
    const LoadOptions options{.map = map};
    EXPECT_THROW(Index::load(folder_, options), IoError);
    EXPECT_THROW(Index::load(path("fifo"), options), IoError);  // does not wait for a writer
    EXPECT_THROW(Index::load("/dev/zero", options), IoError);
    EXPECT_THROW(Index::load(path("missing"), options), IoError);
    std::ofstream(path("empty"));
    EXPECT_THROW(Index::load(path("empty"), options), CorruptFile);
    std::ofstream(path("text")) << "x,y\n1,2\n";
    EXPECT_THROW(Index::load(path("text"), options), CorruptFile);
  }
  EXPECT_THROW(describe_index_file(path("fifo")), IoError);
  EXPECT_THROW(describe_index_file(path("text")), CorruptFile);
}

TEST_F(IndexPath, FilesAreCheckedLikeBytes) {
  const Bytes bytes = sample(Engine::kd_tree, DType::f32);
  const auto put = [&](std::span<const std::byte> content) {
    std::ofstream(path("a"), std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  };
  for (std::size_t length = 0; length < bytes.size(); length += 997) {
    put(std::span(bytes).first(length));
    EXPECT_THROW(Index::load(path("a")), CorruptFile);
    EXPECT_THROW(Index::load(path("a"), {.map = true}), CorruptFile);
    EXPECT_THROW(describe_index_file(path("a")), CorruptFile);
  }
  Bytes flipped = bytes;
  flipped[bytes.size() - 300] ^= std::byte{1};
  put(flipped);
  EXPECT_THROW(Index::load(path("a")), CorruptFile);
  put(bytes);
  EXPECT_EQ(Index::load(path("a")).size(), 70u);
}

/// Terabytes that are not there: a sparse file whose header asks for all of it.
TEST_F(IndexPath, AHugeSparseFileIsRefused) {
  Bytes bytes = sample(Engine::brute_force, DType::f32);
  bytes.resize(engine::kSectionAlignment);
  const std::uint64_t size = std::uint64_t{1} << 42;
  std::memcpy(bytes.data() + offsetof(HeaderRecord, file_bytes), &size, sizeof size);
  std::memcpy(bytes.data() + offsetof(HeaderRecord, front_bytes), &size, sizeof size);
  std::ofstream(path("a"), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (truncate(path("a").c_str(), static_cast<off_t>(size)) != 0) GTEST_SKIP() << "no such large files here";
  EXPECT_THROW(Index::load(path("a")), Error);
  EXPECT_THROW(describe_index_file(path("a")), Error);
}

/// A section that a newer kith may add for itself.
TEST(IndexFile, OptionalSectionsAreSkipped) {
  const std::vector<float> rows = {1, 2, 3, 4};
  const std::vector<std::uint32_t> extra = {7, 8, 9};
  engine::IndexFileWriter writer({.engine = Engine::brute_force,
                                  .metric = Metric::l2(),
                                  .dtype = DType::f32,
                                  .dims = 2,
                                  .rows = 2,
                                  .points = 2,
                                  .parameters = {}});
  writer.add(static_cast<SectionId>(0x80000005u), std::span<const std::uint32_t>(extra));
  writer.add(SectionId::rows, std::span<const float>(rows), 2);
  Bytes bytes;
  writer.write({}, [&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  EXPECT_EQ(Index::from_bytes(bytes).knn_self(1).index(1, 0), 1u);
  EXPECT_EQ(front_of(bytes).sections.size(), 2u);
}

}  // namespace
}  // namespace kith::test
