// The columns of a text file as the first rows tell: names, how many, and files that are no text.
#include "support/temporary_path.hpp"

#include <kith/io/text_header.hpp>

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kith {
namespace {

std::optional<io::TextHeader> header_of(const std::string& text, const io::ReadOptions& options = {}) {
  const std::string path = test::temporary_path("text_header");
  std::ofstream(path, std::ios::binary) << text;
  const auto remove = [&] { std::filesystem::remove(path); };
  try {
    auto header = io::read_text_header(path, options);
    remove();
    return header;
  } catch (...) {
    remove();
    throw;
  }
}

using Names = std::vector<std::string>;

TEST(TextHeader, TellsNamesAndColumns) {
  const auto named = header_of("a,b,kind\n1,2,x\n3,4,y\n");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->columns, 3u);
  EXPECT_EQ(named->names, (Names{"a", "b", "kind"}));
  const auto bare = header_of("1 2 3\n4 5 6\n");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->columns, 3u);
  EXPECT_TRUE(bare->names.empty());
  // What is asked for by name makes a header of a row that looks like any other.
  EXPECT_TRUE(header_of("a,b\nc,d\n")->names.empty());
  EXPECT_EQ(header_of("a,b\nc,d\n", {.label = "b"})->names, (Names{"a", "b"}));
  EXPECT_EQ(header_of("1,2\n3,4\n", {.header = true})->names, (Names{"1", "2"}));
}

TEST(TextHeader, OtherFilesHaveNone) {
  EXPECT_FALSE(header_of("\x93NUMPY and more"));
  EXPECT_FALSE(header_of("1,2\n", {.format = io::Format::ply}));
  EXPECT_THROW(header_of(""), BadData);
  EXPECT_THROW(io::read_text_header("/nonexistent/a.csv"), IoError);
}

}  // namespace
}  // namespace kith
