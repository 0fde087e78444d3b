// Rows with equal hashes are put side by side and then compared themselves; sorting keeps even rows that were built to
// share a hash at n log n.
//
//   pass      per row                           memory per row
//   count     hash                              -
//   scatter   hash, one write                   8 bytes: 32 bits of the hash, the row
//   compare   sort in groups of a few thousand  4 bytes: the answer
#include "apps/equal_rows.hpp"

#include "apps/row_content.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kBlockRows = 65536;
constexpr std::uint64_t kMostGroups = 4096;

/// 32 bits of the hash above the number of the row.
using Entry = std::uint64_t;

std::uint32_t row_of(Entry entry) { return static_cast<std::uint32_t>(entry); }
std::uint64_t hash_bits_of(Entry entry) { return entry >> 32; }

template <typename T>
class EqualRows {
 public:
  EqualRows(PointView points, std::span<const std::uint32_t> rows, const EqualRowsOptions& options)
      : points_(points),
        rows_(rows),
        options_(options),
        blocks_((rows.size() + kBlockRows - 1) / kBlockRows),
        groups_(std::bit_floor(std::clamp<std::uint64_t>(rows.size() / 1024, 1, kMostGroups))),
        first_equal_(points.rows()) {}

  std::vector<std::uint32_t> run() {
    const std::vector<std::uint64_t> starts = count_groups();
    const auto entries = std::make_unique_for_overwrite<Entry[]>(rows_.size());
    scatter(entries.get(), starts);
    const runtime::ParallelOptions comparing{
        .threads = options_.threads, .stage = "comparing", .progress = options_.progress};
    runtime::parallel_for(groups_, comparing, [&](std::uint64_t group) {
      compare_group(std::span(entries.get() + starts[group], entries.get() + starts[group + 1]));
    });
    return std::move(first_equal_);
  }

 private:
  std::uint64_t hash_of(std::uint32_t row) const { return hash_of_row(points_.row<T>(row), points_.dims()); }
  int compare(std::uint32_t a, std::uint32_t b) const {
    return compare_rows(points_.row<T>(a), points_.row<T>(b), points_.dims());
  }
  /// The leading bits choose the group, the trailing ones go into the entry.
  std::uint64_t group_of(std::uint64_t hash) const {
    return groups_ == 1 ? 0 : hash >> (64 - std::countr_zero(groups_));
  }
  std::span<const std::uint32_t> rows_of_block(std::uint64_t block) const {
    return rows_.subspan(block * kBlockRows, std::min<std::uint64_t>(kBlockRows, rows_.size() - block * kBlockRows));
  }
  runtime::ParallelOptions by_block(std::string_view stage) const {
    return {options_.threads, stage, options_.progress, kBlockRows, rows_.size()};
  }

  /// Where each group starts among all entries; one more start at the end.
  std::vector<std::uint64_t> count_groups() const {
    std::vector<std::uint64_t> starts(groups_ + 1, 0);
    std::mutex lock;
    runtime::parallel_for(blocks_, by_block("hashing"), [&](std::uint64_t block) {
      std::vector<std::uint32_t> counts(groups_, 0);
      for (const std::uint32_t row : rows_of_block(block)) ++counts[group_of(hash_of(row))];
      const std::lock_guard guard(lock);
      for (std::uint64_t group = 0; group < groups_; ++group) starts[group + 1] += counts[group];
    });
    for (std::uint64_t group = 0; group < groups_; ++group) starts[group + 1] += starts[group];
    return starts;
  }

  /// The order inside a group depends on the threads; the sort in compare_group makes an end of that.
  void scatter(Entry* entries, const std::vector<std::uint64_t>& starts) const {
    std::vector<std::uint64_t> next(starts.begin(), starts.end() - 1);
    std::mutex lock;
    runtime::parallel_for(blocks_, by_block("grouping"), [&](std::uint64_t block) {
      const std::span<const std::uint32_t> rows = rows_of_block(block);
      std::vector<std::uint64_t> hashes;
      hashes.reserve(rows.size());
      std::vector<std::uint64_t> places(groups_, 0);
      for (const std::uint32_t row : rows) {
        hashes.push_back(hash_of(row));
        ++places[group_of(hashes.back())];
      }
      {
        const std::lock_guard guard(lock);
        for (std::uint64_t group = 0; group < groups_; ++group) {
          const std::uint64_t count = places[group];
          places[group] = next[group];
          next[group] += count;
        }
      }
      for (std::size_t i = 0; i < rows.size(); ++i) {
        entries[places[group_of(hashes[i])]++] = hashes[i] << 32 | rows[i];
      }
    });
  }

  void compare_group(std::span<Entry> group) {
    std::sort(group.begin(), group.end());
    for (std::size_t first = 0, last = 0; first < group.size(); first = last) {
      while (last < group.size() && hash_bits_of(group[last]) == hash_bits_of(group[first])) ++last;
      compare_equal_hashes(group.subspan(first, last - first));
    }
  }

  void compare_equal_hashes(std::span<Entry> run) {
    const bool all_equal = std::all_of(run.begin() + 1, run.end(),
                                       [&](Entry entry) { return compare(row_of(run[0]), row_of(entry)) == 0; });
    if (all_equal) return answer(run);
    std::sort(run.begin(), run.end(), [&](Entry a, Entry b) {
      const int difference = compare(row_of(a), row_of(b));
      return difference != 0 ? difference < 0 : row_of(a) < row_of(b);
    });
    for (std::size_t first = 0, last = 0; first < run.size(); first = last) {
      while (last < run.size() && compare(row_of(run[first]), row_of(run[last])) == 0) ++last;
      answer(run.subspan(first, last - first));
    }
  }

  /// All rows of `equal` are equal.
  void answer(std::span<const Entry> equal) {
    std::uint32_t best = row_of(equal[0]);
    for (const Entry entry : equal.subspan(1)) {
      if (options_.order.before(row_of(entry), best)) best = row_of(entry);
    }
    for (const Entry entry : equal) first_equal_[row_of(entry)] = best;
  }

  PointView points_;
  std::span<const std::uint32_t> rows_;
  const EqualRowsOptions& options_;
  std::uint64_t blocks_;
  std::uint64_t groups_;  // a power of two
  std::vector<std::uint32_t> first_equal_;
};

}  // namespace

std::vector<std::uint32_t> first_equal_rows(PointView points, std::span<const std::uint32_t> rows,
                                            const EqualRowsOptions& options) {
  return points.dtype() == DType::f32 ? EqualRows<float>(points, rows, options).run()
                                      : EqualRows<double>(points, rows, options).run();
}

}  // namespace kith::apps::inline v0
