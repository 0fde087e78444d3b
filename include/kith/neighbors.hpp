// What a search returns: k neighbours per query, or lists of any length.
#pragma once

#include <kith/dtype.hpp>
#include <kith/export.hpp>
#include <kith/value_array.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kith::inline v0 {

/// Distances of one of the two types, side by side.
class KITH_EXPORT Distances {
 public:
  Distances() = default;
  template <typename T>
  explicit Distances(const std::vector<T>& values) : values_(ValueArray<T>(values)) {}
  /// `count` distances, which have no value yet. Throws std::bad_alloc.
  Distances(DType dtype, std::size_t count);

  DType dtype() const { return values_.index() == 0 ? DType::f32 : DType::f64; }
  std::size_t size() const {
    return std::visit([](const auto& values) { return values.size(); }, values_);
  }
  /// One distance as a double.
  double at(std::size_t i) const {
    return std::visit([i](const auto& values) { return static_cast<double>(values[i]); }, values_);
  }
  /// All of them; throws std::bad_variant_access unless `T` is the type that `dtype()` names.
  template <typename T>
  std::span<const T> values() const {
    return std::get<ValueArray<T>>(values_);
  }
  template <typename T>
  std::span<T> values() {
    return std::get<ValueArray<T>>(values_);
  }
  /// Equality of bytes, so that tests need no tolerance (NaN never occurs).
  friend bool operator==(const Distances&, const Distances&) = default;

 private:
  std::variant<ValueArray<float>, ValueArray<double>> values_;
};

/// The caller's memory for distances of one of the two types.
using DistanceSpan = std::variant<std::span<float>, std::span<double>>;

/// One neighbour of a query. `Number` is how points are numbered: 64 bits where they are in several indexes.
template <typename Number>
struct NeighborOf {
  Number index = 0;
  double distance = 0;
  friend bool operator==(const NeighborOf&, const NeighborOf&) = default;
};

/// What `at(i)` returns for i from `first` up to `last`, to go through with a for loop.
template <typename At>
class NumberedRange {
 public:
  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = decltype(std::declval<const At&>()(std::uint64_t{}));

    Iterator(At at, std::uint64_t i) : at_(at), i_(i) {}
    value_type operator*() const { return at_(i_); }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    void operator++(int) { ++i_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.i_ == b.i_; }

   private:
    At at_;
    std::uint64_t i_;
  };

  NumberedRange(std::uint64_t first, std::uint64_t last, At at) : first_(first), last_(last), at_(at) {}
  Iterator begin() const { return {at_, first_}; }
  Iterator end() const { return {at_, last_}; }
  std::uint64_t size() const { return last_ - first_; }
  bool empty() const { return first_ == last_; }
  auto operator[](std::uint64_t i) const { return at_(first_ + i); }

 private:
  std::uint64_t first_, last_;
  At at_;
};

/// An iterator over the rows of a result, at the row of a query.
template <typename Result>
auto row_iterator(const Result& result, std::uint64_t query) {
  const auto at = [&result](std::uint64_t q) { return result[q]; };
  return typename NumberedRange<std::remove_const_t<decltype(at)>>::Iterator(at, query);
}

/// k neighbours for each query, each row sorted by (distance, index). Missing ones have index `missing()` and distance
/// infinity.
template <typename Number>
class KITH_EXPORT NeighborsOf {
 public:
  NeighborsOf() = default;
  /// `indices` and `distances` hold queries x k values, row-major; `points` is the number of points searched.
  /// `exact` holds one flag per query, or nothing if all are exact.
  NeighborsOf(std::uint64_t queries, std::uint32_t k, Number points, ValueArray<Number> indices, Distances distances,
              std::vector<std::uint8_t> exact = {})
      : queries_(queries),
        k_(k),
        points_(points),
        indices_(std::move(indices)),
        distances_(std::move(distances)),
        exact_(std::move(exact)) {}

  std::uint64_t queries() const { return queries_; }
  std::uint32_t k() const { return k_; }
  /// The index that stands for "no such neighbour": the number of points.
  Number missing() const { return points_; }
  DType dtype() const { return distances_.dtype(); }

  Number index(std::uint64_t query, std::uint32_t rank) const { return indices_[query * k_ + rank]; }
  double distance(std::uint64_t query, std::uint32_t rank) const { return distances_.at(query * k_ + rank); }
  /// The neighbours that a query has, nearest first: `for (const auto [index, distance] : found[query])`. Valid as long
  /// as this result.
  auto operator[](std::uint64_t query) const& {
    std::uint64_t last = (query + 1) * k_;
    while (last > query * k_ && indices_[last - 1] == points_) --last;
    return NumberedRange(query * k_, last, [this](std::uint64_t i) {
      return NeighborOf<Number>{indices_[i], distances_.at(i)};
    });
  }
  void operator[](std::uint64_t) && = delete;  // it would refer to a result that is gone
  /// Of all queries: `for (const auto row : found)`.
  auto begin() const { return row_iterator(*this, 0); }
  auto end() const { return row_iterator(*this, queries_); }

