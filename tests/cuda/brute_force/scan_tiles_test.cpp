// Scans of all pairs, their kernels run on the host: compared with plain loops over the chains of the contract.
#include "cuda/brute_force/scan/scan_tiles.cuh"

#include "core/metric/reduced_distance.hpp"
#include "cuda/emulation/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace kith::test {
namespace {

using cuda::Entry;
using cuda::ScanMode;
using Kind = Metric::Kind;

constexpr auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                            auto... arguments) {
  ASSERT_LE(shared_bytes, std::size_t{48} << 10);
  cuda::emulation::run_grid(blocks, threads, shared_bytes, cuda::emulation::Residence::one_by_one,
                            [&] { kernel(arguments...); });
};

/// Points, queries and filters of a scan, in memory of their own.
template <typename T>
struct Request {
  std::vector<T> points, queries, lengths, bounds;
  std::vector<std::uint32_t> chosen, below;
  std::vector<std::uint64_t> allowed;
  std::uint32_t chosen_count = 0;
  cuda::ScanTask<T> task;

  std::uint64_t asked() const {
    return task.queries.chosen_count == nullptr ? task.queries.count : *task.queries.chosen_count;
  }
  T bound_of(std::uint64_t query) const { return task.bound_of(task.queries.row_of(query)); }

  T reduced(std::uint64_t query, std::uint64_t point) const {
    const std::uint32_t dims = task.points.dims;
    const T* q = task.queries.rows + task.queries.row_of(query) * task.queries.row_stride;
    const T* p = task.points.rows + point * dims;
    if (task.metric.is_hamming) return different_bits(q, p, dims);
    if (task.metric.kind == Kind::inner_product) {
      T sum = 0;
      for (std::uint32_t d = 0; d < dims; ++d) sum = std::fma(q[d], p[d], sum);
      return sum == 0 ? T(0) : -sum;
    }
    return core::visit_kind<core::KdTreeReductions>(task.metric.kind, task.metric.p, [&](const auto& each) {
      if constexpr (std::remove_cvref_t<decltype(each)>::kInfo.wraps) {
        if (!lengths.empty()) return core::periodic_reduced_distance(each, q, p, lengths.data(), dims);
      }
      return core::reduced_distance(each, q, p, dims);
    });
  }
  /// Bit by bit.
  static T different_bits(const T* q, const T* p, std::uint32_t dims) {
    int differ = 0;
    for (std::uint64_t byte = 0; byte < dims * sizeof(T); ++byte) {
      const auto a = reinterpret_cast<const unsigned char*>(q)[byte],
                 b = reinterpret_cast<const unsigned char*>(p)[byte];
      for (int bit = 0; bit < 8; ++bit) differ += (a >> bit & 1) != (b >> bit & 1) ? 1 : 0;
    }
    return static_cast<T>(differ);
  }
  bool admits(std::uint64_t query, std::uint64_t point) const {
    const std::uint64_t row = task.queries.row_of(query), number = task.queries.first + row;
    const cuda::SearchFilter& filter = task.filter;
    if (filter.exclude_self && point == number) return false;
    if (filter.earlier_only && point >= number) return false;
    if (!below.empty() && point >= below[row]) return false;
    return allowed.empty() || (allowed[point / 64] >> (point % 64) & 1) != 0;
  }
  /// What the query finds in the tiles of the task that is not above the bound, in the order of the scan; `none` where
  /// nothing is.
  std::vector<Entry<T>> scanned(std::uint64_t query, T bound) const {
    std::vector<Entry<T>> entries;
    for (std::uint64_t i = task.first_tile; i < task.end_tile; ++i) {
      for (std::uint64_t position = 0; position < cuda::kTilePoints; ++position) {
        const std::uint64_t point = i * task.order.stride % task.order.tiles * cuda::kTilePoints + position;
        entries.push_back(Entry<T>::none());
        if (point >= task.points.count || !admits(query, point)) continue;
        const T distance = reduced(query, point);
        if (distance <= bound) entries.back() = Entry<T>(distance, static_cast<std::uint32_t>(point));
      }
    }
    return entries;
  }
  std::vector<Entry<T>> found(std::uint64_t query, T bound) const {
    std::vector<Entry<T>> entries = scanned(query, bound);
    std::erase_if(entries, [](const Entry<T>& entry) { return entry.is_none(); });
    std::sort(entries.begin(), entries.end());
    return entries;
  }
};

