// The filters by products, with sums in f32 and in halves, lose nothing, pass little, and what passes gets its exact
// reduced distance; kernels run on the host.
#include "cuda/brute_force/filter/half_sum_filter.cuh"
#include "cuda/brute_force/filter/half_sum_rows.cuh"
#include "cuda/brute_force/filter/product_filter.cuh"
#include "cuda/brute_force/filter/product_rows.cuh"
#include "cuda/brute_force/filter/rerank.cuh"

#include "cuda/emulation/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace kith::test {
namespace {

using cuda::Entry;

constexpr auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                            auto... arguments) {
  cuda::emulation::run_grid(blocks, threads, shared_bytes, cuda::emulation::Residence::one_by_one,
                            [&] { kernel(arguments...); });
};

enum class Shape { uniform, offset, near_equal, outliers, denormal, tiny, huge, wide, zeros, duplicates, grid };
constexpr Shape kShapes[] = {Shape::uniform,  Shape::offset,     Shape::near_equal, Shape::outliers,
                             Shape::denormal, Shape::tiny,       Shape::huge,       Shape::wide,
                             Shape::zeros,    Shape::duplicates, Shape::grid};

float unit(std::mt19937_64& random) { return static_cast<float>(random() >> 40) * 0x1p-24f; }

float coordinate(Shape shape, std::uint64_t row, std::uint32_t d, std::mt19937_64& random) {
  const float x = unit(random);
  switch (shape) {
    case Shape::uniform:
      return x;
    case Shape::offset:
      return 1e6f + x;
    case Shape::near_equal:
      return static_cast<float>(d) + 1e-6f * x;
    case Shape::outliers:
      return row % 37 == 5 ? 1e5f * (x - 0.5f) : x;
    case Shape::denormal:
      return std::numeric_limits<float>::denorm_min() * static_cast<float>(random() % 2000);
    case Shape::tiny:
      return 1e-21f * (x - 0.5f);
    case Shape::huge:
      return row % 3 == 0 ? 3e38f * (x - 0.5f) : 1e17f * x;
    case Shape::wide:
      return std::pow(10.0f, 60 * x - 30) * (random() % 2 == 0 ? 1.0f : -1.0f);
    case Shape::zeros:
      return row % 2 == 0 ? 0.0f : x - 0.5f;
    case Shape::duplicates:
      return static_cast<float>((row % 5 * 7 + d * d) % 11);
    case Shape::grid:
      return static_cast<float>(random() % 3);
  }
  return 0;
}

std::vector<float> some_rows(Shape shape, std::uint64_t rows, std::uint32_t dims, std::mt19937_64& random) {
  std::vector<float> values(rows * dims);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint32_t d = 0; d < dims; ++d) values[row * dims + d] = coordinate(shape, row, d, random);
  }
  return values;
}

struct Packed {
  std::vector<std::uint16_t> values;
  std::vector<float> terms, scales;
  cuda::ProductRows rows;

  explicit Packed(cuda::PackTask task) {
    const std::uint64_t capacity = cuda::padded_product_rows(task.count);
    values.assign(capacity * cuda::product_padded_dims(task.dims), 0x7e00);  // NaN
    terms.assign(capacity, NAN);
    scales.assign(capacity, NAN);
    task.values = values.data();
    task.terms = terms.data();
    task.scales = scales.data();
    cuda::launch_pack_rows(task, kLaunch);
    rows = task.packed();
  }
  Packed(const Packed&) = delete;
};

enum class Sums { f32, halves };

struct Request {
  Sums sums = Sums::f32;
  std::uint32_t dims = 1;
  std::vector<float> points, queries;
  std::uint64_t point_count = 0, query_rows = 0;
  std::vector<std::uint32_t> chosen;
  std::uint32_t chosen_count = 0;
  bool has_chosen_count = false;
  std::uint32_t first = 0;
  cuda::SearchFilter filter;
  std::vector<Entry<float>> limits;  ///< by query
  std::uint32_t capacity = 0;        ///< 0: room for all
  std::uint64_t stride = 1;
  std::uint32_t processors = 3;
  std::uint32_t kept = 0;

