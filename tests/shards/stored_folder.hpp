// Points in .npy files and folders of shards for tests, in a folder that is removed at the end.
#pragma once

#include "support/temporary_path.hpp"

#include <kith/io/point_rows.hpp>
#include <kith/io/write_points.hpp>
#include <kith/point_set.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace kith::test {

class StoredFolder {
 public:
  explicit StoredFolder(const std::string& name) : path_(temporary_path(name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~StoredFolder() { std::filesystem::remove_all(path_); }
  StoredFolder(const StoredFolder&) = delete;
  StoredFolder& operator=(const StoredFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  /// The points in so many files, whose sizes differ by one at most.
  std::vector<io::PointRows> write(PointView points, std::uint64_t files = 1) const {
    std::vector<io::PointRows> written;
    for (std::uint64_t i = 0; i < files; ++i) {
      const std::uint64_t first = i * points.rows() / files, end = (i + 1) * points.rows() / files;
      const std::string file = *this / ("points" + std::to_string(i) + ".npy");
      io::write_points(file, points.slice(first, end - first));
      written.emplace_back(file);
    }
    return written;
  }

  /// The contents of all files below a folder, by their paths in it.
  static std::map<std::string, std::string> contents(const std::string& folder) {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) all[std::filesystem::relative(entry.path(), folder)] = content(entry.path());
    }
    return all;
  }
  static std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  std::string path_;
};

}  // namespace kith::test