struct Example {
  std::uint64_t points = 0, queries = 0;
  std::uint32_t dims = 0;
  Kind kind = Kind::l2;
  bool is_self = false, is_filtered = false, is_chosen = false, is_periodic = false, is_huge = false;
  bool is_hamming = false;  ///< f32 and an even number of dims, which are words
};

/// Coordinates on a coarse grid: many ties.
template <typename T>
void ask(Request<T>& request, const Example& example, std::mt19937_64& random) {
  cuda::ScanTask<T>& task = request.task;
  const T unit = example.is_huge ? std::numeric_limits<T>::max() / 8 : T(0.125);
  const auto fill = [&](std::vector<T>& values, std::uint64_t count) {
    values.resize(count);
    const T middle = example.kind == Kind::inner_product ? T(4) : T(0);
    for (T& value : values) value = (static_cast<T>(random() % 9) - middle) * unit;
    if (!example.is_hamming) return;
    for (T& value : values) {  // all words, and often the same ones
      const auto word = static_cast<std::uint32_t>(random() % 4 == 0 ? 0x9e3779b9 * (random() % 3) : random());
      std::memcpy(&value, &word, sizeof word);
    }
  };
  const std::uint64_t before = example.is_hamming ? 0 : random() % 2;  // not where vectors begin
  fill(request.points, before + example.points * example.dims);
  task.points = {request.points.data() + before, example.points, example.dims};
  task.metric.kind = example.kind;
  task.metric.p = example.kind == Kind::lp ? 3 : 2;
  task.metric.is_hamming = example.is_hamming;
  if (example.is_periodic) {
    request.lengths.assign(example.dims, T(1.5));
    request.lengths.back() = std::numeric_limits<T>::infinity();
    task.metric.lengths = request.lengths.data();
  }
  std::uint64_t rows = example.queries;
  if (example.is_self) {
    task.queries.first = static_cast<std::uint32_t>(random() % (example.points - example.queries + 1));
    task.queries.rows = task.points.rows + std::uint64_t{task.queries.first} * example.dims;
    task.queries.row_stride = example.dims;
    task.filter.exclude_self = true;
    task.filter.earlier_only = example.is_filtered && random() % 2 == 0;
  } else {
    const std::uint64_t stride = example.dims + random() % 3 * (example.is_hamming ? 2 : 1);
    rows += example.is_chosen ? 7 : 0;
    fill(request.queries, rows * stride);
    task.queries.rows = request.queries.data();
    task.queries.row_stride = stride;
  }
  task.queries.count = example.queries;
  if (example.is_chosen) {
    request.chosen.resize(rows);
    std::iota(request.chosen.begin(), request.chosen.end(), 0u);
    std::shuffle(request.chosen.begin(), request.chosen.end(), random);
    request.chosen_count = static_cast<std::uint32_t>(random() % (example.queries + 1));
    task.queries.chosen = request.chosen.data();
    if (random() % 4 != 0) task.queries.chosen_count = &request.chosen_count;
  }
  if (example.is_filtered) {
    request.below.resize(rows);
    for (std::uint32_t& below : request.below) below = static_cast<std::uint32_t>(random() % (2 * example.points));
    task.filter.below = request.below.data();
    request.allowed.resize((example.points + 63) / 64);
    for (std::uint64_t& word : request.allowed) word = random() | random();
    task.filter.allowed = request.allowed.data();
  }
  task.order.tiles = (example.points + cuda::kTilePoints - 1) / cuda::kTilePoints;
  do {
    task.order.stride = 1 + random() % task.order.tiles;
  } while (std::gcd(task.order.tiles, task.order.stride) != 1);
  task.first_tile = random() % 2 == 0 ? 0 : random() % task.order.tiles;
  task.end_tile = random() % 2 == 0 ? task.order.tiles : task.first_tile + 1;
  // A distance that some pair has, and by row others.
  const auto bound = [&] {
    const std::uint64_t query = random() % example.queries;
    return request.reduced(query, random() % example.points);
  };
  task.bound = random() % 3 == 0 ? std::numeric_limits<T>::infinity() : bound();
  if (random() % 2 == 0) {
    request.bounds.resize(rows);
    for (T& value : request.bounds) value = random() % 4 == 0 ? T(-1) : bound();
    task.bounds = request.bounds.data();
  }
}

