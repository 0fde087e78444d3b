// Searches over more points than a device has memory for: the points stay on the host, and each search takes them to
// the device part by part. What the parts find is joined by the tie rule, so the answer is the one of all points at
// once.
#pragma once

#include "engine/backend.hpp"
#include "engine/searcher.hpp"
#include "runtime/large_buffer.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::engine {

/// The neighbours that a part is asked for at a time.
inline constexpr std::uint64_t kEntriesAtOnce = std::uint64_t{1} << 24;

/// Makes a searcher over some of the points, `count` rows side by side, for as long as a search needs it.
template <typename T>
using MakePart = std::function<std::unique_ptr<Searcher<T>>(const T* rows, std::uint64_t count, const RunOptions& run)>;

/// Thread-safe: threads take turns, part by part.
template <typename T>
class SearchInParts final : public Searcher<T> {
 public:
  /// Copies the rows of the request, which lie on the host. Parts have `rows_per_part` points, or a few less: filters
  /// by bitmap want whole words.
  SearchInParts(const BuildRequest<T>& request, std::uint64_t rows_per_part, MakePart<T> make)
      : metric_(request.metric),
        period_(request.period),
        device_(request.device),
        rows_(std::max<std::uint64_t>(request.count * request.dims * sizeof(T), 1)),
        count_(request.count),
        dims_(request.dims),
        per_part_(std::max<std::uint64_t>(rows_per_part / kWord * kWord, kWord)),
        make_(std::move(make)) {
    std::memcpy(rows_.data(), request.rows, request.count * request.dims * sizeof(T));
  }

  void knn(const QueryBatch<T>& queries, std::uint32_t k, const KnnRules<T>& rules, const RunOptions& run,
           std::uint32_t* indices, T* reduced, std::uint8_t* exact) const override;
  ReducedLists<T> radius(const QueryBatch<T>& queries, T bound, std::uint32_t most,
                         const RunOptions& run) const override;
  void count(const QueryBatch<T>& queries, T bound, const RunOptions& run, std::uint32_t* counts) const override;
  IndexLists box(const BoxBatch<T>& boxes, const RunOptions& run) const override;
  void box_count(const BoxBatch<T>& boxes, const RunOptions& run, std::uint32_t* counts) const override;

  void copy_rows(T* rows, int) const override { std::memcpy(rows, row(0), count_ * dims_ * sizeof(T)); }
  /// The CPU's engine writes the file; it is made when it is first needed.
  void save(IndexFileWriter& writer, const RunOptions& run) const override;
  std::uint64_t memory_bytes() const override { return rows_.bytes(); }
  std::string describe() const override {
    return fmt::format(
        "brute force: {} points of {} dims, too many for the memory of {}: they stay on the host, {} bytes, and each "
        "search takes them there in {} parts of up to {} points",
        count_, dims_, device_.name(), memory_bytes(), parts(), per_part_);
  }

 private:
  static constexpr std::uint64_t kWord = 64;  // of a bitmap

  const T* row(std::uint64_t point) const { return reinterpret_cast<const T*>(rows_.data()) + point * dims_; }
  std::uint64_t parts() const { return (count_ + per_part_ - 1) / per_part_; }

  /// Calls f(part's searcher, its first point, one behind its last) for each part.
  template <typename F>
  void for_each_part(const RunOptions& run, F&& f) const {
    runtime::ProgressMeter meter(run.progress, "searching", std::max<std::uint64_t>(parts(), 1));
    for (std::uint64_t part = 0; part < parts(); ++part) {
      const std::uint64_t first = part * per_part_, end = std::min(count_, first + per_part_);
      const RunOptions inner{run.threads, nullptr, run.times};
      const std::lock_guard lock(device_lock_);  // a part takes much of the device: threads take turns
      f(*make_(row(first), end - first, inner), first, end, inner);
      meter.report(part + 1);
    }
    meter.finish();
  }

  /// The queries of a search among the points [first, end), which are numbered from 0 there. A point is found by
  /// itself: callers that do not want that request one more.
  QueryBatch<T> for_part(const QueryBatch<T>& queries, std::uint64_t first, std::uint64_t end,
                         std::vector<std::uint32_t>& below) const {
    QueryBatch<T> part = queries;
    if (queries.is_self()) {
      part.rows = row(0);
      part.row_stride = dims_;
    }
    part.filter = filter_for_part(queries.filter, queries.count, first, end, below);
    return part;
  }
  static PointFilter filter_for_part(const PointFilter& filter, std::uint64_t queries, std::uint64_t first,
                                     std::uint64_t end, std::vector<std::uint32_t>& below) {
    PointFilter part;
    if (filter.allowed != nullptr) part.allowed = filter.allowed + first / kWord;
    if (filter.below == nullptr && !filter.earlier_only) return part;
    below.resize(queries);
    for (std::uint64_t q = 0; q < queries; ++q) {
      const std::uint64_t last = std::clamp<std::uint64_t>(filter.end(q), first, end);
      below[q] = static_cast<std::uint32_t>(last - first);
    }
    part.below = below.data();
    return part;
  }

