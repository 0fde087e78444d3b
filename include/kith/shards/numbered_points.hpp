// Points with the 64-bit numbers that they have among all points, wherever those are.
#pragma once

#include <kith/export.hpp>
#include <kith/index.hpp>
#include <kith/metric.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::shards::inline v0 {

/// A message on its way: what a transport carries. Participants have the same byte order, little-endian, and the same
/// version of kith.
using Bytes = std::vector<std::byte>;

/// Some of the points, on the host: those that one participant was dealt, or one file has. Numbers differ from each
/// other, and all are below the number of rows of all participants.
struct NumberedPoints {
  PointView points;
  std::span<const std::uint64_t> numbers = {};  ///< one for each row; empty: they count up from `first_number`
  std::uint64_t first_number = 0;

  std::uint64_t number_of(std::uint64_t row) const { return numbers.empty() ? first_number + row : numbers[row]; }
};

/// What all participants must agree on before they cut.
struct CutRules {
  std::uint32_t shards = 1;  ///< 1 to 4096
  Metric metric = Metric::l2();
  /// As in BuildOptions, but seuclidean and mahalanobis need theirs: sums over points depend on how those were dealt.
  std::vector<double> metric_params = {};
  std::vector<double> period = {};  ///< as in BuildOptions
  SplitRule split = SplitRule::widest;
  bool skip_nonfinite = false;  ///< as in BuildOptions

  /// Those that `options` imply.
  static CutRules of(std::uint32_t shards, const BuildOptions& options) {
    return {shards, options.metric, options.metric_params, options.period, options.split, options.skip_nonfinite};
  }
};

/// What is known of points before they are cut: of those of a participant, or of all. The box has the coordinates that
/// are searched: those of directions under cosine.
struct KITH_EXPORT PointFacts {
  /// What is wrong with some rows.
  struct BadRows {
    std::uint64_t count = 0;
    std::uint64_t first = 0;  ///< the least number of them
    std::optional<std::uint32_t> column = {};
    std::string problem;  ///< of that row
  };

  DType dtype = DType::f32;
  std::uint32_t dims = 0;      ///< 0: there were no rows
  std::uint64_t rows = 0;      ///< those left out included
  std::uint64_t searched = 0;  ///< without them
  /// The tight box of the rows that are searched; empty if there are none. -0 is 0.
  std::vector<double> lower = {}, upper = {};
  BadRows non_finite = {};  ///< or without a direction, or no place on a sphere; none with `skip_nonfinite`
  BadRows outside = {};     ///< the lengths of periodic axes
  std::string misuse = {};  ///< what the view has in it that makes no sense, as UsageError says it

  /// Reads all points once; throws nothing because of them: `require_good` does that, for all participants alike.
  static PointFacts of(const NumberedPoints& points, const CutRules& rules, int threads = 0);
  /// The facts of all points, from those of all participants, in any order.
  static PointFacts joined(std::span<const PointFacts> parts);
  /// Throws BadRow, BadData or UsageError as `Index::build` does, with the number of the row.
  void require_good() const;

  Bytes to_bytes() const;
  static PointFacts from_bytes(std::span<const std::byte> bytes);
};

/// Points on their way to a shard.
struct KITH_EXPORT ShardPoints {
  PointSet points;
  std::vector<std::uint64_t> numbers;  ///< one for each row

  Bytes to_bytes() const;
  /// Throws CorruptFile, as all of these do, if the bytes are not such a message.
  static ShardPoints from_bytes(std::span<const std::byte> bytes);
};

}  // namespace kith::shards::inline v0