template <typename T>
void expect_entries(const Entry<T>* entries, const std::vector<Entry<T>>& expected, std::uint64_t query) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(entries[i] == expected[i])
        << "query " << query << ", entry " << i << ": " << entries[i].reduced() << ", " << entries[i].number()
        << " instead of " << expected[i].reduced() << ", " << expected[i].number();
  }
}

const std::uint32_t kUntouched = 0xdeadbeef;
template <typename T>
Entry<T> untouched() {
  return Entry<T>(T(-77), kUntouched);
}

template <typename T>
void expect_placed(const Request<T>& request, std::uint32_t processors) {
  cuda::ScanTask<T> task = request.task;
  task.mode = ScanMode::place;
  const std::uint64_t places = (task.end_tile - task.first_tile) * cuda::kTilePoints;
  const auto capacity = static_cast<std::uint32_t>(places + 3);
  std::vector<Entry<T>> entries((task.queries.count + 1) * capacity, untouched<T>());
  task.lists.entries = entries.data();
  task.lists.capacity = capacity;
  cuda::launch_scan(task, processors, kLaunch);
  for (std::uint64_t q = 0; q <= task.queries.count; ++q) {
    std::vector<Entry<T>> expected;
    if (q < request.asked()) expected = request.scanned(q, request.bound_of(q));
    expected.resize(capacity, untouched<T>());
    ASSERT_NO_FATAL_FAILURE(expect_entries(entries.data() + q * capacity, expected, q));
  }
}

template <typename T>
void expect_offered(const Request<T>& request, std::uint32_t processors, std::mt19937_64& random) {
  cuda::ScanTask<T> task = request.task;
  task.mode = ScanMode::offer;
  task.bound = T(-1);  // not read
  const auto capacity = static_cast<std::uint32_t>(1 + random() % 300);
  std::vector<Entry<T>> entries((task.queries.count + 1) * capacity, untouched<T>()), limits;
  std::vector<std::uint32_t> counts(task.queries.count + 1, 0);
  for (std::uint64_t q = 0; q < task.queries.count; ++q) {
    const std::uint64_t point = random() % task.points.count;
    limits.push_back(Entry<T>(request.reduced(q, point), static_cast<std::uint32_t>(point)));
    if (random() % 4 == 0) limits.back() = Entry<T>::none();
  }
  task.lists = {entries.data(), counts.data(), limits.data(), capacity};
  cuda::launch_scan(task, processors, kLaunch);
  for (std::uint64_t q = 0; q <= task.queries.count; ++q) {
    std::vector<Entry<T>> expected;
    if (q < request.asked()) expected = request.found(q, std::numeric_limits<T>::infinity());
    if (q < request.asked()) std::erase_if(expected, [&](const Entry<T>& entry) { return !(entry < limits[q]); });
    ASSERT_EQ(counts[q], expected.size()) << "query " << q;
    Entry<T>* row = entries.data() + q * capacity;
    const std::size_t kept = std::min<std::size_t>(expected.size(), capacity);
    std::sort(row, row + kept);
    if (expected.size() > capacity) {
      ASSERT_TRUE(std::includes(expected.begin(), expected.end(), row, row + kept)) << "query " << q;
    } else {
      expected.resize(capacity, untouched<T>());
      ASSERT_NO_FATAL_FAILURE(expect_entries(row, expected, q));
    }
  }
}

