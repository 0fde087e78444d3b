// Random searches over types, dims, metrics, k, threads and all the nasty shapes; one seed replays one case.
#pragma once

#include "support/oracle.hpp"

#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace kith::test {

/// The shapes of point sets that break neighbour searches.
enum class NastyShape {
  uniform,
  clusters,
  all_equal,
  two_values,
  grid,
  line,
  sorted,
  huge_offset,
  denormals,
  wide_spread,
  huge_values,
  signed_zeros,
  count_of_shapes
};

/// `rows` points of the shape; the queries of a case come from the same shape with another draw.
PointSet nasty_points(NastyShape shape, DType dtype, std::uint64_t rows, std::uint32_t dims, std::mt19937_64& random);

/// The bits of `options.allowed` one by one.
std::vector<bool> bits_of(std::span<const std::uint64_t> words, std::uint64_t points);

struct SearchCase {
  PointSet points;
  PointSet queries;
  bool is_self = false;
  std::uint32_t k = 1;
  double radius = 0;
  std::uint32_t most = 0;   ///< the cap of the radius search
  double max_distance = 0;  ///< the bound of the kNN search; options.max_distance is left to the test
  Metric metric;
  std::vector<double> metric_params;
  SplitRule split = SplitRule::widest;
  Builder builder = Builder::batch;         ///< of cover trees
  Builder kd_builder = Builder::histogram;  ///< of k-d trees, likewise
  std::uint32_t leaf_size = 0;
  std::vector<double> period;              ///< empty in most cases
  std::vector<std::uint64_t> allowed;      ///< what options.allowed shows
  std::vector<std::uint32_t> index_below;  ///< what options.index_below shows
  SearchOptions options;
  std::string text;  ///< for messages

  /// With what the options say now.
  Request request() const;
  BuildOptions build_options(Engine engine, Device device) const;
};

/// The same case for the same seed. Small: some ten thousand pairs at most.
SearchCase random_case(std::uint64_t seed);
/// Such a case by inner product: without a bound, squares and periods. Many products are negative.
SearchCase inner_product_case(std::uint64_t seed);

}  // namespace kith::test
