// Bounds and bad values in one pass; duplicates by hashing rows, grouping equal hashes and comparing the rows
// themselves. Memory: 16 bytes per finite row. Passes over the data: two, and one comparison per row that repeats.
#include <kith/apps/summarize.hpp>

#include "apps/row_content.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kBlockRows = 65536;
constexpr std::uint64_t kMostGroups = 4096;

struct HashedRow {
  std::uint64_t hash;
  std::uint64_t row;
};

template <typename T>
class Summarizer {
 public:
  Summarizer(PointView points, const SummarizeOptions& options)
      : points_(points),
        options_(options),
        blocks_((points.rows() + kBlockRows - 1) / kBlockRows),
        groups_(std::bit_floor(std::clamp<std::uint64_t>(points.rows() / 1024, 1, kMostGroups))),
        group_sizes_(groups_) {}

  Summary run() {
    summary_.points = points_.rows();
    summary_.dims = points_.dims();
    summary_.dtype = points_.dtype();
    summary_.bytes = points_.rows() * points_.dims() * sizeof(T);
    measure_all();
    find_duplicates();
    return std::move(summary_);
  }

 private:
  using GroupCounts = std::vector<std::uint32_t>;  // a block has fewer than 2^32 rows

  std::uint64_t group_of(std::uint64_t hash) const {
    return groups_ == 1 ? 0 : hash >> (64 - std::countr_zero(groups_));
  }
  std::uint64_t block_end(std::uint64_t block) const { return std::min(points_.rows(), (block + 1) * kBlockRows); }

  bool is_finite(std::uint64_t row) const { return is_finite_row(points_.row<T>(row), points_.dims()); }
  std::uint64_t hash_of(std::uint64_t row) const { return hash_of_row(points_.row<T>(row), points_.dims()); }
  int compare(std::uint64_t a, std::uint64_t b) const {
    return compare_rows(points_.row<T>(a), points_.row<T>(b), points_.dims());
  }

  runtime::ParallelOptions parallel(std::string_view stage) const {
    return {options_.threads, stage, &options_.progress, kBlockRows, points_.rows()};
  }

  void measure_all() {
    std::vector<T> lower(points_.dims(), std::numeric_limits<T>::infinity());
    std::vector<T> upper(points_.dims(), -std::numeric_limits<T>::infinity());
    std::mutex lock;
    runtime::parallel_for(blocks_, parallel("measuring"), [&](std::uint64_t block) {
      std::vector<T> block_lower(points_.dims(), std::numeric_limits<T>::infinity());
      std::vector<T> block_upper(points_.dims(), -std::numeric_limits<T>::infinity());
      GroupCounts counts(groups_);
      std::uint64_t nonfinite = 0;
      for (std::uint64_t row = block * kBlockRows; row < block_end(block); ++row) {
        if (!is_finite(row)) {
          ++nonfinite;
          continue;
        }
        ++counts[group_of(hash_of(row))];
        const T* values = points_.row<T>(row);
        for (std::uint32_t d = 0; d < points_.dims(); ++d) {
          block_lower[d] = std::min(block_lower[d], values[d] + T{0});
          block_upper[d] = std::max(block_upper[d], values[d] + T{0});
        }
      }
      const std::lock_guard guard(lock);
      summary_.nonfinite += nonfinite;
      for (std::uint64_t g = 0; g < groups_; ++g) group_sizes_[g] += counts[g];
      for (std::uint32_t d = 0; d < points_.dims(); ++d) {
        lower[d] = std::min(lower[d], block_lower[d]);
        upper[d] = std::max(upper[d], block_upper[d]);
      }
    });
    if (summary_.nonfinite == summary_.points) return;
    summary_.lower.assign(lower.begin(), lower.end());
    summary_.upper.assign(upper.begin(), upper.end());
  }

