// kNN by brute force and by a k-d tree, for one query and for batches: times, and bytes as planned and as held.
#include "measure.hpp"

#include <kith/job_plan.hpp>

namespace kith::five {

namespace {

constexpr std::uint32_t kDims = 3;

void measure(const Job& job, std::uint64_t points) {
  const Machine& machine = job.machine;
  const std::uint64_t many = job.sized(100'000), some = job.sized(1000);
  const std::vector<float> rows = uniform_rows(points, kDims, 1);
  const Array<float> placed(machine, rows), queries(machine, uniform_rows(many, kDims, 2));
  const auto built = [&](Engine engine) {
    return Index::build(placed.rows(kDims), {.engine = engine, .device = machine.device()});
  };
  const Index brute = built(Engine::brute_force), tree = built(Engine::kd_tree);
  const Spread builds[] = {timed(machine, [&] { built(Engine::brute_force); }),
                           timed(machine, [&] { built(Engine::kd_tree); })};
  for (const std::uint32_t k : {1u, 10u, 50u, 100u, 200u}) {
    const Answers expected(machine, some * k);
    search(brute, queries.rows(kDims).slice(0, some), k, expected);
    for (const bool is_tree : {false, true}) {
      const Index& index = is_tree ? tree : brute;
      for (const std::uint64_t count : {std::uint64_t{1}, some, many}) {
        if (!is_tree && count == many) continue;
        const PointView asked = queries.rows(kDims).slice(0, count);
        const Answers found(machine, count * k);
        const Spread ms = timed(machine, [&] { search(index, asked, k, found); });
        const JobPlan plan = plan_job({.points = points,
                                       .dims = kDims,
                                       .k = k,
                                       .queries = count,
                                       .engine = index.engine(),
                                       .device = machine.device()});
        Row row;
        row.text("engine", name_of(index.engine())).number("points", points).number("queries", count).number("k", k);
        row.times("search_ms", ms).times("build_ms", builds[is_tree ? 1 : 0]);
        row.number("held_bytes", index.memory_bytes()).number("index_bytes", plan.index_bytes);
        row.number("build_bytes", plan.build_bytes).number("search_bytes", plan.search_bytes);
        row.add_to(job.results, count != some || found == expected);
      }
    }
  }
}

/// From the host's memory to an answer there, which copies all points.
void measure_from_host(const Job& job, std::uint64_t points) {
  const std::vector<float> rows = uniform_rows(points, kDims, 1), query = uniform_rows(1, kDims, 2);
  const BuildOptions options{.engine = Engine::brute_force, .device = job.machine.device(), .expected_queries = 1};
  std::uint64_t found = 0;
  const Spread ms = timed(job.machine, [&] {
    found = Index::build(PointView(rows, kDims), options).knn(PointView(query, kDims), 10).index(0, 0);
  });
  Row().number("points", points).number("k", 10).times("ms", ms).add_to(job.results, found < points);
}

}  // namespace

void measure_knn(const Job& job) {
  job.results.begin_list("knn");
  for (const std::uint64_t points : {1'000'000, 8'400'000, 15'000'000}) measure(job, job.sized(points));
  job.results.begin_list("one_query_from_host");
  measure_from_host(job, job.sized(8'400'000));
}

}  // namespace kith::five
