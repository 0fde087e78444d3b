// 3-D scans as registration uses them: builds of all sizes, the nearest point of each of a moved scan, and searches
// with a bounded queue against exact ones.
#include "measure.hpp"

#include <kith/apps/generate.hpp>
#include <kith/apps/take_rows.hpp>
#include <kith/io/read_points.hpp>

#include <cmath>
#include <filesystem>
#include <numeric>

namespace kith::five {

namespace {

struct Scan {
  std::string name;
  PointSet points;
};

/// Rows without NaN; of a file that is not there a generated cloud.
Scan scan_of(const Job& job, const char* name, const char* file, apps::Shape shape, std::uint64_t rows) {
  const std::string path = job.data + "/" + file;
  if (!std::filesystem::exists(path)) {
    return {std::string(name_of(shape)) + " (generated)", apps::generate({.shape = shape, .points = rows}).points};
  }
  const PointSet all = io::read_points(path, {.dtype = DType::f32}).points;
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < all.rows(); ++i) {
    const float* row = all.view().row<float>(i);
    if (std::isfinite(row[0]) && std::isfinite(row[1]) && std::isfinite(row[2])) kept.push_back(i);
  }
  return {name, apps::take_rows(all.view(), kept)};
}

/// So many rows, evenly over the scan.
PointSet thinned(const PointSet& scan, std::uint64_t rows) {
  std::vector<std::uint32_t> numbers(rows);
  for (std::uint64_t i = 0; i < rows; ++i) numbers[i] = static_cast<std::uint32_t>(i * scan.rows() / rows);
  return apps::take_rows(scan.view(), numbers);
}

/// The scan after the scanner has moved along x.
std::vector<float> moved(const PointSet& scan, float by) {
  const std::span<const float> values = scan.values<float>();
  std::vector<float> rows(values.begin(), values.end());
  for (std::size_t i = 0; i < rows.size(); i += 3) rows[i] -= by;
  return rows;
}

void measure_builds(const Job& job, const Scan& scan) {
  std::vector<std::uint64_t> sizes = {2000, 5000, 10'000, 20'000, 50'000, 100'000, 200'000, 500'000};
  std::erase_if(sizes, [&](std::uint64_t size) { return size >= scan.points.rows(); });
  sizes.push_back(scan.points.rows());
  for (const std::uint64_t size : sizes) {
    const PointSet points = thinned(scan.points, size);
    const Array<float> placed(job.machine, points.values<float>());
    std::optional<Index> index;
    const Spread ms = timed(job.machine, [&] {
      index = Index::build(placed.rows(3), {.engine = Engine::kd_tree, .device = job.machine.device()});
    });
    // Every point is the nearest of itself, or an equal one with a lower number is.
    const Answers found(job.machine, size);
    search(*index, placed.rows(3), 1, found);
    const std::vector<float> distances = found.distances.on_host();
    const bool is_right = std::all_of(distances.begin(), distances.end(), [](float each) { return each == 0; });
    Row().text("scan", scan.name).number("points", size).times("build_ms", ms).add_to(job.results, is_right);
  }
}

/// Trees and queries of all sizes: the nearest point of each of a scan that has moved.
void measure_matrix(const Job& job, const Scan& scan) {
  const std::vector<std::uint64_t> sizes = {2000, 10'000, 50'000, 200'000, 500'000};
  for (const std::uint64_t points : sizes) {
    const PointSet before = thinned(scan.points, job.sized(points));
    const Array<float> placed(job.machine, before.values<float>());
    const Index tree = Index::build(placed.rows(3), {.engine = Engine::kd_tree, .device = job.machine.device()});
    const Index brute = Index::build(placed.rows(3), {.engine = Engine::brute_force, .device = job.machine.device()});
    for (const std::uint64_t queries : sizes) {
      const Array<float> now(job.machine, moved(thinned(scan.points, job.sized(queries)), 0.1f));
      const PointView asked = now.rows(3);
      const std::uint64_t sample = std::min<std::uint64_t>(asked.rows(), 1000);
      const Answers found(job.machine, asked.rows()), expected(job.machine, sample), again(job.machine, sample);
      const Spread ms = timed(job.machine, [&] { search(tree, asked, 1, found); });
      search(brute, asked.slice(0, sample), 1, expected);
      job.machine.copy(again.indices.data(), found.indices.data(), sample * sizeof(std::uint32_t));
      job.machine.copy(again.distances.data(), found.distances.data(), sample * sizeof(float));
      Row()
          .text("scan", scan.name)
          .number("points", before.rows())
          .number("queries", asked.rows())
          .times("search_ms", ms)
          .add_to(job.results, again == expected);
    }
  }
}

/// Searches whose queue holds 10 nodes and more, up to exact ones, whose queue is given as 0.
void measure_bounded(const Job& job, const std::string& name, std::span<const float> rows,
                     std::span<const float> queries, std::uint32_t dims) {
  constexpr std::uint32_t kNearest = 10;
  const Array<float> placed(job.machine, rows), asked(job.machine, queries);
  const Index tree = Index::build(placed.rows(dims), {.engine = Engine::kd_tree, .device = job.machine.device()});
  const std::uint64_t count = asked.size() / dims, entries = count * kNearest;
  const Answers exact(job.machine, entries), found(job.machine, entries);
  search(tree, asked.rows(dims), kNearest, exact);
  const std::vector<float> farthest = exact.distances.on_host();
  for (const std::uint32_t queue : {10u, 20u, 30u, 50u, 100u, 200u, 0u}) {
    const Spread ms = timed(job.machine, [&] { search(tree, asked.rows(dims), kNearest, found, queue); });
    // A neighbour counts if it is no farther than the last of the exact list.
    const std::vector<float> distances = found.distances.on_host();
    std::uint64_t right = 0;
    for (std::uint64_t i = 0; i < entries; ++i)
      right += distances[i] <= farthest[i / kNearest * kNearest + kNearest - 1];
    const double recall = static_cast<double>(right) / static_cast<double>(entries);
    Row()
        .text("cloud", name)
        .number("points", tree.size())
        .number("dims", dims)
        .number("queries", count)
        .number("k", kNearest)
        .number("queue", queue)
        .times("search_ms", ms)
        .number("recall", recall)
        .add_to(job.results, queue != 0 || recall == 1);
  }
}

}  // namespace

void measure_scans(const Job& job) {
  const Scan bunny = scan_of(job, "bunny", "stanford_bunny/bun_zipper.ply", apps::Shape::surface, 35'947);
  const Scan office = scan_of(job, "office", "pcl/office1.pcd", apps::Shape::lidar, 254'456);
  const Scan street = scan_of(job, "", "no such file", apps::Shape::lidar, job.sized(500'000));
  job.results.begin_list("scan_builds");
  for (const Scan* scan : {&bunny, &office, &street}) measure_builds(job, *scan);
  job.results.begin_list("scan_searches");
  measure_matrix(job, street);
  job.results.begin_list("bounded_searches");
  for (const Scan* scan : {&bunny, &office}) {
    const PointSet points = thinned(scan->points, scan->points.rows() / job.part);
    measure_bounded(job, scan->name, points.values<float>(), moved(points, 0.01f), 3);
  }
  for (const std::uint32_t dims : {8u, 12u}) {
    measure_bounded(job, "uniform", uniform_rows(job.sized(200'000), dims, 1), uniform_rows(job.sized(20'000), dims, 2),
                    dims);
  }
}

}  // namespace kith::five
