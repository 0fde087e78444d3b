// Points in files that need not fit into memory are built as shards on the disk, and searched from there: the answer is
// that of one index.
#include <kith/kith.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace shards = kith::shards;

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "kith_search_large_files";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const kith::PointSet points = kith::apps::generate({.points = 50000, .dims = 3}).points;
  std::vector<kith::io::PointRows> files;
  for (const std::uint64_t part : {0, 1}) {  // the second file goes on with the numbers of the first
    const std::string file = folder / ("points" + std::to_string(part) + ".npy");
    kith::io::write_points(file, points.view().slice(part * 25000, 25000));
    files.emplace_back(file);
  }

  const auto stored = shards::StoredShards::build(files, folder / "points.shards", {.shards = 4, .memory = 64 << 20});
  const kith::PointView queries = points.view().slice(0, 1000);
  const kith::WideNeighbors found = stored.knn(queries, 8);
  const kith::Neighbors expected = kith::Index::build(points.view()).knn(queries, 8);
  bool is_same = true;
  for (std::uint64_t q = 0; q < found.queries(); ++q) {
    for (std::uint32_t j = 0; j < found.k(); ++j) {
      is_same = is_same && found.index(q, j) == expected.index(q, j) && found.distance(q, j) == expected.distance(q, j);
    }
  }
  std::printf("%llu points in %u shards; %s\n", static_cast<unsigned long long>(stored.size()), stored.map().size(),
              is_same ? "the answer is that of one index" : "the answer differs");
  std::filesystem::remove_all(folder);
  return is_same ? 0 : 1;
}