  /// The k nearest in `indices` and `reduced`, as far as they are not missing, and what a part from `first` on found;
  /// the number `none` ends that, and the point `skipped` is left out.
  void join(std::uint64_t first, std::uint32_t none, std::span<const std::uint32_t> found, const T* found_reduced,
            std::uint64_t skipped, std::span<std::uint32_t> indices, T* reduced) const;

  Metric metric_;
  std::vector<T> period_;
  Device device_;
  runtime::LargeBuffer rows_;
  std::uint64_t count_;
  std::uint32_t dims_;
  std::uint64_t per_part_;
  MakePart<T> make_;
  mutable std::mutex device_lock_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<Searcher<T>> on_cpu_;  ///< for a file that is written
};

template <typename T>
void SearchInParts<T>::knn(const QueryBatch<T>& queries, std::uint32_t k, const KnnRules<T>& rules,
                           const RunOptions& run, std::uint32_t* indices, T* reduced, std::uint8_t* exact) const {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (exact != nullptr) std::fill_n(exact, queries.count, std::uint8_t{1});
  const auto missing = static_cast<std::uint32_t>(count_);
  std::fill_n(indices, queries.count * k, missing);
  std::fill_n(reduced, queries.count * k, kInfinity);
  if (queries.count == 0 || k == 0) return;
  const bool skips_self = queries.filter.exclude_self;
  KnnRules<T> exactly;
  exactly.bound = rules.bound;
  exactly.select = rules.select;
  for_each_part(run, [&](const Searcher<T>& part, std::uint64_t first, std::uint64_t end, const RunOptions& inner) {
    std::vector<std::uint32_t> below;
    const QueryBatch<T> asked = for_part(queries, first, end, below);
    // More than the part has need not be asked for, and its answers take little memory at a time.
    const std::uint64_t wanted = std::min<std::uint64_t>(std::uint64_t{k} + (skips_self ? 1 : 0), end - first);
    const auto width = static_cast<std::uint32_t>(wanted), none = static_cast<std::uint32_t>(end - first);
    const std::uint64_t at_once = std::clamp<std::uint64_t>(kEntriesAtOnce / width, 1, queries.count);
    std::vector<std::uint32_t> part_indices(at_once * width);
    std::vector<T> part_reduced(at_once * width);
    for (std::uint64_t begin = 0; begin < queries.count; begin += at_once) {
      QueryBatch<T> block = asked;
      block.count = std::min(at_once, queries.count - begin);
      block.rows = asked.row(begin);
      if (block.filter.below != nullptr) block.filter.below += begin;
      if (block.bounds != nullptr) block.bounds += begin;
      part.knn(block, width, exactly, inner, part_indices.data(), part_reduced.data(), nullptr);
      runtime::parallel_for(block.count, {.threads = run.threads}, [&](std::uint64_t i) {
        const std::uint64_t q = begin + i;
        join(first, none, std::span(part_indices).subspan(i * width, width), part_reduced.data() + i * width,
             skips_self ? q : count_, std::span(indices + q * k, k), reduced + q * k);
      });
    }
  });
}

/// What a part found joins what the parts before it found.
template <typename T>
void SearchInParts<T>::join(std::uint64_t first, std::uint32_t none, std::span<const std::uint32_t> found,
                            const T* found_reduced, std::uint64_t skipped, std::span<std::uint32_t> indices,
                            T* reduced) const {
  using core::Candidate;
  const auto missing = static_cast<std::uint32_t>(count_);
  const std::size_t k = indices.size();
  thread_local std::vector<Candidate<T>> joined;
  joined.clear();
  std::size_t own = 0;
  const auto take_own = [&] {
    joined.push_back({reduced[own], indices[own]});
    ++own;
  };
  for (std::size_t j = 0; j < found.size() && joined.size() < k && found[j] != none; ++j) {
    const std::uint64_t index = first + found[j];
    if (index == skipped) continue;
    // What came before has lower numbers, so it goes first where reduced distances are equal.
    while (joined.size() < k && own < k && indices[own] != missing && reduced[own] <= found_reduced[j]) take_own();
    if (joined.size() < k) joined.push_back({found_reduced[j], static_cast<std::uint32_t>(index)});
  }
  while (joined.size() < k && own < k && indices[own] != missing) take_own();
  for (std::size_t j = 0; j < joined.size(); ++j) {
    indices[j] = joined[j].index;
    reduced[j] = joined[j].distance;
  }
}

