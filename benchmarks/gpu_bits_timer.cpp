// Times kNN by the Hamming distance on the GPU: gpu_bits_timer RESULTS.json
//
// Per case: the median of several searches by CUDA events, rows, queries and answers in GPU memory; pairs of words per
// nanosecond; how many queries were retried; and whether a sample of the answers has the bytes of the CPU's. All
// bits are random, so many rows are equally far.
#include "gpu_timing.hpp"

#include "cuda/brute_force/scan/knn_rounds.hpp"
#include "cuda/brute_force/scan/scan_search.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using namespace kith;

struct Case {
  std::uint64_t rows = 0;
  std::uint32_t bits = 0;  ///< a multiple of 64
  std::uint64_t queries = 0;
  std::uint32_t k = 10;
};

std::vector<std::uint64_t> random_words(std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> words(count);
  for (std::uint64_t& word : words) word = random();
  return words;
}

/// Words as the kernels want them.
cuda::DeviceBuffer<float> words_on_device(const std::vector<std::uint64_t>& words, const cuda::Stream& stream) {
  return on_device(std::span(reinterpret_cast<const float*>(words.data()), 2 * words.size()), stream);
}

/// Of some queries of the case. Bytes of words in memory are bits in some order, the same for all rows.
bool is_right(const Case& what, const std::vector<std::uint64_t>& rows, const std::vector<std::uint64_t>& queries,
              const std::vector<std::uint32_t>& indices, const std::vector<float>& distances) {
  constexpr std::uint64_t kSample = 24;
  const auto view = [&](const std::vector<std::uint64_t>& words, std::uint64_t first, std::uint64_t count) {
    return BitView(reinterpret_cast<const std::uint8_t*>(words.data() + first * (what.bits / 64)), count, what.bits);
  };
  const BitIndex index = BitIndex::build(view(rows, 0, what.rows), {.device = Device::cpu()});
  for (std::uint64_t q = 0; q < what.queries; q += std::max<std::uint64_t>(what.queries / kSample, 1)) {
    const Neighbors expected = index.knn(view(queries, q, 1), what.k);
    for (std::uint32_t j = 0; j < what.k; ++j) {
      if (expected.index(0, j) != indices[q * what.k + j]) return false;
      if (expected.distance(0, j) != distances[q * what.k + j]) return false;
    }
  }
  return true;
}

/// Writes a row of the report; false if the answer is wrong.
void measure(const Case& what, Results& results) {
  const std::vector<std::uint64_t> rows = random_words(what.rows * what.bits / 64, 1),
                                   queries = random_words(what.queries * what.bits / 64, 2);
  const cuda::Stream stream;
  const cuda::DeviceBuffer<float> points = words_on_device(rows, stream), asking = words_on_device(queries, stream);
  cuda::DeviceBuffer<std::uint32_t> indices(what.queries * what.k, stream), again(1, stream);
  cuda::DeviceBuffer<float> distances(what.queries * what.k, stream);
  cuda::ScannedPoints<float> scanned;
  scanned.points = {points.data(), what.rows, what.bits / 32};
  scanned.order = cuda::spread_order(cuda::tiles_of(what.rows));
  cuda::KnnRequest<float> request{
      .queries = {.rows = asking.data(), .row_stride = what.bits / 32, .count = what.queries},
      .k = what.k,
      .bound = 2.0f * BitIndex::kMostBits,
      .answer = {indices.data(), distances.data()}};
  request.metric.is_hamming = true;
  EventTimer timer(stream.get());
  const double ms = timer.median_ms([&] { cuda::scan_knn(scanned, request, engine::SelectMethod::automatic, stream); });
  cuda::check(cudaMemsetAsync(again.data(), 0, sizeof(std::uint32_t), stream.get()), "writing zeros");
  request.asked_again = again.data();
  cuda::scan_knn(scanned, request, engine::SelectMethod::automatic, stream);
  stream.synchronize();
  const std::uint32_t asked_again = on_host(again.data(), 1)[0];
  const bool right = is_right(what, rows, queries, on_host(indices.data(), indices.size()),
                              on_host(distances.data(), distances.size()));
  const double words = static_cast<double>(what.rows) * static_cast<double>(what.queries) * (what.bits / 32);
  char text[512];
  std::snprintf(text, sizeof text,
                "{\"rows\": %llu, \"bits\": %u, \"queries\": %llu, \"k\": %u, \"ms\": %.4f, "
                "\"word_pairs_per_ns\": %.1f, \"asked_again\": %u, \"is_right\": %s}",
                static_cast<unsigned long long>(what.rows), what.bits, static_cast<unsigned long long>(what.queries),
                what.k, ms, words / ms / 1e6, asked_again, right ? "true" : "false");
  std::printf("%9llu rows %5u bits %7llu queries k %5u %10.3f ms %8.1f pairs of words/ns %6u again  %s\n",
              static_cast<unsigned long long>(what.rows), what.bits, static_cast<unsigned long long>(what.queries),
              what.k, ms, words / ms / 1e6, asked_again, right ? "right" : "WRONG");
  results.add(text, right);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::uint64_t k1M = 1'000'000;
  const std::vector<Case> cases = {
      {k1M, 256, 10'000},     {k1M, 64, 10'000},       {k1M, 128, 10'000},     {k1M, 192, 10'000}, {k1M, 512, 10'000},
      {k1M, 1024, 10'000},    {k1M, 256, 10'000, 100}, {k1M, 256, 1000, 1000}, {k1M, 256, 1},      {10 * k1M, 256, 1},
      {k1M, 64, 1},           {k1M, 256, 8},           {k1M, 256, 32},         {k1M, 256, 33},     {k1M, 256, 128},
      {100'000, 256, 100'000}};
  return run_timer(argc, argv, "gpu_bits_timer RESULTS.json", [&](Results& results, const std::string&) {
    results.begin_list("rows");
    for (const Case& what : cases) measure(what, results);
  });
}
