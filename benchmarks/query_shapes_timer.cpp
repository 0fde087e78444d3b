// Times the k-d tree on the CPU where queries and points do not lie alike, beside uniform ones: in a batch and one by
// one, in microseconds per query, and how many times as long as uniform queries of a batch.
// query_shapes_timer [POINTS [QUERIES [REPEATS [K [DIMS [NAME]]]]]]; one thread
#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace {

using Random = std::mt19937_64;

double unit(Random& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }

/// A coordinate of a point or a query; `row` holds one number for all coordinates of the row.
using Coordinate = double (*)(Random& random, double row, std::uint32_t d);

double uniform(Random& random, double, std::uint32_t) { return unit(random); }
double around(Random& random, double, std::uint32_t) { return 10 * unit(random) - 4.5; }
double wider(Random& random, double, std::uint32_t) { return 2 * unit(random) - 0.5; }
double mixed(Random& random, double row, std::uint32_t d) { return row < 0.5 ? unit(random) : around(random, row, d); }
double line(Random&, double row, std::uint32_t) { return row; }
double curve(Random& random, double row, std::uint32_t) { return row + 1e-3 * unit(random); }
template <std::uint32_t kClusters>
double cluster(Random& random, double row, std::uint32_t d) {
  const auto number = static_cast<std::uint64_t>(kClusters * row);
  const double centre = static_cast<double>((number * 64 + d + 1) * 0x9E3779B97F4A7C15ull >> 11) * 0x1.0p-53;
  return centre + 1e-3 * (unit(random) + unit(random) + unit(random));
}
double lattice(Random& random, double, std::uint32_t) { return std::floor(100 * unit(random)) / 100; }
double few_places(Random& random, double, std::uint32_t) { return std::floor(10 * unit(random)) / 10; }
double offset(Random& random, double, std::uint32_t) { return 1e6 + unit(random); }
double near_offset(Random& random, double, std::uint32_t) { return 1e6 + 2000 * unit(random) - 1000; }

struct Shape {
  const char* name;
  kith::DType dtype;
  Coordinate point;
  Coordinate query;    ///< null: every point is a query
  double queries = 1;  ///< how many times the queries of the others
};

constexpr Shape kShapes[] = {
    {"uniform", kith::DType::f32, uniform, uniform},
    {"uniform f64", kith::DType::f64, uniform, uniform},
    {"uniform, few queries", kith::DType::f32, uniform, uniform, 0.1},
    {"queries twice as wide", kith::DType::f32, uniform, wider},
    {"queries 10 times as wide", kith::DType::f32, uniform, around},
    {"half of them so", kith::DType::f32, uniform, mixed},
    {"points on a line", kith::DType::f32, line, uniform},
    {"points along a line", kith::DType::f32, curve, uniform},
    {"points in 10 clusters", kith::DType::f32, cluster<10>, uniform},
    {"points in 10 clusters f64", kith::DType::f64, cluster<10>, uniform},
    {"points in 10000 clusters", kith::DType::f32, cluster<10000>, uniform},
    {"points on a lattice", kith::DType::f32, lattice, uniform},
    {"points at 1000 places", kith::DType::f32, few_places, uniform},
    {"cube at 1e6", kith::DType::f32, offset, near_offset},
    {"cube at 1e6 f64", kith::DType::f64, offset, near_offset},
    {"self, uniform", kith::DType::f32, uniform, nullptr},
    {"self, line", kith::DType::f32, line, nullptr},
    {"self, 10 clusters", kith::DType::f32, cluster<10>, nullptr},
    {"self, 10000 clusters", kith::DType::f32, cluster<10000>, nullptr},
    {"self, lattice", kith::DType::f32, lattice, nullptr},
    {"self, 1000 places", kith::DType::f32, few_places, nullptr},
};

template <typename T>
void fill(std::span<T> values, std::uint32_t dims, Coordinate coordinate, Random& random) {
  for (std::size_t i = 0; i < values.size(); i += dims) {
    const double row = unit(random);
    for (std::uint32_t d = 0; d < dims; ++d) values[i + d] = static_cast<T>(coordinate(random, row, d));
  }
}

kith::PointSet drawn(kith::DType dtype, std::uint64_t rows, std::uint32_t dims, Coordinate coordinate,
                     std::uint64_t seed) {
  Random random(seed);
  kith::PointSet points(dtype, rows, dims);
  dtype == kith::DType::f32 ? fill(points.values<float>(), dims, coordinate, random)
                            : fill(points.values<double>(), dims, coordinate, random);
  return points;
}

/// The least of some runs, in microseconds.
double least_us(int repeats, const std::function<void()>& run) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    least =
        std::min(least, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

template <typename T>
double one_by_one_us(const kith::Index& index, kith::PointView queries, std::uint32_t k, int repeats) {
  std::vector<std::uint32_t> indices(k);
  std::vector<T> distances(k);
  return least_us(repeats, [&] {
    for (std::uint64_t q = 0; q < queries.rows(); ++q) {
      index.knn_one(std::span(queries.row<T>(q), queries.dims()), std::span(indices), std::span(distances));
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::max(1, std::atoi(argv[i])) : otherwise; };
  const auto points_wanted = static_cast<std::uint64_t>(number(1, 1000000));
  const auto queries_wanted = static_cast<std::uint64_t>(number(2, 100000));
  const int repeats = number(3, 3);
  const auto k = static_cast<std::uint32_t>(number(4, 8));
  const auto dims = static_cast<std::uint32_t>(number(5, 3));
  const std::string_view wanted = argc > 6 ? argv[6] : "";
  double plain = 0;
  std::printf("%-28s %9s %9s %9s %9s %9s\n", "us per query", "knn", "alone", "count", "knn/plain", "knn/alone");
  for (const Shape& shape : kShapes) {
    if (!wanted.empty() && std::string_view(shape.name).find(wanted) == std::string_view::npos) continue;
    const kith::PointSet points = drawn(shape.dtype, points_wanted, dims, shape.point, 1);
    const bool is_self = shape.query == nullptr;
    const auto rows = static_cast<std::uint64_t>(static_cast<double>(queries_wanted) * shape.queries);
    const kith::PointSet queries = drawn(shape.dtype, rows, dims, is_self ? shape.point : shape.query, 2);
    const kith::Index index = kith::Index::build(
        points.view(), {.engine = kith::Engine::kd_tree, .device = kith::Device::cpu(), .threads = 1});
    const kith::SearchOptions options{.threads = 1};
    kith::Neighbors found;
    const auto searched = static_cast<double>(is_self ? points.rows() : rows);
    const double batch =
        least_us(repeats,
                 [&] { found = is_self ? index.knn_self(k, options) : index.knn(queries.view(), k, options); }) /
        searched;
    std::vector<double> radii(found.queries());
    for (std::uint64_t q = 0; q < radii.size(); ++q) radii[q] = found.distance(q, k - 1);
    const double count =
        least_us(repeats,
                 [&] { is_self ? index.count_self(radii, options) : index.count(queries.view(), radii, options); }) /
        searched;
    const double alone = (shape.dtype == kith::DType::f32 ? one_by_one_us<float>(index, queries.view(), k, repeats)
                                                          : one_by_one_us<double>(index, queries.view(), k, repeats)) /
                         static_cast<double>(rows);
    if (plain == 0) plain = batch;
    std::printf("%-28s %9.2f %9.2f %9.2f %9.2f %9.2f\n", shape.name, batch, alone, count, batch / plain, batch / alone);
    std::fflush(stdout);
  }
  return 0;
}