  Request(Shape shape, std::uint64_t points_wanted, std::uint64_t queries_wanted, std::uint32_t dims_wanted,
          std::mt19937_64& random)
      : dims(dims_wanted),
        points(some_rows(shape, points_wanted, dims_wanted, random)),
        queries(some_rows(shape, queries_wanted, dims_wanted, random)),
        point_count(points_wanted),
        query_rows(queries_wanted) {}

  std::uint64_t query_count() const {
    return has_chosen_count ? chosen_count : chosen.empty() ? query_rows : chosen.size();
  }
  std::uint64_t row_of(std::uint64_t query) const { return chosen.empty() ? query : chosen[query]; }

  Entry<float> entry(std::uint64_t query, std::uint64_t point) const {
    const float reduced =
        core::reduced_distance(core::L2{}, queries.data() + row_of(query) * dims, points.data() + point * dims, dims);
    return {reduced, static_cast<std::uint32_t>(point)};
  }
  /// All that the query may find, in order.
  std::vector<Entry<float>> all_of(std::uint64_t query) const {
    std::vector<Entry<float>> all;
    const std::uint64_t row = row_of(query);
    const std::uint32_t number = first + static_cast<std::uint32_t>(row);
    for (std::uint32_t p = 0; p < point_count; ++p) {
      if (filter.admits(number, filter.end(number, row), p)) all.push_back(entry(query, p));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  /// Each query looks for about k; some have no limit, or one that is infinity.
  void set_limits(std::uint64_t k, bool has_odd_ones) {
    limits.clear();
    for (std::uint64_t q = 0; q < query_count(); ++q) {
      const auto all = all_of(q);
      Entry<float> limit = k < all.size() ? all[k] : Entry<float>::none();
      if (has_odd_ones && q % 61 == 7) limit = Entry<float>::none();
      if (has_odd_ones && q % 61 == 9) limit = Entry<float>(std::numeric_limits<float>::infinity(), 5);
      limits.push_back(limit);
    }
  }
};

struct Answer {
  std::vector<std::uint32_t> counts;
  std::vector<Entry<float>> offered, ranked;  ///< [query][capacity]
  std::uint64_t capacity = 0;
};

Answer answer_of(const Request& request) {
  Answer answer;
  answer.capacity = request.capacity == 0 ? request.point_count + request.kept : request.capacity;
  const std::uint64_t queries = request.query_count();
  std::vector<float> centre(request.dims, NAN);
  cuda::ProductTask task;
  cuda::ScanTask<float>& scan = task.scan;
  scan.points = {request.points.data(), request.point_count, request.dims};
  scan.filter = request.filter;
  scan.queries.rows = request.queries.data();
  scan.queries.row_stride = request.dims;
  scan.queries.count = request.chosen.empty() ? request.query_rows : request.chosen.size();
  scan.queries.chosen = request.chosen.empty() ? nullptr : request.chosen.data();
  scan.queries.chosen_count = request.has_chosen_count ? &request.chosen_count : nullptr;
  scan.queries.first = request.first;
  scan.order = {(request.point_count + cuda::kTilePoints - 1) / cuda::kTilePoints, request.stride};
  scan.end_tile = scan.order.tiles;
  const Entry<float> untouched(1.0f, 0xabcdef);
  answer.counts.assign(queries, request.kept);
  answer.offered.assign(queries * answer.capacity, untouched);
  std::vector<Entry<float>> limits = request.limits;
  scan.lists = {answer.offered.data(), answer.counts.data(), limits.data(),
                static_cast<std::uint32_t>(answer.capacity)};
  float half_sum_scale = NAN;
  cuda::launch_find_centre(scan.points, centre.data(), &half_sum_scale, kLaunch);
  const Packed points({.rows = request.points.data(),
                       .row_stride = request.dims,
                       .count = request.point_count,
                       .dims = request.dims,
                       .centre = centre.data()});
  const Packed packed_queries({.rows = scan.queries.rows,
                               .row_stride = scan.queries.row_stride,
                               .count = scan.queries.count,
                               .chosen = scan.queries.chosen,
                               .chosen_count = scan.queries.chosen_count,
                               .dims = request.dims,
                               .centre = centre.data()});
  task.points = points.rows;
  task.queries = packed_queries.rows;
  std::vector<std::uint32_t> kept(queries, request.kept);
  if (request.sums == Sums::halves) {
    std::vector<std::uint16_t> values(points.values.size(), 0x7e00), terms(2 * points.terms.size(), 0x7e00);
    cuda::launch_pack_half_sum_rows({scan.points, centre.data(), &half_sum_scale, values.data(), terms.data()},
                                    kLaunch);
    cuda::launch_half_sum_filter({scan, {values.data(), terms.data(), &half_sum_scale}, centre.data(), kept.data()},
                                 request.processors, kLaunch);
  } else {
    cuda::launch_product_filter(task, request.processors, kLaunch);
  }
  answer.ranked = answer.offered;
  scan.lists.entries = answer.ranked.data();
  cuda::launch_rerank(scan, kept.data(), request.processors, kLaunch);
  for (std::uint64_t i = 0; i < queries * answer.capacity; ++i) {
    if (kept[i / answer.capacity] != request.kept) {  // left to another filter
      EXPECT_EQ(kept[i / answer.capacity], answer.capacity);
      EXPECT_GT(answer.counts[i / answer.capacity], answer.capacity);
      EXPECT_TRUE(answer.ranked[i] == answer.offered[i]);
      continue;
    }
    const bool is_kept = i % answer.capacity < request.kept;
    const bool is_used = i % answer.capacity < answer.counts[i / answer.capacity];
    EXPECT_EQ(answer.offered[i] == untouched, is_kept || !is_used) << "entry " << i;
    EXPECT_TRUE(answer.ranked[i] == untouched || (!is_kept && is_used)) << "entry " << i;
  }
  return answer;
}

/// Everything below the limits is there, with its reduced distance, and nothing else. Returns how many were offered;
/// `left` becomes how many queries were left to another filter.
std::uint64_t expect_all_below_limits(const Request& request, std::uint64_t* left = nullptr) {
  const Answer answer = answer_of(request);
  std::uint64_t offered = 0;
  for (std::uint64_t q = 0; q < request.query_count(); ++q) {
    if (request.capacity == 0 && answer.counts[q] > answer.capacity) {
      if (left == nullptr) {
        ADD_FAILURE() << "query " << q << " was left out";
      } else {
        ++*left;
      }
      continue;
    }
    std::vector<Entry<float>> expected = request.all_of(q);
    std::erase_if(expected, [&](const Entry<float>& entry) { return !(entry < request.limits[q]); });
    const Entry<float>* row = answer.ranked.data() + q * answer.capacity;
    std::vector<Entry<float>> found(row + request.kept, row + answer.counts[q]);
    std::erase_if(found, [](const Entry<float>& entry) { return entry.is_none(); });
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found.size(), expected.size()) << "query " << q;
    EXPECT_TRUE(found == expected) << "query " << q;
    offered += answer.counts[q] - request.kept;
    if (testing::Test::HasFailure()) break;
  }
  return offered;
}

TEST(ProductFilter, LosesNothingOfAnyShape) {
  std::mt19937_64 random(1);
  for (const Shape shape : kShapes) {
    for (const std::uint32_t dims :
         {1u + static_cast<std::uint32_t>(random() % 40), 17u + static_cast<std::uint32_t>(random() % 40)}) {
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", dims " << dims);
      const std::uint64_t points = 130 + random() % 100, queries = 20 + random() % 60;
      Request request(shape, points, queries, dims, random);
      request.set_limits(random() % 12, true);
      expect_all_below_limits(request);
      if (HasFailure()) return;
    }
  }
}

