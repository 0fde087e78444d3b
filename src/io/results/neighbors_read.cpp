// See neighbors_read.hpp. Archives that NumPy users made themselves are read too: any integer type, either byte order
// and memory order, and without `points`, which is then taken from the indices.
#include "io/results/neighbors_read.hpp"

#include "io/numpy/array_reader.hpp"

#include <kith/error.hpp>
#include <kith/io/neighbors_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kMaxPoints = 0xfffffffe;  // one index holds no more

/// The integers as indices, none above `limit`.
std::vector<std::uint32_t> to_indices(const ArrayReader& arrays, const ArrayMatrix& matrix, std::uint64_t limit) {
  const auto values = matrix.values.values<double>();
  std::vector<std::uint32_t> indices(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= 0) || values[i] > static_cast<double>(limit)) {
      arrays.fail(fmt::format("index {} in row {} is out of range: there are {} points", values[i],
                              i / std::max<std::uint64_t>(1, matrix.columns), limit));
    }
    indices[i] = static_cast<std::uint32_t>(values[i]);
  }
  return indices;
}

/// `may_be_negative`: the lists may be by inner product.
Distances to_distances(const ArrayReader& arrays, const ArrayMatrix& matrix, bool may_be_negative) {
  const auto convert = [&]<typename T>(T) {
    const auto values = matrix.values.values<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i]) || (values[i] < 0 && !may_be_negative)) {
        arrays.fail(fmt::format("the distance {} in row {} is none", values[i],
                                i / std::max<std::uint64_t>(1, matrix.columns)));
      }
    }
    return Distances(std::vector<T>(values.begin(), values.end()));
  };
  return matrix.type == NumberType::f32 ? convert(float{}) : convert(double{});
}

std::optional<std::uint64_t> stored_points(const ArrayReader& arrays) {
  if (!arrays.has("points")) return std::nullopt;
  const ArrayMatrix matrix = arrays.integers("points");
  if (matrix.rows != 1 || matrix.columns != 1) arrays.fail("the array \"points\" must hold one number");
  const double points = matrix.values.values<double>()[0];
  if (!(points >= 0) || points > static_cast<double>(kMaxPoints)) {
    arrays.fail(fmt::format("the number of points, {}, is out of range", points));
  }
  return static_cast<std::uint64_t>(points);
}

/// Without `points`: one more than the largest index; but if that index stands for all infinite distances and for
/// nothing else, it is the mark of missing neighbours, which is the number of points itself.
std::uint64_t guessed_points(std::span<const std::uint32_t> indices, const Distances& distances) {
  if (indices.empty()) return 0;
  const std::uint32_t largest = *std::max_element(indices.begin(), indices.end());
  bool any_infinite = false;
  bool is_mark = true;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const bool infinite = distances.at(i) == std::numeric_limits<double>::infinity();
    any_infinite |= infinite;
    if (infinite != (indices[i] == largest)) is_mark = false;
  }
  return any_infinite && is_mark ? largest : std::uint64_t{largest} + 1;
}

/// One flag per query, or nothing.
std::vector<std::uint8_t> read_flags(const ArrayReader& arrays, std::uint64_t queries) {
  if (!arrays.has("exact")) return {};
  const ArrayMatrix matrix = arrays.integers("exact");
  if (!matrix.is_vector || matrix.rows != queries) {
    arrays.fail(fmt::format("\"exact\" is {} x {}, but there are {} queries", matrix.rows, matrix.columns, queries));
  }
  const auto values = matrix.values.values<double>();
  std::vector<std::uint8_t> flags(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0 && values[i] != 1) arrays.fail(fmt::format("\"exact\" holds {} in row {}", values[i], i));
    flags[i] = values[i] != 0 ? 1 : 0;
  }
  return flags;
}

