// Times one library's k-d tree on one file of f32 points, in this process, and prints the times as JSON:
// kd_tree_timer kith|nanoflann|nanoflann-sorted POINTS.npy THREADS REPEATS RADIUS [K...], or version (of nanoflann)
//
// nanoflann-sorted hands its queries to nanoflann along a space-filling curve (sorting not counted).
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/io/read_points.hpp>

#include <nanoflann.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

/// The median of the times of `repeats` runs, in milliseconds.
double median_ms(int repeats, const std::function<void()>& run) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print_time(const char* name, double ms, std::uint64_t check) {
  std::printf("{\"name\": \"%s\", \"ms\": %.3f, \"check\": %llu}\n", name, ms, static_cast<unsigned long long>(check));
  std::fflush(stdout);
}

struct Job {
  kith::PointView points;
  int threads;
  int repeats;
  double radius;
  std::vector<std::uint32_t> ks;
};

void time_kith(const Job& job) {
  std::unique_ptr<kith::Index> index;
  const kith::BuildOptions build{
      .engine = kith::Engine::kd_tree, .device = kith::Device::cpu(), .threads = job.threads};
  print_time("build",
             median_ms(job.repeats,
                       [&] {
                         index.reset();
                         index = std::make_unique<kith::Index>(kith::Index::build(job.points, build));
                       }),
             0);
  const kith::SearchOptions search{.squared = true, .threads = job.threads};
  for (const std::uint32_t k : job.ks) {
    std::uint64_t sum = 0;
    const double ms = median_ms(job.repeats, [&] {
      const kith::Neighbors near = index->knn_self(k, search);
      sum = std::accumulate(near.indices().begin(), near.indices().end(), std::uint64_t{0});
    });
    print_time(("knn " + std::to_string(k)).c_str(), ms, sum);
  }
  if (job.radius > 0) {
    std::uint64_t found = 0;
    const double ms = median_ms(job.repeats, [&] { found = index->radius_self(job.radius, search).indices().size(); });
    print_time("radius", ms, found);
  }
}

// Version 1.5 renamed what searches take and give; later ones build on several threads.
#if NANOFLANN_VERSION >= 0x150
using NanoflannMatch = nanoflann::ResultItem<std::uint32_t, float>;
using NanoflannSearch = nanoflann::SearchParameters;
nanoflann::KDTreeSingleIndexAdaptorParams nanoflann_build(int threads) {
  return {10, nanoflann::KDTreeSingleIndexAdaptorFlags::None, static_cast<unsigned>(threads)};
}
#else
using NanoflannMatch = std::pair<std::uint32_t, float>;
using NanoflannSearch = nanoflann::SearchParams;
nanoflann::KDTreeSingleIndexAdaptorParams nanoflann_build(int) { return {10}; }
#endif

/// The version of nanoflann: 0x142 is 1.4.2, 0x010C01 is 1.12.1.
void print_version() {
  const int bits = NANOFLANN_VERSION > 0xfff ? 8 : 4, mask = (1 << bits) - 1;
  std::printf("%d.%d.%d\n", NANOFLANN_VERSION >> 2 * bits, NANOFLANN_VERSION >> bits & mask, NANOFLANN_VERSION & mask);
}

/// The points as nanoflann wants to see them.
struct Cloud {
  kith::PointView points;