  void find_duplicates() {
    const std::uint64_t finite = summary_.points - summary_.nonfinite;
    const auto rows = std::make_unique_for_overwrite<HashedRow[]>(finite);
    std::vector<std::uint64_t> starts(groups_ + 1, 0);
    for (std::uint64_t g = 0; g < groups_; ++g) starts[g + 1] = starts[g] + group_sizes_[g];
    scatter(rows.get(), starts);

    std::atomic<std::uint64_t> duplicates{0};
    runtime::ParallelOptions counting{
        .threads = options_.threads, .stage = "comparing", .progress = &options_.progress};
    runtime::parallel_for(groups_, counting, [&](std::uint64_t g) {
      duplicates += duplicates_in(std::span(rows.get() + starts[g], rows.get() + starts[g + 1]));
    });
    summary_.duplicates = duplicates;
  }

  /// Puts the rows of each group side by side, in an order that depends on the threads; nothing after it does.
  void scatter(HashedRow* rows, const std::vector<std::uint64_t>& starts) {
    std::vector<std::uint64_t> next(starts.begin(), starts.end() - 1);
    std::mutex lock;
    runtime::parallel_for(blocks_, parallel("grouping"), [&](std::uint64_t block) {
      std::vector<HashedRow> hashed;
      hashed.reserve(block_end(block) - block * kBlockRows);
      GroupCounts counts(groups_);
      for (std::uint64_t row = block * kBlockRows; row < block_end(block); ++row) {
        if (!is_finite(row)) continue;
        hashed.push_back({hash_of(row), row});
        ++counts[group_of(hashed.back().hash)];
      }
      std::vector<std::uint64_t> places(groups_);
      {
        const std::lock_guard guard(lock);
        for (std::uint64_t g = 0; g < groups_; ++g) {
          places[g] = next[g];
          next[g] += counts[g];
        }
      }
      for (const HashedRow& entry : hashed) rows[places[group_of(entry.hash)]++] = entry;
    });
  }

  std::uint64_t duplicates_in(std::span<HashedRow> group) const {
    std::sort(group.begin(), group.end(), [](const HashedRow& a, const HashedRow& b) { return a.hash < b.hash; });
    std::uint64_t duplicates = 0;
    for (std::size_t first = 0, last = 0; first < group.size(); first = last) {
      while (last < group.size() && group[last].hash == group[first].hash) ++last;
      if (last - first > 1) duplicates += duplicates_of_equal_hash(group.subspan(first, last - first));
    }
    return duplicates;
  }

  std::uint64_t duplicates_of_equal_hash(std::span<HashedRow> run) const {
    const bool all_equal = std::all_of(run.begin() + 1, run.end(),
                                       [&](const HashedRow& entry) { return compare(run[0].row, entry.row) == 0; });
    if (all_equal) return run.size() - 1;
    // Different rows with one hash: rare, unless someone built them so; sorting keeps even that at n log n.
    std::sort(run.begin(), run.end(), [&](const auto& a, const auto& b) { return compare(a.row, b.row) < 0; });
    std::uint64_t duplicates = 0;
    for (std::size_t i = 1; i < run.size(); ++i) duplicates += compare(run[i - 1].row, run[i].row) == 0 ? 1 : 0;
    return duplicates;
  }

  PointView points_;
  const SummarizeOptions& options_;
  std::uint64_t blocks_;
  std::uint64_t groups_;  // a power of two; the leading bits of the hash choose
  std::vector<std::uint64_t> group_sizes_;
  Summary summary_;
};

}  // namespace

Summary summarize(PointView points, const SummarizeOptions& options) {
  if (points.device().kind() == Device::Kind::cuda) {
    throw UsageError("the points are on a GPU; copy them to host memory to summarize them");
  }
  try {
    return points.dtype() == DType::f32 ? Summarizer<float>(points, options).run()
                                        : Summarizer<double>(points, options).run();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("counting duplicates among {} points needs about {} bytes; free some memory",
                                  points.rows(), points.rows() * sizeof(HashedRow)));
  }
}

}  // namespace kith::apps::inline v0