Neighbors read_fixed(const ArrayReader& arrays) {
  const std::optional<std::uint64_t> points = stored_points(arrays);
  std::uint64_t rows = 0;
  std::uint64_t k = 0;
  std::vector<std::uint32_t> indices;
  {
    const ArrayMatrix matrix = arrays.integers("indices");
    rows = matrix.rows;
    k = matrix.columns;
    indices = to_indices(arrays, matrix, points.value_or(kMaxPoints));
  }
  const ArrayMatrix matrix = arrays.floats("distances");
  if (matrix.rows != rows || matrix.columns != k) {
    arrays.fail(
        fmt::format("\"indices\" is {} x {}, but \"distances\" is {} x {}", rows, k, matrix.rows, matrix.columns));
  }
  Distances distances = to_distances(arrays, matrix, true);
  const std::uint64_t count = points ? *points : guessed_points(indices, distances);
  if (count > kMaxPoints) arrays.fail(fmt::format("index {} is out of range", count - 1));
  return Neighbors(rows, static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(count), std::move(indices),
                   std::move(distances), read_flags(arrays, rows));
}

std::vector<std::uint64_t> read_offsets(const ArrayReader& arrays) {
  const ArrayMatrix matrix = arrays.integers("offsets");
  if (!matrix.is_vector || matrix.rows == 0) arrays.fail("\"offsets\" must be one-dimensional and not empty");
  const auto values = matrix.values.values<double>();
  std::vector<std::uint64_t> offsets(values.size());
  double before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= before) || values[i] > 0x1p53 || (i == 0 && values[i] != 0)) {
      arrays.fail(fmt::format("\"offsets\" must start with 0 and never decrease; entry {} is {}", i, values[i]));
    }
    before = values[i];
    offsets[i] = static_cast<std::uint64_t>(values[i]);
  }
  return offsets;
}

NeighborLists read_lists(const ArrayReader& arrays) {
  const std::optional<std::uint64_t> points = stored_points(arrays);
  std::vector<std::uint64_t> offsets = read_offsets(arrays);
  std::vector<std::uint32_t> indices;
  {
    const ArrayMatrix matrix = arrays.integers("indices");
    if (!matrix.is_vector || matrix.rows != offsets.back()) {
      arrays.fail(fmt::format("\"offsets\" ends with {}, but \"indices\" is {} x {}", offsets.back(), matrix.rows,
                              matrix.columns));
    }
    if (points == 0 && matrix.rows > 0) arrays.fail("\"indices\" is not empty, yet there are no points");
    indices = to_indices(arrays, matrix, points ? *points - (*points > 0) : kMaxPoints - 1);
  }
  const ArrayMatrix matrix = arrays.floats("distances");
  if (!matrix.is_vector || matrix.rows != offsets.back()) {
    arrays.fail(fmt::format("\"offsets\" ends with {}, but \"distances\" is {} x {}", offsets.back(), matrix.rows,
                            matrix.columns));
  }
  Distances distances = to_distances(arrays, matrix, false);
  const std::uint64_t largest =
      indices.empty() ? 0 : *std::max_element(indices.begin(), indices.end()) + std::uint64_t{1};
  return NeighborLists(static_cast<std::uint32_t>(points.value_or(largest)), std::move(offsets), std::move(indices),
                       std::move(distances));
}

}  // namespace

std::variant<Neighbors, NeighborLists> read_neighbors(const runtime::InputFile& file) {
  if (!file.head(2).starts_with("PK")) {
    throw CorruptFile(
        fmt::format("{}: is not an .npz archive; only results written as .npz can be read back", file.name()));
  }
  const ArrayReader arrays(file);
  if (!arrays.has("indices") && arrays.has("counts")) arrays.fail("holds counts, not neighbours");
  if (arrays.has("offsets") && !arrays.has("distances")) arrays.fail("holds points in boxes, not neighbours");
  if (arrays.has("offsets")) return read_lists(arrays);
  return read_fixed(arrays);
}

std::variant<Neighbors, NeighborLists> read_neighbors(const std::string& path) {
  const runtime::InputFile file(path);
  try {
    return read_neighbors(file);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("{}: not enough memory to read its {} bytes", file.name(), file.size()));
  }
}

}  // namespace kith::io::inline v0