template <typename T>
void expect_counted_and_listed(const Request<T>& request, std::uint32_t processors) {
  cuda::ScanTask<T> task = request.task;
  task.mode = ScanMode::count;
  std::vector<std::uint32_t> counts(task.queries.count + 1, 5), slots(task.queries.count, 0);
  task.lists.counts = counts.data();
  cuda::launch_scan(task, processors, kLaunch);
  const std::uint64_t base = 1000;
  std::uint64_t rows = 0, end = base;
  for (std::uint64_t q = 0; q < task.queries.count; ++q) rows = std::max(rows, task.queries.row_of(q) + 1);
  std::vector<std::uint64_t> starts(rows, 0);
  std::vector<std::vector<Entry<T>>> expected(task.queries.count);
  for (std::uint64_t q = 0; q < task.queries.count; ++q) {
    if (q < request.asked()) expected[q] = request.found(q, request.bound_of(q));
    ASSERT_EQ(counts[q], 5 + expected[q].size()) << "query " << q;
    starts[task.queries.row_of(q)] = end;
    end += expected[q].size();
  }
  ASSERT_EQ(counts.back(), 5u);
  std::vector<std::uint32_t> indices(end - base + 1, untouched<T>().number());
  std::vector<T> reduced(end - base + 1, untouched<T>().reduced());
  task.mode = ScanMode::list;
  task.lists.counts = slots.data();
  task.starts = starts.data();
  task.starts_base = base;
  task.indices = indices.data();
  task.reduced = reduced.data();
  cuda::launch_scan(task, processors, kLaunch);
  ASSERT_EQ(indices.back(), untouched<T>().number());
  std::vector<Entry<T>> listed;
  for (std::uint64_t i = 0; i < end - base; ++i) listed.push_back(Entry<T>(reduced[i], indices[i]));
  for (std::uint64_t q = 0; q < request.asked(); ++q) {
    Entry<T>* list = listed.data() + (starts[task.queries.row_of(q)] - base);
    std::sort(list, list + expected[q].size());
    ASSERT_EQ(slots[q], expected[q].size()) << "query " << q;
    ASSERT_NO_FATAL_FAILURE(expect_entries(list, expected[q], q));
  }
}

template <typename T>
void expect_right(const Example& example, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << example.points << " points, " << example.queries
                                  << " queries, " << example.dims << " dims, metric " << static_cast<int>(example.kind)
                                  << (sizeof(T) == 4 ? ", f32" : ", f64"));
  std::mt19937_64 random(seed);
  Request<T> request;
  ask(request, example, random);
  const auto processors = static_cast<std::uint32_t>(1 + random() % 3);
  ASSERT_NO_FATAL_FAILURE(expect_placed(request, processors));
  ASSERT_NO_FATAL_FAILURE(expect_offered(request, processors, random));
  ASSERT_NO_FATAL_FAILURE(expect_counted_and_listed(request, processors));
}

void expect_right_in_both(const Example& example, std::uint64_t seed) {
  ASSERT_NO_FATAL_FAILURE(expect_right<float>(example, seed));
  ASSERT_NO_FATAL_FAILURE(expect_right<double>(example, seed));
}

TEST(ScanTiles, FindsThePairsOfManyQueriesInAnyDims) {
  std::uint64_t seed = 0;
  for (const std::uint32_t dims : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 33u, 130u}) {
    for (const Kind kind : {Kind::l2, Kind::l1, Kind::linf}) {
      const std::uint64_t points = dims > 100 ? 140 : 300 + 17 * dims;
      ASSERT_NO_FATAL_FAILURE(
          expect_right_in_both({.points = points, .queries = 49 + seed * 7 % 120, .dims = dims, .kind = kind}, seed));
      ++seed;
    }
  }
}

TEST(ScanTiles, FindsThePairsOfFewQueriesInAnyDims) {
  std::uint64_t seed = 100;
  for (const std::uint32_t dims : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 33u, 130u}) {
    for (const Kind kind : {Kind::l2, Kind::l1, Kind::linf}) {
      for (const std::uint64_t queries : {std::uint64_t{1}, 2 + seed % 15}) {
        const std::uint64_t points = dims > 100 ? 700 : 900 + 65 * dims;
        ASSERT_NO_FATAL_FAILURE(
            expect_right_in_both({.points = points, .queries = queries, .dims = dims, .kind = kind}, seed));
        ++seed;
      }
    }
  }
}

TEST(ScanTiles, TakesAnyMetric) {
  std::uint64_t seed = 200;
  for (const Kind kind : {Kind::l2, Kind::l1, Kind::linf, Kind::lp, Kind::canberra}) {
    for (const std::uint32_t dims : {1u, 3u, 9u}) {
      const Example example{
          .points = 200, .queries = 11, .dims = dims, .kind = kind, .is_periodic = kind != Kind::canberra};
      ASSERT_NO_FATAL_FAILURE(expect_right_in_both(example, seed));
      ++seed;
    }
  }
}