TEST(HalfSumFilter, LosesNothingOfAnyShape) {
  std::mt19937_64 random(11);
  for (const Shape shape : kShapes) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t dims = 1 + 16 * (i % 2) + static_cast<std::uint32_t>(random() % 16);
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", dims " << dims);
      const std::uint64_t points = 130 + random() % 300, queries = 20 + random() % 60;
      Request request(shape, points, queries, dims, random);
      request.sums = Sums::halves;
      if (i >= 2) {  // queries far from the points, each as far as it likes
        for (float& x : request.queries)
          x = x * std::exp2(10 * unit(random)) + (x - 0.5f) * std::exp2(6 * unit(random));
      }
      request.set_limits(random() % 12, true);
      std::uint64_t left = 0;
      expect_all_below_limits(request, &left);
      if (HasFailure()) return;
      if (i < 2 && shape == Shape::uniform) {
        EXPECT_EQ(left, 0u);
      }
    }
  }
}

TEST(HalfSumFilter, LosesNothingNearItsLimits) {
  // Points up to 2000 scales away, queries up to 100: all that is packed, and what is beyond.
  std::mt19937_64 random(12);
  for (const std::uint32_t dims : {5u, 16u, 32u}) {
    SCOPED_TRACE(testing::Message() << "dims " << dims);
    Request request(Shape::uniform, 500, 100, dims, random);
    request.sums = Sums::halves;
    for (std::uint64_t row = 0; row < 500; ++row) {
      const float far = row % 5 == 0 ? std::exp2(12 * unit(random)) : 1.0f;
      for (std::uint32_t d = 0; d < dims; ++d) request.points[row * dims + d] = far * (unit(random) - 0.5f);
    }
    for (std::uint64_t row = 0; row < 100; ++row) {
      const float far = std::exp2(6 * unit(random));
      for (std::uint32_t d = 0; d < dims; ++d) request.queries[row * dims + d] = far * (unit(random) - 0.5f);
    }
    request.set_limits(30, true);
    std::uint64_t left = 0;
    expect_all_below_limits(request, &left);
    if (HasFailure()) return;
    EXPECT_LE(left, 60u);
  }
}

