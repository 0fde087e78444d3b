// What walks through the tree collect: the nearest, all within a bound, or their number.
#pragma once

#include "core/order/candidate.hpp"
#include "cpu/kd_tree/distance_key.hpp"
#include "cpu/kd_tree/distance_lists.hpp"
#include "cpu/kd_tree/group_search.hpp"
#include "cpu/kd_tree/key_buffer.hpp"
#include "cpu/kd_tree/key_lists.hpp"
#include "cpu/nearest_keeper.hpp"
#include "cpu/nearest_row.hpp"
#include "engine/searcher.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kith::cpu {

/// The queries of a group and what they may find.
struct GroupScope {
  const std::uint64_t* queries = nullptr;
  engine::PointFilter filter;
  bool is_open = true;

  GroupScope() = default;
  explicit GroupScope(const engine::PointFilter& point_filter)
      : filter(point_filter), is_open(point_filter.is_open()) {}

  /// The hits that a query may find.
  std::uint64_t admitted(std::uint32_t query, std::uint64_t hits, const std::uint32_t* indices) const {
    if (is_open) return hits;
    std::uint64_t admitted = 0;
    for (std::uint64_t rest = hits; rest != 0; rest &= rest - 1) {
      const bool passes = filter.admits(queries[query], indices[std::countr_zero(rest)]);
      admitted |= passes ? rest & -rest : 0;
    }
    return admitted;
  }
};

/// Calls `take(candidate)` for each hit.
template <typename T, typename Take>
void for_each_hit(std::uint64_t hits, const T* reduced, const std::uint32_t* indices, Take&& take) {
  for (; hits != 0; hits &= hits - 1) {
    const int i = std::countr_zero(hits);
    take(core::Candidate<T>{reduced[i], indices[i]});
  }
}

/// Writes a list of k places: what was found, then `missing` and infinity.
template <typename T>
void write_row(std::span<const core::Candidate<T>> nearest, std::uint32_t k, std::uint32_t missing,
               std::uint32_t* indices, T* reduced) {
  for (std::size_t j = 0; j < nearest.size(); ++j) {
    indices[j] = nearest[j].index;
    reduced[j] = nearest[j].distance;
  }
  std::fill(indices + nearest.size(), indices + k, missing);
  std::fill(reduced + nearest.size(), reduced + k, std::numeric_limits<T>::infinity());
}

/// The k nearest of each query of a group, any type and k.
template <typename T>
class KeeperCollector {
 public:
  KeeperCollector(const engine::PointFilter& filter, std::uint32_t k, std::uint64_t points, T bound)
      : scope(filter), k_(k), missing_(static_cast<std::uint32_t>(points)) {
    keepers_.reserve(kGroupQueries);
    for (std::uint32_t i = 0; i < kGroupQueries; ++i) keepers_.emplace_back(k, points, bound);
  }

  void reset(std::uint32_t query) { keepers_[query].reset(); }
  void write(std::uint32_t query, std::uint32_t* indices, T* reduced) {
    write_row<T>(keepers_[query].finish(), k_, missing_, indices, reduced);
  }
  LeafHitFunction<T> function() const { return &on_hit; }
  void* context() { return this; }

  GroupScope scope;

 private:
  static core::Candidate<T> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const T* reduced,
                                   const std::uint32_t* indices) {
    auto& collector = *static_cast<KeeperCollector*>(self);
    NearestKeeper<T>& keeper = collector.keepers_[query];
    for_each_hit(collector.scope.admitted(query, hits, indices), reduced, indices,
                 [&](core::Candidate<T> hit) { keeper.offer(hit); });
    return {keeper.limit().distance, keeper.limit().index};
  }

  std::uint32_t k_;
  std::uint32_t missing_;
  std::vector<NearestKeeper<T>> keepers_;
};

/// The same for f32 and up to KeyLists::kMost neighbours.
class KeyCollector {
 public:
  KeyCollector(const engine::PointFilter& filter, std::uint32_t k, std::uint64_t points, float bound)
      : scope(filter),
        storage_(KeyLists::storage_size(k, kGroupQueries)),
        lists_(k, storage_.data()),
        missing_(static_cast<std::uint32_t>(points)),
        bound_(bound) {}

  void reset(std::uint32_t query) { lists_.reset(query, bound_); }
  void write(std::uint32_t query, std::uint32_t* indices, float* reduced) {
    lists_.write(query, missing_, indices, reduced);
  }
  /// Without a filter hits go straight to the lists.
  LeafHitFunction<float> function() const { return scope.is_open ? lists_.on_hit() : &on_hit; }
  void* context() { return scope.is_open ? static_cast<void*>(&lists_) : this; }

  GroupScope scope;

 private:
  static core::Candidate<float> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const float* reduced,
                                       const std::uint32_t* indices) {
    auto& collector = *static_cast<KeyCollector*>(self);
    const std::uint64_t admitted = collector.scope.admitted(query, hits, indices);
    return collector.lists_.on_hit()(&collector.lists_, query, admitted, reduced, indices);
  }

  std::vector<double> storage_;
  KeyLists lists_;
  std::uint32_t missing_;
  float bound_;
};

/// The same for f64 and up to DistanceLists::kMost neighbours.
class DistanceCollector {
 public:
  DistanceCollector(const engine::PointFilter& filter, std::uint32_t k, std::uint64_t points, double bound)
      : scope(filter), lists_(k, kGroupQueries), missing_(static_cast<std::uint32_t>(points)), bound_(bound) {}

