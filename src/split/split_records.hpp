// Splits the points of a node at a rank: those before it by the super-key to the front, the others behind them.
//
// The super-key of dimension d is (x_d, x_(d+1), …, x_(d-1), index), a total order, so there is one right outcome for
// which points lie before the rank, whatever the method. The method: the value of x_d at the rank is found first, on
// numbers alone, then one pass moves the records; only records equal in x_d look at the rest of the super-key.
#pragma once

#include "split/partition_records.hpp"
#include "split/select_key.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace kith::split {

/// A point on its way to its leaf, coordinates and all.
template <typename T, std::uint32_t D>
struct PointRecords {
  static constexpr std::uint32_t kDims = D;
  struct Record {
    std::array<T, D> x;
    std::uint32_t index;
  };
  static constexpr std::uint32_t dims() { return D; }
  static T at(const Record& record, std::uint32_t d) { return record.x[d]; }
  static std::uint32_t index_of(const Record& record) { return record.index; }
};

/// Only the number of the point; the coordinates stay where they are. For dims known at run time.
template <typename T>
struct IndexRecords {
  static constexpr std::uint32_t kDims = 0;  ///< known at run time only
  using Record = std::uint32_t;

  const T* rows;
  std::uint32_t row_dims;

  std::uint32_t dims() const { return row_dims; }
  T at(const Record& record, std::uint32_t d) const { return rows[std::size_t{record} * row_dims + d]; }
  std::uint32_t index_of(const Record& record) const { return record; }
};

/// True if a comes before b by the super-key of dimension d.
template <typename Access>
bool precedes(const Access& access, const typename Access::Record& a, const typename Access::Record& b,
              std::uint32_t d) {
  for (std::uint32_t step = 0; step < access.dims(); ++step) {
    if (access.at(a, d) != access.at(b, d)) return access.at(a, d) < access.at(b, d);
    d = d + 1 == access.dims() ? 0 : d + 1;
  }
  return access.index_of(a) < access.index_of(b);
}

/// What the passes over records compare: types of their own, so that each pass is compiled once for an Access.
template <typename Access>
struct CoordinateAt {
  const Access& access;
  const typename Access::Record* records;
  std::uint32_t axis;

  auto operator()(std::size_t i) const { return access.at(records[i], axis); }
};
template <typename T, typename Access>
struct IsBelow {
  const Access& access;
  std::uint32_t axis;
  T value;

  bool operator()(const typename Access::Record& record) const { return access.at(record, axis) < value; }
};
/// The next number: of finite numbers those below it are those up to `value`.
template <typename T>
T next_above(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value + 1;
  } else {
    return std::nextafter(value, std::numeric_limits<T>::infinity());
  }
}
/// Moves the records whose coordinate is below a value, or up to it, to the front. Returns the first of the others.
template <typename T, typename Access>
auto* partition_below(const Access& access, typename Access::Record* first, typename Access::Record* last,
                      std::uint32_t axis, T value) {
  return partition_records(first, last, IsBelow<T, Access>{access, axis, value});
}
template <typename T, typename Access>
auto* partition_up_to(const Access& access, typename Access::Record* first, typename Access::Record* last,
                      std::uint32_t axis, T value) {
  return partition_below(access, first, last, axis, next_above(value));
}

/// Splits records that are equal in the first components of the super-key of dimension d: each round goes on with the
/// next component, at most dims in all; after them the index decides.
template <typename T, typename Access>
void split_equals(const Access& access, typename Access::Record* first, typename Access::Record* middle,
                  typename Access::Record* last, std::uint32_t d, const KeyStorage<T>& storage) {
  using Record = typename Access::Record;
  for (std::uint32_t component = 1; component < access.dims() && middle != first && middle != last; ++component) {
    const std::uint32_t axis = (d + component) % access.dims();
    const T value = select_key<T>(CoordinateAt<Access>{access, first, axis}, static_cast<std::size_t>(last - first),
                                  static_cast<std::size_t>(middle - first), storage);
    first = partition_below(access, first, last, axis, value);
    last = partition_up_to(access, first, last, axis, value);
  }
  if (middle != first && middle != last) {
    std::nth_element(first, middle, last,
                     [&](const Record& a, const Record& b) { return access.index_of(a) < access.index_of(b); });
  }
}

/// Splits records where the coordinate at the rank is known.
template <typename T, typename Access>
void split_at_value(const Access& access, typename Access::Record* first, typename Access::Record* middle,
                    typename Access::Record* last, std::uint32_t d, T value, const KeyStorage<T>& storage) {
  auto* equals = partition_below(access, first, last, d, value);
  if (equals != middle) {
    split_equals<T>(access, equals, middle, partition_up_to(access, equals, last, d, value), d, storage);
  }
}

/// Before: any order. After: [first, middle) are the records that come first by the super-key of dimension d. Returns
/// x_d of the first record by the super-key of [middle, last), which must not be empty. O(records), whatever the data.
template <typename T, typename Access>
T split_records(const Access& access, typename Access::Record* first, typename Access::Record* middle,
                typename Access::Record* last, std::uint32_t d, const KeyStorage<T>& storage) {
  const T value = select_key<T>(CoordinateAt<Access>{access, first, d}, static_cast<std::size_t>(last - first),
                                static_cast<std::size_t>(middle - first), storage);
  split_at_value<T>(access, first, middle, last, d, value, storage);
  return value;
}

/// As split_records, and the first record by the super-key of [middle, last), which must not be empty, is at `middle`.
/// `split` does the rest and returns x_d of that record: split_records, split_in_parallel.
template <typename T, typename Access, typename Split>
void split_around_middle(const Access& access, typename Access::Record* middle, typename Access::Record* last,
                         std::uint32_t d, const Split& split) {
  const T value = split();
  typename Access::Record* found = middle;
  for (typename Access::Record* r = middle + 1; r < last; ++r) {
    if (access.at(*r, d) == value && (access.at(*found, d) != value || precedes(access, *r, *found, d))) found = r;
  }
  std::swap(*middle, *found);
}

}  // namespace kith::split
