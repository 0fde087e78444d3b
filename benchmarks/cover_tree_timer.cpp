// Times one engine of kith on one file of vectors or words, on one thread, and prints times and counts as JSON:
// cover_tree_timer brute|kdtree|covertree f32|f64|words OBJECTS QUERIES K REPEATS ANSWERS
//
// Times are those of the processor, so that other programs count little. The numbers of the neighbours go to the file
// ANSWERS as u32, queries x K.
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/io/read_points.hpp>
#include <kith/io/read_sequences.hpp>
#include <kith/sequence_index.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Job {
  kith::Engine engine;
  std::string_view kind;
  std::string objects, queries;
  std::uint32_t k;
  int repeats;
  std::string answers;
};

/// The median of the times of `repeats` runs, in milliseconds of the processor; of one run if it takes long.
template <typename Run>
double median_ms(int repeats, Run&& run) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const std::clock_t start = std::clock();
    run();
    times.push_back(static_cast<double>(std::clock() - start) * 1e3 / CLOCKS_PER_SEC);
    constexpr double kLongMs = 4000;
    if (times[0] > kLongMs) break;
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// `build(times)` returns an index, `search(index, times)` its answers.
template <typename Build, typename Search>
void time_it(const Job& job, Build&& build, Search&& search) {
  using Index = decltype(build(nullptr));
  std::optional<Index> index;
  kith::WorkTimes built, searched;
  const double build_ms = median_ms(job.repeats, [&] {
    index.reset();
    built = {};
    index.emplace(build(&built));
  });
  std::vector<std::uint32_t> found;
  const double query_ms = median_ms(job.repeats, [&] {
    searched = {};
    const kith::Neighbors near = search(*index, &searched);
    found.assign(near.indices().begin(), near.indices().end());
  });
  std::ofstream out(job.answers, std::ios::binary);
  out.write(reinterpret_cast<const char*>(found.data()), static_cast<std::streamsize>(found.size() * sizeof(found[0])));
  std::printf(
      "{\"build_ms\": %.3f, \"query_ms\": %.3f, \"build_evaluations\": %llu, \"query_evaluations\": %llu, "
      "\"index_bytes\": %llu}\n",
      build_ms, query_ms, static_cast<unsigned long long>(built.evaluations),
      static_cast<unsigned long long>(searched.evaluations), static_cast<unsigned long long>(index->memory_bytes()));
}

void time_vectors(const Job& job) {
  const kith::io::ReadOptions read{.dtype = job.kind == "f32" ? kith::DType::f32 : kith::DType::f64};
  const kith::io::PointFile points = kith::io::read_points(job.objects, read);
  const kith::io::PointFile queries = kith::io::read_points(job.queries, read);
  time_it(
      job,
      [&](kith::WorkTimes* times) {
        return kith::Index::build(points.view(),
                                  {.engine = job.engine, .device = kith::Device::cpu(), .threads = 1, .times = times});
      },
      [&](const kith::Index& index, kith::WorkTimes* times) {
        return index.knn(queries.view(), job.k, {.threads = 1, .times = times});
      });
}

void time_words(const Job& job) {
  const kith::io::SequenceFile words = kith::io::read_sequences(job.objects);
  const kith::io::SequenceFile queries = kith::io::read_sequences(job.queries);
  time_it(
      job,
      [&](kith::WorkTimes* times) {
        return kith::SequenceIndex::build(
            words.view(), kith::SequenceMetric::edit,
            {.engine = job.engine, .device = kith::Device::cpu(), .threads = 1, .times = times});
      },
      [&](const kith::SequenceIndex& index, kith::WorkTimes* times) {
        return index.knn(queries.view(), job.k, {.threads = 1, .times = times});
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fputs("usage: cover_tree_timer brute|kdtree|covertree f32|f64|words OBJECTS QUERIES K REPEATS ANSWERS\n",
               stderr);
    return 2;
  }
  try {
    const Job job{
        kith::parse_engine(argv[1]),     argv[2], argv[3], argv[4], static_cast<std::uint32_t>(std::atoi(argv[5])),
        std::max(1, std::atoi(argv[6])), argv[7]};
    job.kind == "words" ? time_words(job) : time_vectors(job);
  } catch (const kith::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
