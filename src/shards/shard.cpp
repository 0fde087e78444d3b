// Builds a shard: its points in the order of their numbers, in an index of their own. See kith/shards/shard.hpp.
#include "core/dispatch.hpp"
#include "shards/row_blocks.hpp"
#include "shards/searched_rows.hpp"
#include "shards/shard_state.hpp"

#include <kith/error.hpp>
#include <kith/shards/shard.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace kith::shards::inline v0 {
namespace {

void copy_row(PointView from, std::uint64_t row, PointSet& to, std::uint64_t place) {
  core::visit_dtype(from.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::copy_n(from.row<T>(row), from.dims(), to.values<T>().data() + place * from.dims());
  });
}

/// All parts behind each other, those with lower numbers first.
ShardPoints joined(std::vector<ShardPoints> parts) {
  std::erase_if(parts, [](const ShardPoints& part) { return part.numbers.empty() && part.points.dims() == 0; });
  if (parts.empty()) return {};
  if (parts.size() == 1) return std::move(parts.front());
  const DType dtype = parts.front().points.dtype();
  const std::uint32_t dims = parts.front().points.dims();
  std::uint64_t rows = 0;
  for (const ShardPoints& part : parts) {
    if (part.points.dtype() != dtype || part.points.dims() != dims || part.points.rows() != part.numbers.size()) {
      throw UsageError("shard: the parts of its points do not fit together");
    }
    rows += part.numbers.size();
  }
  std::sort(parts.begin(), parts.end(), [](const ShardPoints& a, const ShardPoints& b) {
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
    return (a.numbers.empty() ? kLast : a.numbers.front()) < (b.numbers.empty() ? kLast : b.numbers.front());
  });
  ShardPoints all{PointSet(dtype, rows, dims), {}};
  all.numbers.reserve(rows);
  core::visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* to = all.points.values<T>().data();
    for (ShardPoints& part : parts) {
      to = std::copy_n(part.points.values<T>().data(), part.points.rows() * dims, to);
      all.numbers.insert(all.numbers.end(), part.numbers.begin(), part.numbers.end());
      part = {};  // its memory is free before the next one is copied
    }
  });
  return all;
}

/// By ascending number.
ShardPoints sorted(ShardPoints points, int threads) {
  if (std::is_sorted(points.numbers.begin(), points.numbers.end())) return points;
  const std::uint64_t rows = points.numbers.size();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> order(rows);
  for (std::uint64_t i = 0; i < rows; ++i) order[i] = {points.numbers[i], i};
  std::sort(order.begin(), order.end());
  ShardPoints result{PointSet(points.points.dtype(), rows, points.points.dims()), std::vector<std::uint64_t>(rows)};
  for_each_row(rows, threads, [&](std::uint64_t i) {
    result.numbers[i] = order[i].first;
    copy_row(points.points.view(), order[i].second, result.points, i);
  });
  return result;
}

template <typename T>
void find_box(ShardFacts& facts, PointView points, const CutRules& rules, int threads) {
  const SearchedRows<T> rows(points, rules);
  const std::uint32_t dims = rows.dims();
  std::vector<T> lower(row_blocks(points.rows()) * dims), upper(lower.size());
  for_row_blocks(points.rows(), threads, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    std::vector<T> scratch(dims);
    T *low = lower.data() + block * dims, *high = upper.data() + block * dims;
    for (std::uint64_t i = begin; i < end; ++i) {
      const T* row = rows.at(i, scratch.data());
      for (std::uint32_t d = 0; d < dims; ++d) {
        low[d] = i == begin || row[d] < low[d] ? row[d] : low[d];
        high[d] = i == begin || row[d] > high[d] ? row[d] : high[d];
      }
    }
  });
  facts.lower.assign(dims, std::numeric_limits<double>::infinity());
  facts.upper.assign(dims, -std::numeric_limits<double>::infinity());
  for (std::uint64_t i = 0; i < lower.size(); ++i) {  // -0 becomes 0
    facts.lower[i % dims] = std::min(facts.lower[i % dims], static_cast<double>(lower[i] + T(0)));
    facts.upper[i % dims] = std::max(facts.upper[i % dims], static_cast<double>(upper[i] + T(0)));
  }
}

}  // namespace

Shard::Shard(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Shard Shard::build(std::vector<ShardPoints> parts, const CutRules& rules, const BuildOptions& options) {
  ShardPoints all = sorted(joined(std::move(parts)), options.threads);
  ShardFacts facts{.points = all.numbers.size(), .smallest = all.numbers.empty() ? 0 : all.numbers.front()};
  if (facts.points > 0) {
    core::visit_dtype(all.points.dtype(),
                      [&](auto zero) { find_box<decltype(zero)>(facts, all.points.view(), rules, options.threads); });
  }
  BuildOptions own = options;
  own.metric = rules.metric;
  own.metric_params = rules.metric_params;
  own.period = rules.period;
  own.split = rules.split;
  own.skip_nonfinite = false;
  Index index = Index::build(all.points.view(), own);
  const bool holds_points = index.holds_points();
  return Shard(std::make_shared<const State>(State{std::move(index), std::move(all.numbers), std::move(facts),
                                                   holds_points ? PointSet() : std::move(all.points)}));
}

Shard Shard::of_index(Index index, std::vector<std::uint64_t> numbers, ShardFacts facts) {
  const bool is_ascending = std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
  if (index.size() != numbers.size() || index.skipped() != 0 || facts.points != numbers.size() || !is_ascending ||
      (!numbers.empty() && facts.smallest != numbers.front())) {
    throw UsageError("shard: its index, its numbers and its facts do not fit together");
  }
  return Shard(
      std::make_shared<const State>(State{std::move(index), std::move(numbers), std::move(facts), PointSet()}));
}

const ShardFacts& Shard::facts() const { return state_->facts; }
std::span<const std::uint64_t> Shard::numbers() const { return state_->numbers; }
const Index& Shard::index() const { return state_->index; }

std::uint64_t Shard::memory_bytes() const {
  return state_->index.memory_bytes() + state_->rows.bytes() + state_->numbers.capacity() * sizeof(std::uint64_t);
}

std::vector<std::uint64_t> Shard::allowed_here(std::span<const std::uint64_t> allowed) const {
  std::vector<std::uint64_t> here;
  if (allowed.empty()) return here;
  const std::vector<std::uint64_t>& numbers = state_->numbers;
  here.assign((numbers.size() + 63) / 64, 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] / 64 >= allowed.size()) throw UsageError("allowed: it has no bit for some points");
    here[i / 64] |= (allowed[numbers[i] / 64] >> (numbers[i] % 64) & 1) << (i % 64);
  }
  return here;
}

PointSet Shard::points(int threads) const {
  if (!state_->index.holds_points() && state_->rows.rows() != state_->numbers.size()) {
    throw UsageError("shard: its index holds rows made of the points, not the points");
  }
  return state_->index.holds_points() ? state_->index.points(threads) : state_->rows.clone();
}

}  // namespace kith::shards::inline v0
