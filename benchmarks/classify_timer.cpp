// Times kith's classification of one file by another, once for each line of standard input, so that somebody else can
// be timed in between: classify_timer f32|f64 TRAIN LABELS TEST K THREADS ANSWERS
//
// LABELS holds one column of class numbers. Each run, from points in memory to labels, prints its times as JSON in
// milliseconds. At the end the labels go to the file ANSWERS as u32.
#include <kith/apps/classify.hpp>
#include <kith/error.hpp>
#include <kith/io/read_points.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

std::vector<std::uint32_t> read_codes(const std::string& path) {
  const kith::io::PointFile file = kith::io::read_points(path, {.dtype = kith::DType::f64});
  std::vector<std::uint32_t> codes;
  for (std::uint64_t i = 0; i < file.view().rows(); ++i) {
    codes.push_back(static_cast<std::uint32_t>(file.view().at(i, 0)));
  }
  return codes;
}

void run(char** argv) {
  const kith::io::ReadOptions read{.dtype = std::string(argv[1]) == "f32" ? kith::DType::f32 : kith::DType::f64};
  const kith::io::PointFile train = kith::io::read_points(argv[2], read);
  const std::vector<std::uint32_t> codes = read_codes(argv[3]);
  const kith::io::PointFile test = kith::io::read_points(argv[4], read);
  const std::uint32_t classes = codes.empty() ? 0 : *std::max_element(codes.begin(), codes.end()) + 1;
  kith::apps::ClassifyOptions options;
  options.k = static_cast<std::uint32_t>(std::atoi(argv[5]));
  options.threads = std::atoi(argv[6]);

  kith::apps::Classified found;
  for (std::string line; std::getline(std::cin, line);) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t start_of_work = std::clock();
    found = kith::apps::classify(train.view(), {codes, classes}, test.view(), options);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    const double work_ms = static_cast<double>(std::clock() - start_of_work) * 1e3 / CLOCKS_PER_SEC;
    const kith::apps::NeighborWork& parts = found.work;
    std::printf(
        "{\"ms\": %.3f, \"processor_ms\": %.3f, \"build_ms\": %.3f, \"search_ms\": %.3f, \"vote_ms\": %.3f, "
        "\"engine\": \"%s\"}\n",
        time.count(), work_ms, parts.build_ms, parts.search_ms, parts.vote_ms,
        std::string(kith::name_of(parts.engine)).c_str());
    std::fflush(stdout);
  }
  std::ofstream out(argv[7], std::ios::binary);
  out.write(reinterpret_cast<const char*>(found.labels.data()),
            static_cast<std::streamsize>(found.labels.size() * sizeof(found.labels[0])));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fputs("usage: classify_timer f32|f64 TRAIN LABELS TEST K THREADS ANSWERS\n", stderr);
    return 2;
  }
  try {
    run(argv);
  } catch (const kith::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