  std::size_t kdtree_get_point_count() const { return points.rows(); }
  float kdtree_get_pt(std::size_t i, std::size_t d) const { return points.row<float>(i)[d]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

/// The order of the queries along a Z curve with 10 bits per axis (8 for many axes).
std::vector<std::uint32_t> along_curve(kith::PointView points) {
  const std::uint32_t dims = points.dims(), bits = std::min(10u, 63 / dims);
  std::vector<float> low(dims, INFINITY), high(dims, -INFINITY);
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      low[d] = std::min(low[d], points.row<float>(i)[d]);
      high[d] = std::max(high[d], points.row<float>(i)[d]);
    }
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keys(points.rows());
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    std::uint64_t key = 0;
    for (std::uint32_t bit = bits; bit-- > 0;) {
      for (std::uint32_t d = 0; d < dims; ++d) {
        const float share = high[d] > low[d] ? (points.row<float>(i)[d] - low[d]) / (high[d] - low[d]) : 0;
        const auto cell = std::min<std::uint32_t>(static_cast<std::uint32_t>(share * static_cast<float>(1u << bits)),
                                                  (1u << bits) - 1);
        key = key << 1 | (cell >> bit & 1);
      }
    }
    keys[i] = {key, static_cast<std::uint32_t>(i)};
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(points.rows());
  for (std::uint64_t i = 0; i < points.rows(); ++i) order[i] = keys[i].second;
  return order;
}

template <int kDims>
void time_nanoflann(const Job& job, bool sorted) {
  using Tree =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Cloud>, Cloud, kDims, std::uint32_t>;
  const Cloud cloud{job.points};
  std::unique_ptr<Tree> tree;
  const auto dims = static_cast<int>(job.points.dims());
  print_time("build",
             median_ms(job.repeats,
                       [&] {
                         tree.reset();
                         tree = std::make_unique<Tree>(dims, cloud, nanoflann_build(job.threads));
                       }),
             0);
  std::vector<std::uint32_t> order(job.points.rows());
  std::iota(order.begin(), order.end(), 0u);
  if (sorted) order = along_curve(job.points);
  const auto on_threads = [&](const std::function<void(std::uint64_t, std::uint64_t)>& part) {
    std::vector<std::thread> threads;
    for (int t = 0; t < job.threads; ++t) {
      threads.emplace_back(part, order.size() * t / job.threads, order.size() * (t + 1) / job.threads);
    }
    for (std::thread& thread : threads) thread.join();
  };
  for (const std::uint32_t k : job.ks) {
    std::uint64_t sum = 0;
    const double ms = median_ms(job.repeats, [&] {
      std::vector<std::uint32_t> indices(order.size() * k);
      std::vector<float> distances(order.size() * k);
      on_threads([&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) {
          (void)tree->knnSearch(job.points.row<float>(order[i]), k, &indices[order[i] * std::uint64_t{k}],
                                &distances[order[i] * std::uint64_t{k}]);
        }
      });
      sum = std::accumulate(indices.begin(), indices.end(), std::uint64_t{0});
    });
    print_time(("knn " + std::to_string(k)).c_str(), ms, sum);
  }
  if (job.radius > 0) {
    std::uint64_t found = 0;
    const double ms = median_ms(job.repeats, [&] {
      std::vector<std::vector<NanoflannMatch>> lists(order.size());
      const auto squared = static_cast<float>(job.radius * job.radius);
      on_threads([&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) {
          (void)tree->radiusSearch(job.points.row<float>(order[i]), squared, lists[order[i]], NanoflannSearch());
        }
      });
      found = 0;
      for (const auto& list : lists) found += list.size();
    });
    print_time("radius", ms, found);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "version") {
    print_version();
    return 0;
  }
  if (argc < 6) {
    std::fputs(
        "usage: kd_tree_timer kith|nanoflann|nanoflann-sorted POINTS.npy THREADS REPEATS RADIUS [K...]\n"
        "       kd_tree_timer version\n",
        stderr);
    return 2;
  }
  try {
    const std::string_view library = argv[1];
    const kith::io::PointFile file = kith::io::read_points(argv[2], {.dtype = kith::DType::f32});
    Job job{file.view(), std::atoi(argv[3]), std::max(1, std::atoi(argv[4])), std::atof(argv[5]), {}};
    for (int i = 6; i < argc; ++i) job.ks.push_back(static_cast<std::uint32_t>(std::atoi(argv[i])));
    const bool sorted = library == "nanoflann-sorted";
    if (library == "kith") {
      time_kith(job);
    } else if (file.view().dims() == 2) {
      time_nanoflann<2>(job, sorted);
    } else if (file.view().dims() == 3) {
      time_nanoflann<3>(job, sorted);
    } else if (file.view().dims() == 4) {
      time_nanoflann<4>(job, sorted);
    } else if (file.view().dims() == 8) {
      time_nanoflann<8>(job, sorted);
    } else {
      time_nanoflann<-1>(job, sorted);
    }
  } catch (const kith::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
