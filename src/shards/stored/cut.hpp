// Cuts and deals out the points of files that may be larger than memory, a block of rows at a time.
#pragma once

#include "shards/stored/placed_file.hpp"

#include <kith/io/point_rows.hpp>
#include <kith/progress.hpp>
#include <kith/shards/cut.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kith::shards {

/// The points of some files, numbered one file after the other.
struct StoredPoints {
  std::vector<io::PointRows> files;
  std::uint64_t first_number = 0;  ///< as if so many rows came before them; tests number beyond 2^32 so

  std::uint64_t rows() const;
  std::uint64_t row_bytes() const;
};

/// How many rows are in memory at a time.
struct StoredCutSizes {
  std::uint64_t block_rows = 1;  ///< read at a time
  std::uint64_t kept_rows = 0;   ///< of those near a cut, which need not be read again in its later rounds
};

/// A pass over all points for the facts, one or two for each level of the cuts, and one that deals the points out.
/// Bytes: for each row of a block its coordinates twice and 34 more, for each kept row its coordinates and 34 more.
class StoredCutter {
 public:
  StoredCutter(const StoredPoints& points, const CutRules& rules, StoredCutSizes sizes, int threads,
               const ProgressCallback& progress);

  PointFacts facts();
  /// What all points add to the round that `plan` is in.
  std::vector<std::uint64_t> counts(const CutPlan& plan);
  /// Writes rows and numbers: those of shard j from place plan.first(j) on, in ascending order of their numbers.
  void deal(const CutPlan& plan, PlacedFile& rows, PlacedFile& numbers);
  /// Passes over the files.
  std::uint64_t passes() const { return passes_; }

 private:
  /// Points near the cuts of a level, in memory.
  struct Kept {
    std::vector<std::byte> rows;
    std::vector<std::uint64_t> numbers;
    std::optional<PointCutter> cutter;
    std::uint32_t round = 0;  ///< the next one that they can be counted for
  };

  template <typename F>
  void for_each_block(const char* stage, const F& f);
  void keep(PointCutter& cutter, const NumberedPoints& block, Kept& kept, bool& is_too_much) const;

  const StoredPoints& points_;
  const CutRules& rules_;
  StoredCutSizes sizes_;
  int threads_;
  const ProgressCallback& progress_;
  std::uint64_t passes_ = 0;
  std::unique_ptr<Kept> kept_;
};

}  // namespace kith::shards
