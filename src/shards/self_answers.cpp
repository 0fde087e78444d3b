// See self_answers.hpp.
#include "shards/self_answers.hpp"

#include "core/dispatch.hpp"
#include "shards/row_blocks.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kith::shards {
namespace {

std::uint64_t entries_of(std::uint64_t rows, std::uint32_t k) {
  if (k != 0 && rows > (std::uint64_t{1} << 60) / k) {
    throw OutOfMemory(fmt::format("not enough memory: {} lists of {} neighbours", rows, k));
  }
  return rows * k;
}

}  // namespace

SelfNeighbors::SelfNeighbors(const ShardMap& map, std::uint32_t k, int threads)
    : rows_(map.rows),
      k_(k),
      threads_(threads),
      numbers_(entries_of(map.rows, k)),
      distances_(map.dtype, entries_of(map.rows, k)) {
  if (map.points() == map.rows) return;  // every row is placed
  std::fill_n(numbers_.data(), numbers_.size(), rows_);
  core::visit_dtype(map.dtype, [&](auto zero) {
    using T = decltype(zero);
    std::ranges::fill(distances_.values<T>(), std::numeric_limits<T>::infinity());
  });
}

void SelfNeighbors::place(std::span<const std::uint64_t> numbers, const WideNeighbors& found) {
  core::visit_dtype(distances_.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = found.distances().values<T>().data();
    T* to = distances_.values<T>().data();
    for_each_row(numbers.size(), threads_, [&](std::uint64_t i) {
      std::copy_n(found.indices().data() + i * k_, k_, numbers_.data() + numbers[i] * k_);
      std::copy_n(from + i * k_, k_, to + numbers[i] * k_);
    });
  });
}

WideNeighbors SelfNeighbors::take() && {
  return WideNeighbors(rows_, k_, rows_, std::move(numbers_), std::move(distances_));
}

SelfLists::SelfLists(const ShardMap& map, int threads) : dtype_(map.dtype), rows_(map.rows), threads_(threads) {}

void SelfLists::add(const Shard& shard, WideNeighborLists found) { found_.emplace_back(shard, std::move(found)); }

WideNeighborLists SelfLists::take() && {
  std::vector<std::uint64_t> offsets(rows_ + 1, 0);
  for (const auto& [shard, found] : found_) {
    for (std::uint64_t i = 0; i < found.queries(); ++i) offsets[shard.numbers()[i] + 1] = found.count(i);
  }
  for (std::uint64_t row = 0; row < rows_; ++row) offsets[row + 1] += offsets[row];
  std::vector<std::uint64_t> numbers(offsets.back());
  Distances distances(dtype_, offsets.back());
  core::visit_dtype(dtype_, [&](auto zero) {
    using T = decltype(zero);
    T* to = distances.values<T>().data();
    for (auto& entry : found_) {
      const std::span<const std::uint64_t> own = entry.first.numbers();
      WideNeighborLists& found = entry.second;
      const T* from = found.distances().template values<T>().data();
      for_each_row(found.queries(), threads_, [&](std::uint64_t i) {
        const std::uint64_t begin = found.offsets()[i], count = found.count(i);
        std::copy_n(found.indices().data() + begin, count, numbers.data() + offsets[own[i]]);
        std::copy_n(from + begin, count, to + offsets[own[i]]);
      });
      found = {};
    }
  });
  return WideNeighborLists(rows_, std::move(offsets), std::move(numbers), std::move(distances));
}

SelfRadii::SelfRadii(const Radii& radii, std::span<const Shard> shards) : all_(radii.all()) {
  if (!radii.each()) return;
  for (const Shard& shard : shards) {
    std::vector<double>& own = each_.emplace_back();
    for (const std::uint64_t number : shard.numbers()) own.push_back(radii.of(number));
  }
}

Radii SelfRadii::of(std::uint32_t shard) const { return each_.empty() ? Radii(all_) : Radii(each_[shard]); }

}  // namespace kith::shards