template <typename T>
ReducedLists<T> SearchInParts<T>::radius(const QueryBatch<T>& queries, T bound, std::uint32_t most,
                                         const RunOptions& run) const {
  using core::Candidate;
  const bool skips_self = queries.filter.exclude_self;
  const std::uint32_t wanted = most == 0 ? 0 : most + (skips_self ? 1 : 0);
  std::vector<std::vector<Candidate<T>>> found(queries.count);
  for_each_part(run, [&](const Searcher<T>& part, std::uint64_t first, std::uint64_t end, const RunOptions& inner) {
    std::vector<std::uint32_t> below;
    const ReducedLists<T> lists = part.radius(for_part(queries, first, end, below), bound, wanted, inner);
    runtime::parallel_for(queries.count, {.threads = run.threads}, [&](std::uint64_t q) {
      std::vector<Candidate<T>>& list = found[q];
      const auto middle = static_cast<std::ptrdiff_t>(list.size());
      for (std::uint64_t i = lists.offsets[q]; i < lists.offsets[q + 1]; ++i) {
        const auto index = static_cast<std::uint32_t>(first + lists.indices[i]);
        if (!skips_self || index != q) list.push_back({lists.reduced[i], index});
      }
      std::inplace_merge(list.begin(), list.begin() + middle, list.end());
      if (most > 0 && list.size() > most) list.resize(most);
    });
  });
  ReducedLists<T> all;
  all.offsets.assign(queries.count + 1, 0);
  for (std::uint64_t q = 0; q < queries.count; ++q) all.offsets[q + 1] = all.offsets[q] + found[q].size();
  all.indices.resize(all.offsets.back());
  all.reduced.resize(all.offsets.back());
  runtime::parallel_for(queries.count, {.threads = run.threads}, [&](std::uint64_t q) {
    for (std::size_t i = 0; i < found[q].size(); ++i) {
      all.indices[all.offsets[q] + i] = found[q][i].index;
      all.reduced[all.offsets[q] + i] = found[q][i].distance;
    }
  });
  return all;
}

template <typename T>
void SearchInParts<T>::count(const QueryBatch<T>& queries, T bound, const RunOptions& run,
                             std::uint32_t* counts) const {
  std::fill_n(counts, queries.count, 0u);
  for_each_part(run, [&](const Searcher<T>& part, std::uint64_t first, std::uint64_t end, const RunOptions& inner) {
    std::vector<std::uint32_t> below, here(queries.count);
    part.count(for_part(queries, first, end, below), bound, inner, here.data());
    for (std::uint64_t q = 0; q < queries.count; ++q) counts[q] += here[q];
  });
  if (!queries.filter.exclude_self) return;
  PointFilter others = queries.filter;
  others.exclude_self = false;
  const Reach<T> reach = queries.reach(bound);
  for (std::uint64_t q = 0; q < queries.count; ++q) {  // a point is at distance 0 from itself, and was counted
    if (reach.of(q) >= T(0) && others.admits(q, static_cast<std::uint32_t>(q))) --counts[q];
  }
}

template <typename T>
IndexLists SearchInParts<T>::box(const BoxBatch<T>& boxes, const RunOptions& run) const {
  std::vector<std::vector<std::uint32_t>> found(boxes.count);
  for_each_part(run, [&](const Searcher<T>& part, std::uint64_t first, std::uint64_t end, const RunOptions& inner) {
    std::vector<std::uint32_t> below;
    BoxBatch<T> asked = boxes;
    asked.filter = filter_for_part(boxes.filter, boxes.count, first, end, below);
    const IndexLists lists = part.box(asked, inner);
    for (std::uint64_t b = 0; b < boxes.count; ++b) {
      for (std::uint64_t i = lists.offsets[b]; i < lists.offsets[b + 1]; ++i) {
        found[b].push_back(static_cast<std::uint32_t>(first + lists.indices[i]));
      }
    }
  });
  IndexLists all;
  all.offsets.assign(boxes.count + 1, 0);
  for (std::uint64_t b = 0; b < boxes.count; ++b) {
    all.offsets[b + 1] = all.offsets[b] + found[b].size();
    all.indices.insert(all.indices.end(), found[b].begin(), found[b].end());
  }
  return all;
}

template <typename T>
void SearchInParts<T>::box_count(const BoxBatch<T>& boxes, const RunOptions& run, std::uint32_t* counts) const {
  std::fill_n(counts, boxes.count, 0u);
  for_each_part(run, [&](const Searcher<T>& part, std::uint64_t first, std::uint64_t end, const RunOptions& inner) {
    std::vector<std::uint32_t> below, here(boxes.count);
    BoxBatch<T> asked = boxes;
    asked.filter = filter_for_part(boxes.filter, boxes.count, first, end, below);
    part.box_count(asked, inner, here.data());
    for (std::uint64_t b = 0; b < boxes.count; ++b) counts[b] += here[b];
  });
}

template <typename T>
void SearchInParts<T>::save(IndexFileWriter& writer, const RunOptions& run) const {
  std::call_once(once_, [&] {
    const BuildRequest<T> request{.engine = Engine::brute_force,
                                  .metric = metric_,
                                  .rows = row(0),
                                  .row_stride = dims_,
                                  .count = count_,
                                  .dims = dims_,
                                  .period = period_,
                                  .run = {.threads = run.threads}};
    on_cpu_ = cpu_backend().build(request);
  });
  on_cpu_->save(writer, run);
}

}  // namespace kith::engine
