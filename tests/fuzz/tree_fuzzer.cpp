// Changes numbers of exported trees. Index::from_tree may refuse them with BadData; what it accepts must answer as an
// index of the points that the tree holds.
#include <kith/apps/tree_export.hpp>
#include <kith/apps/verify_tree.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

namespace {

/// Reads the input from front to back; zeros when it has ended.
struct Input {
  const std::uint8_t* data;
  std::size_t size;

  std::uint8_t byte() {
    if (size == 0) return 0;
    --size;
    return *data++;
  }
  /// Mostly small, now and then any.
  std::uint32_t number() {
    const std::uint32_t first = byte();
    if (first < 250) return first;
    return first == 250 ? 0xffffffff : first << 24 | std::uint32_t{byte()} << 16 | std::uint32_t{byte()} << 8 | byte();
  }
};

kith::PointSet points_of(Input& input) {
  kith::PointSet points(kith::DType::f32, input.byte() % 64, 1 + input.byte() % 10);
  std::mt19937_64 random(input.byte());
  const std::uint64_t values = 1 + input.byte() % 40;
  for (float& x : points.values<float>()) x = static_cast<float>(random() % values);
  return points;
}

void change(std::vector<std::uint32_t>& numbers, Input& input) {
  if (numbers.empty()) return;
  const std::size_t place = input.byte() % numbers.size();
  numbers[place] = input.number();
}

/// None if the tree was refused.
template <typename Make>
std::optional<kith::Index> made(const Make& make) {
  try {
    return make();
  } catch (const kith::BadData&) {
  } catch (const kith::UsageError&) {
  }
  return std::nullopt;
}

void search(const kith::Index& index) {
  if (index.size() > 4096) return;  // rows that were left out may be many; nothing is held for them
  kith::SearchOptions search;
  search.threads = 1;
  kith::BuildOptions build;
  build.engine = kith::Engine::brute_force;
  build.skip_nonfinite = true;
  build.threads = 1;
  const kith::PointSet points = index.points(1);
  const kith::Index plain = kith::Index::build(points.view(), build);
  if (!(plain.knn_self(3, search) == index.knn_self(3, search))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input{data, size};
  const std::uint8_t mode = input.byte();
  const kith::PointSet points = points_of(input);
  kith::apps::TreeExportOptions options;
  options.split = mode / 2 % 2 == 0 ? kith::SplitRule::widest : kith::SplitRule::cycle;
  options.middle = mode / 4 % 2 == 0 ? kith::apps::Middle::right : kith::apps::Middle::left;
  options.unique = mode / 8 % 2 == 0;
  options.threads = 1;
  kith::BuildOptions build;
  build.engine = kith::Engine::kd_tree;
  build.leaf_size = 1 + mode / 16;
  build.threads = 1;
  const int changes = input.byte() % 4;
  if (mode % 2 == 0) {
    kith::apps::NodeTable table = kith::apps::export_node_table(points.view(), options);
    for (int i = 0; i < changes; ++i) {
      std::vector<std::uint32_t>* const columns[] = {&table.point, &table.split_dim, &table.less, &table.greater};
      const std::uint8_t column = input.byte() % 5;
      if (column < 4) change(*columns[column], input);
      if (column == 4) table.root = input.number();
    }
    const auto index = made([&] { return kith::Index::from_tree(table, points.view(), build); });
    if (index) search(*index);
    return 0;
  }
  kith::apps::InOrderTree tree = kith::apps::export_in_order(points.view(), options);
  for (int i = 0; i < changes; ++i) {
    const std::uint8_t what = input.byte() % 5;
    if (what == 0) change(tree.index, input);
    if (what == 1) change(tree.split_dim, input);
    if (what == 2) tree.facts.rows = input.number();
    if (what == 3) tree.facts.dims = input.number();
    if (what == 4 && tree.points.rows() > 0) {
      const std::uint32_t bits = input.number();
      float& value = tree.points.values<float>()[input.byte() % tree.points.values<float>().size()];
      std::memcpy(&value, &bits, sizeof value);
    }
  }
  const auto index = made([&] { return kith::Index::from_tree(tree, build); });
  if (index) search(*index);
  return 0;
}