TEST(ScanTiles, HeedsFiltersChosenRowsAndNumbersOfPoints) {
  for (std::uint64_t seed = 300; seed < 324; ++seed) {
    Example example{.points = 129 + seed * 31 % 400, .dims = seed % 3 == 0 ? 7u : 3u};
    example.queries = seed % 4 == 0 ? 1 + seed % 48 : 49 + seed % 90;
    example.is_self = seed % 2 == 0;
    example.is_filtered = seed % 5 != 0;
    example.is_chosen = seed % 3 != 1;
    example.is_periodic = seed % 7 == 0;
    ASSERT_NO_FATAL_FAILURE(expect_right_in_both(example, seed));
  }
}

TEST(ScanTiles, TakesInnerProducts) {
  for (std::uint64_t seed = 350; seed < 374; ++seed) {
    constexpr std::uint32_t kDims[] = {1, 2, 3, 4, 5, 8, 17, 40};
    Example example{.points = 129 + seed * 31 % 400, .dims = kDims[seed % 8], .kind = Kind::inner_product};
    example.queries = seed % 3 == 0 ? 1 + seed % 48 : 49 + seed % 90;
    example.is_self = seed % 2 == 0;
    example.is_filtered = seed % 5 == 0;
    example.is_chosen = seed % 7 == 1;
    ASSERT_NO_FATAL_FAILURE(expect_right_in_both(example, seed));
  }
}

TEST(ScanTiles, TakesReducedThatOverflow) {
  std::uint64_t seed = 400;
  for (const Kind kind : {Kind::l2, Kind::l1, Kind::linf, Kind::inner_product}) {
    for (const std::uint32_t dims : {3u, 18u}) {
      for (const std::uint64_t queries : {9u, 50u}) {
        const Example example{.points = 200, .queries = queries, .dims = dims, .kind = kind, .is_huge = true};
        ASSERT_NO_FATAL_FAILURE(expect_right_in_both(example, seed));
        ++seed;
      }
    }
  }
}

TEST(ScanTiles, TakesFewPoints) {
  for (std::uint64_t points = 1; points <= 4; ++points) {
    ASSERT_NO_FATAL_FAILURE(expect_right_in_both({.points = points, .queries = 1, .dims = 3}, 500 + points));
    ASSERT_NO_FATAL_FAILURE(expect_right_in_both({.points = points, .queries = 65, .dims = 3}, 500 + points));
    ASSERT_NO_FATAL_FAILURE(expect_right_in_both({.points = points, .queries = 65, .dims = 20}, 500 + points));
  }
}

TEST(ScanTiles, CountsTheDifferentBitsOfWords) {
  std::uint64_t seed = 600;
  for (const std::uint32_t words : {2u, 4u, 6u, 8u, 10u, 14u, 16u, 18u, 34u, 128u}) {
    for (const std::uint64_t queries : {1u, 2u, 13u, 32u, 33u, 129u, 140u}) {
      Example example{.points = 100 + seed * 37 % 500, .queries = queries, .dims = words, .is_hamming = true};
      example.is_self = seed % 3 == 0 && example.points >= example.queries;
      example.is_filtered = seed % 4 == 1;
      example.is_chosen = seed % 5 == 2;
      ASSERT_NO_FATAL_FAILURE(expect_right<float>(example, seed));
      ++seed;
    }
  }
  for (const std::uint64_t points : {1u, 2u, 128u}) {
    ASSERT_NO_FATAL_FAILURE(
        expect_right<float>({.points = points, .queries = 40, .dims = 2, .is_hamming = true}, seed++));
    ASSERT_NO_FATAL_FAILURE(
        expect_right<float>({.points = points, .queries = 1, .dims = 4, .is_hamming = true}, seed++));
  }
}

TEST(ScanTiles, HasBlocksForAllQueriesAndWholeWaves) {
  EXPECT_EQ(cuda::scan_blocks(1, 8, 65536, 1056, 16), 3168u);  // three waves, 20 tiles each
  EXPECT_EQ(cuda::scan_blocks(100000, 128, 782, 264, 16), 3910u);
  EXPECT_EQ(cuda::scan_blocks(10000000, 128, 782, 264, 16), 78125u);
  EXPECT_EQ(cuda::scan_blocks(1, 128, 3, 264, 16), 1u);
  EXPECT_EQ(cuda::scan_blocks(300, 128, 32, 264, 16), 6u);
}

}  // namespace
}  // namespace kith::test