  void reset(std::uint32_t query) { lists_.reset(query, bound_); }
  void write(std::uint32_t query, std::uint32_t* indices, double* reduced) {
    lists_.write(query, missing_, indices, reduced);
  }
  /// Without a filter hits go straight to the lists.
  LeafHitFunction<double> function() const { return scope.is_open ? lists_.on_hit() : &on_hit; }
  void* context() { return scope.is_open ? static_cast<void*>(&lists_) : this; }

  GroupScope scope;

 private:
  static core::Candidate<double> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const double* reduced,
                                        const std::uint32_t* indices) {
    auto& collector = *static_cast<DistanceCollector*>(self);
    const std::uint64_t admitted = collector.scope.admitted(query, hits, indices);
    return collector.lists_.on_hit()(&collector.lists_, query, admitted, reduced, indices);
  }

  DistanceLists lists_;
  std::uint32_t missing_;
  double bound_;
};

/// The same for f32 and more neighbours.
class BufferCollector {
 public:
  BufferCollector(const engine::PointFilter& filter, std::uint32_t k, std::uint64_t points, float bound)
      : scope(filter), k_(k), missing_(static_cast<std::uint32_t>(points)), bound_(bound) {
    buffers_.reserve(kGroupQueries);
    for (std::uint32_t i = 0; i < kGroupQueries; ++i) buffers_.emplace_back(k, points);
  }

  void reset(std::uint32_t query) { buffers_[query].reset(bound_); }
  void write(std::uint32_t query, std::uint32_t* indices, float* reduced) {
    buffers_[query].write(k_, missing_, indices, reduced, spare_);
  }
  LeafHitFunction<float> function() const { return &on_hit; }
  void* context() { return this; }

  GroupScope scope;

 private:
  static core::Candidate<float> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const float* reduced,
                                       const std::uint32_t* indices) {
    auto& collector = *static_cast<BufferCollector*>(self);
    KeyBuffer& buffer = collector.buffers_[query];
    buffer.insert(collector.scope.admitted(query, hits, indices), reduced, indices, collector.spare_);
    return buffer.limit();
  }

  std::uint32_t k_;
  std::uint32_t missing_;
  float bound_;
  std::vector<KeyBuffer> buffers_;
  std::vector<double> spare_;
};

/// Everything within a bound.
template <typename T>
class ListCollector {
 public:
  ListCollector(const engine::PointFilter& filter, engine::Reach<T> reach) : scope(filter), reach_(reach) {}

  using Entry = typename ListEntry<T>::Type;

  std::vector<Entry>& list(std::uint32_t query) { return lists_[query]; }
  LeafHitFunction<T> function() const { return &on_hit; }
  void* context() { return this; }

  GroupScope scope;

 private:
  static core::Candidate<T> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const T* reduced,
                                   const std::uint32_t* indices) {
    auto& collector = *static_cast<ListCollector*>(self);
    std::vector<Entry>& list = collector.lists_[query];
    for_each_hit(collector.scope.admitted(query, hits, indices), reduced, indices,
                 [&](core::Candidate<T> hit) { list.push_back(ListEntry<T>::of(hit.distance, hit.index)); });
    return {collector.reach_.of(collector.scope.queries[query]), core::kNoPoint};
  }

  engine::Reach<T> reach_;
  std::vector<Entry> lists_[kGroupQueries];
};

/// How many lie within a bound.
template <typename T>
class CountCollector {
 public:
  CountCollector(const engine::PointFilter& filter, engine::Reach<T> reach) : scope(filter), reach_(reach) {}

  void reset() { std::fill_n(counts_, kGroupQueries, 0); }
  std::uint32_t count(std::uint32_t query) const { return counts_[query]; }
  LeafHitFunction<T> function() const { return &on_hit; }
  void* context() { return this; }

  GroupScope scope;

 private:
  static core::Candidate<T> on_hit(void* self, std::uint32_t query, std::uint64_t hits, const T*,
                                   const std::uint32_t* indices) {
    auto& collector = *static_cast<CountCollector*>(self);
    collector.counts_[query] +=
        static_cast<std::uint32_t>(std::popcount(collector.scope.admitted(query, hits, indices)));
    return {collector.reach_.of(collector.scope.queries[query]), core::kNoPoint};
  }

  engine::Reach<T> reach_;
  std::uint32_t counts_[kGroupQueries] = {};
};

/// The nearest of one query that walks by itself: in the caller's rows, or in `keys` unless that is null.
template <typename T>
struct AloneCollector {
  GroupScope scope;
  NearestRow<T> list;
  KeyLists* keys;

  static core::Candidate<T> on_hit(void* self, std::uint32_t, std::uint64_t hits, const T* reduced,
                                   const std::uint32_t* indices) {
    auto& alone = *static_cast<AloneCollector*>(self);
    const std::uint64_t admitted = alone.scope.admitted(0, hits, indices);
    if constexpr (sizeof(T) == 4) {
      if (alone.keys != nullptr) return alone.keys->on_hit()(alone.keys, 0, admitted, reduced, indices);
    }
    for_each_hit(admitted, reduced, indices, [&](core::Candidate<T> hit) { alone.list.offer(hit); });
    const core::Candidate<T> limit = alone.list.limit();
    return limit;
  }
};

}  // namespace kith::cpu
