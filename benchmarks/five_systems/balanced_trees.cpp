// A balanced k-d tree of points some of which are equal: remove those, build, export, verify.
#include "measure.hpp"

#include <kith/apps/dedupe_on_device.hpp>
#include <kith/apps/take_rows.hpp>
#include <kith/apps/tree_export_on_device.hpp>

namespace kith::five {

namespace {

/// Makes one row in ten a copy of an earlier one, and returns how many rows are different.
std::uint64_t copy_some(std::vector<float>& rows, std::uint32_t dims) {
  std::mt19937_64 random(2);
  const std::uint64_t count = rows.size() / dims;
  std::uint64_t copies = 0;
  for (std::uint64_t i = 1; i < count; ++i) {
    if (random() % 10 != 0) continue;
    const std::uint64_t from = random() % i;
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(from * dims), dims,
                rows.begin() + static_cast<std::ptrdiff_t>(i * dims));
    ++copies;
  }
  return count - copies;
}

void measure(const Job& job, std::uint64_t points, std::uint32_t dims) {
  const Machine& machine = job.machine;
  std::vector<float> rows = uniform_rows(points, dims, 1);
  const std::uint64_t different = copy_some(rows, dims);
  const Array<float> placed(machine, rows);
  const Array<std::uint32_t> kept_there(machine, points);
  std::vector<std::uint32_t> kept;
  const Spread dedupe = timed(machine, [&] {
    if (machine.is_gpu()) {
      kept.resize(apps::dedupe_on_device(placed.rows(dims), kept_there.data(), nullptr).kept);
    } else {
      kept = apps::dedupe(placed.rows(dims), {.want_map = false}).kept;
    }
  });
  if (machine.is_gpu()) machine.copy(kept.data(), kept_there.data(), kept.size() * sizeof(std::uint32_t));

  const PointSet unique = apps::take_rows(PointView(rows, dims), kept);
  const Array<float> unique_there(machine, unique.values<float>());
  const BuildOptions as_tree{.engine = Engine::kd_tree, .device = machine.device()};
  const Spread build = timed(machine, [&] { Index::build(unique_there.rows(dims), as_tree); });

  apps::NodeTable table;
  std::vector<Array<std::uint32_t>> columns;  // of the table, on a GPU
  for (int column = 0; column < 4; ++column) columns.emplace_back(machine, kept.size());
  const Spread exported = timed(machine, [&] {
    if (machine.is_gpu()) {
      const apps::TreeOnDevice tree = apps::export_tree_on_device(
          unique_there.rows(dims), {columns[0].data(), columns[1].data(), columns[2].data(), columns[3].data()});
      table.root = tree.root;
    } else {
      table = apps::export_node_table(unique_there.rows(dims));
    }
  });
  if (machine.is_gpu()) {
    std::vector<std::uint32_t>* const into[] = {&table.point, &table.split_dim, &table.less, &table.greater};
    for (int column = 0; column < 4; ++column) *into[column] = columns[column].on_host();
  }
  std::vector<double> checks;
  for (int run = 0; run < 10; ++run) checks.push_back(machine.tree_check_ms(unique.view(), table));

  Row()
      .number("points", points)
      .number("dims", dims)
      .number("kept", kept.size())
      .times("dedupe_ms", dedupe)
      .times("build_ms", build)
      .times("export_ms", exported)
      .times("verify_ms", spread_of(checks))
      .add_to(job.results, kept.size() == different);
}

}  // namespace

void measure_balanced_trees(const Job& job) {
  job.results.begin_list("balanced_trees");
  constexpr std::uint64_t k1M = 1'000'000, kMost = std::uint64_t{1} << 24;
  for (const std::uint64_t points : {kMost / 16, kMost / 4, kMost}) measure(job, job.sized(points), 4);
  for (const std::uint64_t points : {k1M, kMost}) measure(job, job.sized(points), 3);
}

}  // namespace kith::five