  /// True if the list of a query is certainly the exact one: always, unless eps or a budget was asked for.
  bool is_exact(std::uint64_t query) const { return exact_.empty() || exact_[query] != 0; }
  /// One flag per query; empty if all are exact because no approximation was asked for.
  std::span<const std::uint8_t> exact() const { return exact_; }

  /// queries x k, row-major.
  std::span<const Number> indices() const { return indices_; }
  const Distances& distances() const& { return distances_; }
  /// Takes them out of a result that is no longer needed.
  Distances distances() && { return std::move(distances_); }

  friend bool operator==(const NeighborsOf&, const NeighborsOf&) = default;

 private:
  std::uint64_t queries_ = 0;
  std::uint32_t k_ = 0;
  Number points_ = 0;
  ValueArray<Number> indices_;
  Distances distances_;
  std::vector<std::uint8_t> exact_;
};

/// A list of neighbours of any length for each query, each sorted by (distance, index). The list of query q is
/// [offsets[q], offsets[q + 1]).
template <typename Number>
class KITH_EXPORT NeighborListsOf {
 public:
  NeighborListsOf() : offsets_{0} {}
  /// `offsets` has queries + 1 entries and starts with 0; `points` is the number of points searched.
  NeighborListsOf(Number points, std::vector<std::uint64_t> offsets, std::vector<Number> indices, Distances distances)
      : points_(points), offsets_(std::move(offsets)), indices_(std::move(indices)), distances_(std::move(distances)) {}

  std::uint64_t queries() const { return offsets_.size() - 1; }
  /// The number of points searched.
  Number points() const { return points_; }
  DType dtype() const { return distances_.dtype(); }
  /// The length of one list.
  std::uint64_t count(std::uint64_t query) const { return offsets_[query + 1] - offsets_[query]; }

  Number index(std::uint64_t query, std::uint64_t rank) const { return indices_[offsets_[query] + rank]; }
  double distance(std::uint64_t query, std::uint64_t rank) const { return distances_.at(offsets_[query] + rank); }
  /// The list of a query: `for (const auto [index, distance] : found[query])`. Valid as long as this result.
  auto operator[](std::uint64_t query) const& {
    return NumberedRange(offsets_[query], offsets_[query + 1], [this](std::uint64_t i) {
      return NeighborOf<Number>{indices_[i], distances_.at(i)};
    });
  }
  void operator[](std::uint64_t) && = delete;
  /// Of all queries: `for (const auto list : found)`.
  auto begin() const { return row_iterator(*this, 0); }
  auto end() const { return row_iterator(*this, queries()); }

  std::span<const std::uint64_t> offsets() const { return offsets_; }
  std::span<const Number> indices() const { return indices_; }
  const Distances& distances() const& { return distances_; }
  /// Takes them out of a result that is no longer needed.
  Distances distances() && { return std::move(distances_); }

  friend bool operator==(const NeighborListsOf&, const NeighborListsOf&) = default;

 private:
  Number points_ = 0;
  std::vector<std::uint64_t> offsets_;
  std::vector<Number> indices_;
  Distances distances_;
};

/// A list of points of any length for each request, by ascending index. The list of request q is
/// [offsets[q], offsets[q + 1]).
template <typename Number>
class KITH_EXPORT PointListsOf {
 public:
  PointListsOf() : offsets_{0} {}
  /// `offsets` has requests + 1 entries and starts with 0; `points` is the number of points searched.
  PointListsOf(Number points, std::vector<std::uint64_t> offsets, std::vector<Number> indices)
      : points_(points), offsets_(std::move(offsets)), indices_(std::move(indices)) {}

  std::uint64_t size() const { return offsets_.size() - 1; }
  /// The number of points searched.
  Number points() const { return points_; }
  std::uint64_t count(std::uint64_t request) const { return offsets_[request + 1] - offsets_[request]; }
  Number index(std::uint64_t request, std::uint64_t place) const { return indices_[offsets_[request] + place]; }
  std::span<const Number> operator[](std::uint64_t request) const& {
    return indices().subspan(offsets_[request], count(request));
  }
  void operator[](std::uint64_t) && = delete;

  std::span<const std::uint64_t> offsets() const { return offsets_; }
  std::span<const Number> indices() const { return indices_; }

  friend bool operator==(const PointListsOf&, const PointListsOf&) = default;

 private:
  Number points_ = 0;
  std::vector<std::uint64_t> offsets_;
  std::vector<Number> indices_;
};

using Neighbor = NeighborOf<std::uint32_t>;
using Neighbors = NeighborsOf<std::uint32_t>;
using NeighborLists = NeighborListsOf<std::uint32_t>;
using PointLists = PointListsOf<std::uint32_t>;

/// Of points that are numbered by 64 bits: those of several indexes (kith/shards/).
using WideNeighbor = NeighborOf<std::uint64_t>;
using WideNeighbors = NeighborsOf<std::uint64_t>;
using WideNeighborLists = NeighborListsOf<std::uint64_t>;
using WidePointLists = PointListsOf<std::uint64_t>;

}  // namespace kith::inline v0
