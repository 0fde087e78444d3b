// Labels by neighbours where each new point, once labelled, joins the training set: all sixteen cases.
#include "measure.hpp"

#include <kith/apps/classify.hpp>
#include <kith/apps/classify_on_device.hpp>

namespace kith::five {

namespace {

constexpr std::uint32_t kNearest = 5;

struct Case {
  std::uint64_t train = 0, fresh = 0;
  std::uint32_t dims = 0, classes = 0;
};

void measure(const Job& job, const Case& what, std::span<const float> rows, std::span<const float> queries) {
  const Machine& machine = job.machine;
  const std::uint64_t values = what.fresh * what.dims;
  const Array<float> train(machine, rows.first(what.train * what.dims)), fresh(machine, queries.first(values));
  std::vector<std::uint32_t> codes(what.train);
  std::mt19937_64 random(3);
  for (std::uint32_t& code : codes) code = static_cast<std::uint32_t>(random() % what.classes);
  const Array<std::uint32_t> codes_there(machine, codes), labels_there(machine, what.fresh);

  apps::ClassifyOptions on_cpu;
  on_cpu.k = kNearest;
  on_cpu.device = Device::cpu();
  apps::DeviceClassifyOptions on_gpu;
  on_gpu.k = kNearest;
  std::vector<std::uint32_t> labels;
  std::uint64_t depth = 0;
  const Spread ms = timed(machine, [&] {
    if (machine.is_gpu()) {
      depth = apps::classify_sequential_on_device(train.rows(what.dims), {codes_there.data(), what.classes},
                                                  fresh.rows(what.dims), labels_there.data(), on_gpu)
                  .depth;
    } else {
      apps::Classified found =
          apps::classify_sequential(train.rows(what.dims), {codes, what.classes}, fresh.rows(what.dims), on_cpu);
      labels = std::move(found.labels);
      depth = found.depth;
    }
  });
  if (machine.is_gpu()) labels = labels_there.on_host();
  // The first labels do not depend on later points, so that they can be checked by themselves, by another engine or
  // device.
  const std::uint64_t checked = std::min<std::uint64_t>(what.fresh, 50);
  on_cpu.engine = machine.is_gpu() ? Engine::brute_force : Engine::kd_tree;
  const apps::Classified expected =
      apps::classify_sequential(PointView(rows.first(what.train * what.dims), what.dims), {codes, what.classes},
                                PointView(queries.first(checked * what.dims), what.dims), on_cpu);
  labels.resize(checked);
  Row()
      .number("train", what.train)
      .number("new", what.fresh)
      .number("dims", what.dims)
      .number("classes", what.classes)
      .number("k", kNearest)
      .times("ms", ms)
      .number("depth", depth)
      .add_to(job.results, labels == expected.labels);
}

}  // namespace

void measure_classification(const Job& job) {
  job.results.begin_list("classification");
  const std::vector<float> rows = uniform_rows(job.sized(1'000'000), 100, 1), queries = uniform_rows(2000, 100, 2);
  for (const std::uint64_t train : {256'000, 1'000'000}) {
    for (const std::uint64_t fresh : {1000, 2000}) {
      for (const std::uint32_t dims : {50u, 100u}) {
        for (const std::uint32_t classes : {50u, 100u}) {
          measure(job, {job.sized(train), job.sized(fresh), dims, classes}, rows, queries);
        }
      }
    }
  }
}

}  // namespace kith::five
