// See tree_file.hpp.
#include <kith/io/tree_file.hpp>

#include "io/numpy/array_archive.hpp"
#include "io/numpy/array_reader.hpp"
#include "runtime/input_file.hpp"
#include "runtime/output_file.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <span>
#include <system_error>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint32_t kMostRows = 0xfffffffe;
constexpr std::uint32_t kAnyNumber = 0xffffffff;

template <typename T>
void add_number(ArrayArchive& archive, std::string_view name, T number) {
  archive.add(name, {}, std::span<const T>(&number, 1));
}

template <typename T>
std::vector<T> narrowed(const std::vector<std::uint32_t>& numbers) {
  return std::vector<T>(numbers.begin(), numbers.end());
}

std::span<const std::uint32_t> all_of(const std::vector<std::uint32_t>& numbers) { return numbers; }

void add_facts(ArrayArchive& archive, const apps::TreeFacts& facts, const std::vector<std::uint32_t>& split_dim) {
  if (facts.dims <= 0x100) {
    archive.add("split_dim", std::span<const std::uint8_t>(narrowed<std::uint8_t>(split_dim)));
  } else if (facts.dims <= 0x10000) {
    archive.add("split_dim", std::span<const std::uint16_t>(narrowed<std::uint16_t>(split_dim)));
  } else {
    archive.add("split_dim", all_of(split_dim));
  }
  add_number(archive, "rows", facts.rows);
  add_number(archive, "dims", facts.dims);
  add_number(archive, "bits", static_cast<std::uint8_t>(8 * size_of(facts.dtype)));
  add_number(archive, "split", static_cast<std::uint8_t>(facts.split));
  add_number(archive, "unique", static_cast<std::uint8_t>(facts.unique));
  if (facts.middle == apps::Middle::left) add_number(archive, "middle", std::uint8_t{1});
}

apps::TreeFacts read_facts(const ArrayReader& arrays) {
  apps::TreeFacts facts;
  facts.rows = arrays.number("rows", kMostRows);
  facts.dims = static_cast<std::uint32_t>(arrays.number("dims", kAnyNumber));
  const std::uint64_t bits = arrays.number("bits", 64);
  if (bits != 32 && bits != 64) arrays.fail(fmt::format("\"bits\" is {}; points have 32 or 64", bits));
  facts.dtype = bits == 32 ? DType::f32 : DType::f64;
  facts.split = arrays.number("split", 1) == 0 ? SplitRule::widest : SplitRule::cycle;
  facts.unique = arrays.number("unique", 1) == 1;
  if (arrays.has("middle") && arrays.number("middle", 1) == 1) facts.middle = apps::Middle::left;
  return facts;
}

bool is_table(const ArrayReader& arrays) { return arrays.has("less") && arrays.has("greater"); }
bool is_in_order(const ArrayReader& arrays) { return arrays.has("index") && arrays.has("split_dim"); }
bool is_archive(const runtime::InputFile& file) { return file.head(2) == "PK"; }

apps::NodeTable read_table(const ArrayReader& arrays) {
  apps::NodeTable table;
  table.facts = read_facts(arrays);
  table.root = static_cast<std::uint32_t>(arrays.number("root", kAnyNumber));
  table.point = arrays.numbers("point", kMostRows);
  table.split_dim = arrays.numbers("split_dim", kAnyNumber);
  table.less = arrays.numbers("less", kAnyNumber);
  table.greater = arrays.numbers("greater", kAnyNumber);
  return table;
}

apps::InOrderTree read_in_order(const ArrayReader& arrays) {
  apps::InOrderTree tree;
  tree.facts = read_facts(arrays);
  tree.index = arrays.numbers("index", kMostRows);
  tree.split_dim = arrays.numbers("split_dim", kAnyNumber);
  tree.points = arrays.floats("points").values;
  return tree;
}

}  // namespace

void write_tree(const std::string& path, const apps::NodeTable& table, const ProgressCallback& progress) {
  runtime::OutputFile file(path);
  ArrayArchive archive(file, progress, table.point.size() * 16);
  archive.add("point", all_of(table.point));
  archive.add("less", all_of(table.less));
  archive.add("greater", all_of(table.greater));
  add_number(archive, "root", table.root);
  add_facts(archive, table.facts, table.split_dim);
  archive.finish();
  file.commit();
}

void write_tree(const std::string& path, const apps::InOrderTree& tree, const ProgressCallback& progress) {
  runtime::OutputFile file(path);
  ArrayArchive archive(file, progress, tree.index.size() * 8 + tree.points.bytes());
  const std::uint64_t shape[] = {tree.points.rows(), tree.points.dims()};
  archive.add("index", all_of(tree.index));
  if (tree.points.dtype() == DType::f32) {
    archive.add("points", shape, tree.points.values<float>());
  } else {
    archive.add("points", shape, tree.points.values<double>());
  }
  add_facts(archive, tree.facts, tree.split_dim);
  archive.finish();
  file.commit();
}

bool is_tree_file(const std::string& path) {
  std::error_code ignored;
  if (path == "-" || std::filesystem::is_fifo(path, ignored)) return false;
  const runtime::InputFile file(path);
  if (!is_archive(file)) return false;
  try {
    const ArrayReader arrays(file);
    return is_table(arrays) || is_in_order(arrays);
  } catch (const CorruptFile&) {
    return false;  // readers of other formats say what is wrong
  }
}

std::variant<apps::NodeTable, apps::InOrderTree> read_tree(const std::string& path) {
  const runtime::InputFile file(path);
  if (!is_archive(file)) throw CorruptFile(fmt::format("{}: is not an .npz archive, as exported trees are", path));
  try {
    const ArrayReader arrays(file);
    if (is_table(arrays)) return read_table(arrays);
    if (is_in_order(arrays)) return read_in_order(arrays);
    arrays.fail("holds no tree: neither \"less\" and \"greater\" nor \"index\" and \"split_dim\"");
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("{}: not enough memory to read its {} bytes", file.name(), file.size()));
  }
}

}  // namespace kith::io::inline v0
