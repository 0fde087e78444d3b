// See cut.hpp. Each block has a PointCutter of its own in each pass: none keeps what it cannot find again.
#include "shards/stored/cut.hpp"

#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kith::shards {
namespace {

/// Copies a row of bytes.
class RowCopy {
 public:
  explicit RowCopy(PointView view)
      : from_(static_cast<const std::byte*>(view.data())), bytes_(std::size_t{view.dims()} * size_of(view.dtype())) {}
  std::size_t bytes() const { return bytes_; }
  void operator()(std::uint64_t row, std::byte* to) const { std::memcpy(to, from_ + row * bytes_, bytes_); }

 private:
  const std::byte* from_;
  std::size_t bytes_;
};

}  // namespace

std::uint64_t StoredPoints::rows() const {
  std::uint64_t rows = 0;
  for (const io::PointRows& file : files) rows += file.rows();
  return rows;
}

std::uint64_t StoredPoints::row_bytes() const {
  return files.empty() ? 0 : std::uint64_t{files.front().dims()} * size_of(files.front().dtype());
}

StoredCutter::StoredCutter(const StoredPoints& points, const CutRules& rules, StoredCutSizes sizes, int threads,
                           const ProgressCallback& progress)
    : points_(points), rules_(rules), sizes_(sizes), threads_(threads), progress_(progress) {}

/// f(points) for all of them, in the order of their numbers. Every file has a block, so that its shape is seen.
template <typename F>
void StoredCutter::for_each_block(const char* stage, const F& f) {
  runtime::ProgressMeter meter(&progress_, stage, points_.rows());
  std::uint64_t done = 0;
  for (const io::PointRows& file : points_.files) {
    std::uint64_t row = 0;
    do {
      const std::uint64_t count = std::min(sizes_.block_rows, file.rows() - row);
      const PointSet block = file.read(row, count);
      f(NumberedPoints{.points = block.view(), .first_number = points_.first_number + done});
      row += count;
      done += count;
      meter.report(done);
    } while (row < file.rows());
  }
  meter.finish();
  ++passes_;
}

PointFacts StoredCutter::facts() {
  std::vector<PointFacts> parts;
  for_each_block("describing points", [&](const NumberedPoints& block) {
    parts.push_back(PointFacts::of(block, rules_, threads_));
    if (parts.size() == 2) parts = {PointFacts::joined(parts)};
  });
  PointFacts all = parts.empty() ? PointFacts() : std::move(parts.front());
  all.rows += points_.first_number;
  return all;
}

std::vector<std::uint64_t> StoredCutter::counts(const CutPlan& plan) {
  if (kept_ && !plan.is_first_of_level() && kept_->round == plan.rounds()) {
    ++kept_->round;
    return kept_->cutter->counts(plan);
  }
  kept_ = plan.is_first_of_level() ? nullptr : std::make_unique<Kept>();
  bool is_too_much = false;
  std::vector<std::uint64_t> sums(plan.counts(), 0);
  for_each_block("cutting shards", [&](const NumberedPoints& block) {
    PointCutter cutter(block, rules_, threads_);
    const std::vector<std::uint64_t> counts = cutter.counts(plan);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
    if (kept_ && !is_too_much) keep(cutter, block, *kept_, is_too_much);
  });
  if (is_too_much) kept_ = nullptr;
  if (!kept_) return sums;
  const PointView kept(kept_->rows.data(), points_.files.front().dtype(), kept_->numbers.size(),
                       points_.files.front().dims(), points_.files.front().dims());
  kept_->cutter.emplace(NumberedPoints{.points = kept, .numbers = kept_->numbers}, rules_, threads_);
  kept_->round = plan.rounds() + 1;
  return sums;
}

void StoredCutter::keep(PointCutter& cutter, const NumberedPoints& block, Kept& kept, bool& is_too_much) const {
  const std::span<const std::uint64_t> rows = cutter.counted_rows();
  const std::uint64_t place = kept.numbers.size();
  if (place + rows.size() > sizes_.kept_rows) {
    is_too_much = true;
    kept = {};
    return;
  }
  if (rows.empty()) return;
  const RowCopy copy(block.points);
  if (place == 0) {
    const std::uint64_t most = std::min(sizes_.kept_rows, points_.rows());
    kept.rows.reserve(most * copy.bytes());
    kept.numbers.reserve(most);
  }
  kept.rows.resize((place + rows.size()) * copy.bytes());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    copy(rows[i], kept.rows.data() + (place + i) * copy.bytes());
    kept.numbers.push_back(block.number_of(rows[i]));
  }
}

void StoredCutter::deal(const CutPlan& plan, PlacedFile& rows, PlacedFile& numbers) {
  kept_ = nullptr;
  std::vector<std::uint64_t> place(plan.shards());  // of the next point of each shard, in the files
  for (std::uint32_t shard = 0; shard < plan.shards(); ++shard) place[shard] = plan.first(shard);
  std::vector<std::byte> sorted_rows;
  std::vector<std::uint64_t> sorted_numbers;
  for_each_block("dealing out points", [&](const NumberedPoints& block) {
    if (block.points.rows() == 0) return;
    PointCutter cutter(block, rules_, threads_);
    const std::vector<std::uint64_t> counts = cutter.shard_counts(plan);
    const std::span<const std::uint16_t> shards = cutter.shards_of(plan);
    std::vector<std::uint64_t> begin(counts.size() + 1, 0);
    for (std::size_t shard = 0; shard < counts.size(); ++shard) begin[shard + 1] = begin[shard] + counts[shard];
    const RowCopy copy(block.points);
    sorted_rows.resize(begin.back() * copy.bytes());
    sorted_numbers.resize(begin.back());
    std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
    for (std::uint64_t i = 0; i < shards.size(); ++i) {
      if (shards[i] == PointCutter::kNoShard) continue;
      const std::uint64_t to = next[shards[i]]++;
      copy(i, sorted_rows.data() + to * copy.bytes());
      sorted_numbers[to] = block.number_of(i);
    }
    for (std::uint32_t shard = 0; shard < counts.size(); ++shard) {
      if (place[shard] + counts[shard] > plan.first(shard + 1)) {
        throw IoError("the points are not those that the cuts were made for: a file was changed while it was read");
      }
      rows.write_at(place[shard] * copy.bytes(), sorted_rows.data() + begin[shard] * copy.bytes(),
                    counts[shard] * copy.bytes());
      numbers.write_at(place[shard] * sizeof(std::uint64_t), sorted_numbers.data() + begin[shard],
                       counts[shard] * sizeof(std::uint64_t));
      place[shard] += counts[shard];
    }
  });
  for (std::uint32_t shard = 0; shard < plan.shards(); ++shard) {
    if (place[shard] != plan.first(shard + 1)) {
      throw IoError("the points are not those that the cuts were made for: a file was changed while it was read");
    }
  }
}

}  // namespace kith::shards