TEST(ProductFilter, LosesNothingInAnyDims) {
  std::mt19937_64 random(2);
  for (const std::uint32_t dims : {1u, 15u, 16u, 17u, 50u, 64u, 65u, 128u, 130u, 200u, 256u, 257u, 330u}) {
    SCOPED_TRACE(testing::Message() << "dims " << dims);
    const Shape shape = kShapes[random() % std::size(kShapes)];
    const std::uint64_t points = 90 + random() % 90, queries = 10 + random() % 20;
    Request request(shape, points, queries, dims, random);
    request.set_limits(5, false);
    expect_all_below_limits(request);
    if (HasFailure()) return;
  }
}

class BothFilters : public testing::TestWithParam<Sums> {};
INSTANTIATE_TEST_SUITE_P(ProductFilter, BothFilters, testing::Values(Sums::f32, Sums::halves));

TEST_P(BothFilters, TilesAndBlocksNeedNotBeFull) {
  std::mt19937_64 random(3);
  for (const std::uint64_t points : {1u, 64u, 127u, 128u, 129u, 700u}) {
    for (const std::uint64_t queries : {1u, 256u, 257u, 513u}) {
      if (points == 700 && queries == 256) continue;
      if (queries == 513 && (points != 129 || GetParam() == Sums::f32)) continue;
      SCOPED_TRACE(testing::Message() << points << " points, " << queries << " queries");
      Request request(Shape::uniform, points, queries, 16, random);
      request.sums = points > 1 ? GetParam() : Sums::f32;  // one point has no scale
      request.stride = points == 700 ? 5 : 1;
      request.processors = points == 700 ? 8 : 1;
      request.kept = 3;
      request.set_limits(4, false);
      expect_all_below_limits(request);
      if (HasFailure()) return;
    }
  }
}

