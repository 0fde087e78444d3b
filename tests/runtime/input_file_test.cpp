// Files to read: what is no file, pipes, gzip in one and several members, damage, reading past the end.
#include "runtime/input_file.hpp"

#include "support/deflated.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace kith::runtime {
namespace {

std::string path_of(const std::string& name) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(KITH_TEST_TEMPORARY) + "/input_file_" + info->name() + "_" + name;
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

std::string gzip(const std::string& content) { return test::deflated(content, test::kGzip); }

std::string all_of(const InputFile& file) { return file.head(static_cast<std::size_t>(file.size())); }

TEST(InputFile, ReadsWhereItIsAsked) {
  const std::string path = path_of("plain");
  write_file(path, "0123456789");
  const InputFile file(path);
  EXPECT_EQ(file.name(), path);
  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(file.head(4), "0123");
  EXPECT_EQ(file.head(100), "0123456789");
  char buffer[8] = {};
  EXPECT_EQ(file.read_at(7, buffer, 8), 3u);
  EXPECT_EQ(std::string(buffer, 3), "789");
  EXPECT_EQ(file.read_at(10, buffer, 8), 0u);
  EXPECT_EQ(file.read_at(1000, buffer, 8), 0u);
  file.read_exact(2, buffer, 8);
  EXPECT_EQ(std::string(buffer, 8), "23456789");
  std::remove(path.c_str());
}

TEST(InputFile, ReadingPastTheEndSaysWhere) {
  const std::string path = path_of("plain");
  write_file(path, "0123456789");
  const InputFile on_disk(path);
  const InputFile in_memory(path, std::vector<char>(10, 'a'));
  for (const InputFile* file : {&on_disk, &in_memory}) {
    char buffer[8];
    try {
      file->read_exact(5, buffer, 8);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const CorruptFile& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("ends at byte 10"), std::string::npos) << what;
      EXPECT_NE(what.find("from byte 5"), std::string::npos) << what;
    }
    EXPECT_THROW(file->read_exact(11, buffer, 1), CorruptFile);
    EXPECT_NO_THROW(file->read_exact(10, buffer, 0));
    EXPECT_EQ(file->read_at(0, nullptr, 0), 0u);
  }
  std::remove(path.c_str());
}

TEST(InputFile, AFileThatShrinksIsAnErrorNotASignal) {
  const std::string path = path_of("shrinking");
  write_file(path, std::string(100000, 'a'));
  const InputFile file(path);
  ASSERT_EQ(truncate(path.c_str(), 10), 0);
  std::vector<char> buffer(50000);
  EXPECT_THROW(file.read_exact(20000, buffer.data(), buffer.size()), CorruptFile);
  std::remove(path.c_str());
}

TEST(InputFile, WhatIsNoFile) {
  EXPECT_THROW(InputFile("/no/such/file"), IoError);
  EXPECT_THROW(InputFile(""), IoError);
  try {
    const InputFile file("/tmp");
    ADD_FAILURE() << "a directory was opened";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("directory"), std::string::npos) << error.what();
  }
}

TEST(InputFile, EmptyFilesAndDevices) {
  const std::string path = path_of("empty");
  write_file(path, "");
  EXPECT_EQ(InputFile(path).size(), 0u);
  EXPECT_EQ(InputFile(path).head(10), "");
  EXPECT_EQ(InputFile("/dev/null").size(), 0u);
  std::remove(path.c_str());
}

TEST(InputFile, APipeIsTakenIntoMemory) {
  const std::string path = path_of("fifo");
  std::remove(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string content(3'000'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7);
  for (const bool zipped : {false, true}) {
    std::thread writer([&] { write_file(path, zipped ? gzip(content) : content); });
    const InputFile file(path);
    writer.join();
    EXPECT_EQ(file.size(), content.size());
    EXPECT_EQ(all_of(file), content);
  }
  std::remove(path.c_str());
}

TEST(InputFile, GzipOfOneAndSeveralMembers) {
  const std::string path = path_of("zipped");
  std::string large(5'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>((i * i) >> 7);
  write_file(path, gzip(large));
  EXPECT_EQ(all_of(InputFile(path)), large);
  write_file(path, gzip("one,") + gzip("") + gzip(large) + gzip("two"));
  EXPECT_EQ(all_of(InputFile(path)), "one," + large + "two");
  write_file(path, gzip(""));
  EXPECT_EQ(InputFile(path).size(), 0u);
  std::remove(path.c_str());
}

TEST(InputFile, GzipCutAtEveryLengthAndDamaged) {
  const std::string path = path_of("zipped");
  const std::string zipped = gzip("some text that is worth zipping, some text that is not");
  for (std::size_t length = 2; length < zipped.size(); ++length) {
    write_file(path, zipped.substr(0, length));
    EXPECT_THROW(InputFile{path}, CorruptFile) << length;
  }
  for (std::size_t i = 2; i < zipped.size(); ++i) {
    std::string damaged = zipped;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    write_file(path, damaged);
    try {
      const InputFile file(path);  // bytes such as the time stamp do not matter
      EXPECT_EQ(all_of(file), "some text that is worth zipping, some text that is not") << i;
    } catch (const CorruptFile&) {
    }
  }
  write_file(path, zipped + "rubbish behind");
  EXPECT_THROW(InputFile{path}, CorruptFile);
  std::remove(path.c_str());
}

TEST(InputFile, ProgressCanStopInflating) {
  const std::string path = path_of("zipped");
  write_file(path, gzip(std::string(1000, 'a')));
  EXPECT_THROW(InputFile(path, [](const Progress&) { return false; }), Interrupted);
  std::remove(path.c_str());
}

TEST(InputFile, ManyThreadsReadOneFile) {
  const std::string path = path_of("threads");
  std::string content(1 << 20, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i % 251);
  write_file(path, content);
  const InputFile file(path);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<char> buffer(4096);
      for (std::size_t at = static_cast<std::size_t>(t) * 999; at + 4096 < content.size(); at += 50000) {
        file.read_exact(at, buffer.data(), buffer.size());
        if (content.compare(at, 4096, buffer.data(), 4096) != 0) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace kith::runtime