TEST_P(BothFilters, HeedsFiltersAndChosenQueries) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 8; ++i) {
    SCOPED_TRACE(i);
    Request request(i % 2 == 0 ? Shape::uniform : Shape::grid, 200, 150, 20, random);
    request.sums = GetParam();
    std::copy_n(request.points.begin() + 30 * 20, request.queries.size(), request.queries.begin());
    request.first = 30;
    std::vector<std::uint32_t> below;
    std::vector<std::uint64_t> allowed;
    for (std::uint64_t q = 0; q < request.query_rows; ++q) below.push_back(static_cast<std::uint32_t>(random() % 200));
    for (std::uint64_t word = 0; word < 4; ++word) allowed.push_back(random());
    request.filter.exclude_self = i % 4 == 0;
    request.filter.earlier_only = i % 4 == 1;
    if (i % 4 == 2) request.filter.below = below.data();
    if (i % 4 == 3) request.filter.allowed = allowed.data();
    if (i >= 4) {
      for (std::uint32_t q = 0; q < 120; ++q) request.chosen.push_back((q * 7 + 3) % 150);
      request.has_chosen_count = i >= 6;
      request.chosen_count = 77;
    }
    request.set_limits(5, false);
    expect_all_below_limits(request);
    if (HasFailure()) return;
  }
}

TEST_P(BothFilters, OffersNothingBelowTheFirst) {
  std::mt19937_64 random(9);
  Request request(Shape::uniform, 300, 40, 16, random);
  request.sums = GetParam();
  for (std::uint32_t q = 0; q < 40 && GetParam() == Sums::f32; q += 2)
    request.queries[q * 16 + 3] = 1e30f;  // it has no term
  for (std::uint32_t q = 0; q < 40; ++q) {
    request.limits.push_back(q % 4 < 2 ? Entry<float>::first() : Entry<float>::none());
  }
  const Answer answer = answer_of(request);
  for (std::uint32_t q = 0; q < 40; ++q) EXPECT_EQ(answer.counts[q], q % 4 < 2 ? 0u : 300u) << "query " << q;
}

TEST_P(BothFilters, CountsWhatHasNoStorage) {
  std::mt19937_64 random(5);
  Request request(Shape::uniform, 300, 40, 16, random);
  request.sums = GetParam();
  request.capacity = 6;
  request.kept = 2;
  request.limits.assign(40, Entry<float>::none());
  const Answer answer = answer_of(request);
  for (std::uint64_t q = 0; q < 40; ++q) {
    EXPECT_EQ(answer.counts[q], 302u);
    for (std::uint64_t i = 2; i < 6; ++i) {
      const Entry<float> entry = answer.ranked[q * 6 + i];
      EXPECT_TRUE(entry == request.entry(q, entry.number()));
    }
  }
}

TEST(ProductFilter, PassesFewMoreThanNeeded) {
  std::mt19937_64 random(6);
  for (const Shape shape : {Shape::uniform, Shape::outliers}) {
    Request request(shape, 1000, 100, 64, random);
    request.queries = some_rows(Shape::uniform, 100, 64, random);  // a query far from all is equally near to all
    request.set_limits(20, false);
    const std::uint64_t offered = expect_all_below_limits(request);
    EXPECT_GE(offered, 20u * 100);
    EXPECT_LE(offered, 22u * 100);
  }
}

TEST(HalfSumFilter, PassesFewMoreThanNeeded) {
  std::mt19937_64 random(13);
  for (const Shape shape : {Shape::uniform, Shape::outliers, Shape::offset}) {
    Request request(shape, 1000, 100, 16, random);
    request.queries = some_rows(shape == Shape::offset ? shape : Shape::uniform, 100, 16, random);
    request.sums = Sums::halves;
    request.set_limits(20, false);
    const std::uint64_t offered = expect_all_below_limits(request);
    EXPECT_GE(offered, 20u * 100);
    EXPECT_LE(offered, 24u * 100) << static_cast<int>(shape);
  }
}

TEST(ProductFilter, BlocksShareAllTiles) {
  for (const std::uint64_t tiles : {1u, 7u, 131u, 7813u}) {
    for (const std::uint64_t query_blocks : {1u, 40u, 1000u}) {
      const std::uint64_t per_block = cuda::product_tiles_per_block(tiles, query_blocks, 132);
      ASSERT_GE(per_block, 1u);
      ASSERT_LE(per_block, tiles);
      const std::uint64_t waves = (query_blocks * ((tiles + per_block - 1) / per_block) + 131) / 132;
      EXPECT_LE(waves * per_block * 132, tiles * query_blocks * 21 / 20 + 132 * 8) << query_blocks;
    }
  }
}

}  // namespace
}  // namespace kith::test
