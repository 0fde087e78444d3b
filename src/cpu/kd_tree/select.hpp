// Puts the record of a given rank in its place: smaller ones before it, larger ones after it, by the super-key.
//
// The super-key of dimension d is (x_d, x_(d+1), …, x_(d-1), index), a total order, so there is one right outcome for
// which records lie before the rank, whatever the method. The method: one or two branch-free partitions around pivots
// from a sample, again on what is left; records equal in x_d go on with the next component.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace kith::cpu {

/// A point on its way to its leaf, coordinates and all.
template <typename T, std::uint32_t D>
struct PointRecords {
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

/// Moves the records with `is_left` to the front; returns the first of the others. One pass, no branch on the data.
template <typename Record, typename IsLeft>
Record* partition_records(Record* first, Record* last, IsLeft&& is_left) {
  Record* boundary = first;
  for (Record* i = first; i != last; ++i) {
    const Record record = *i;
    *i = *boundary;
    *boundary = record;
    boundary += is_left(record) ? 1 : 0;
  }
  return boundary;
}

/// After the call every record of [first, nth) precedes the one at nth, and that every record of (nth, last), by the
/// super-key of dimension d. O(last - first): a pivot that misses costs a pass, and after too many of them the
/// library's selection, which is never quadratic, takes over.
template <typename Access>
void select_record(const Access& access, typename Access::Record* first, typename Access::Record* nth,
                   typename Access::Record* last, std::uint32_t d) {
  using Record = typename Access::Record;
  using T = decltype(access.at(*first, d));
  constexpr std::ptrdiff_t kFew = 48;
  constexpr std::ptrdiff_t kSample = 128;
  constexpr int kMostRounds = 64;
  std::uint32_t component = 0;  // how many components of the super-key are equal in all of [first, last)
  for (int round = 0; last - first > kFew && component < access.dims() && round < kMostRounds; ++round) {
    const std::uint32_t axis = (d + component) % access.dims();
    const std::ptrdiff_t count = last - first;
    // A pivot from a sample, a little to the far side of the rank, so that the larger part falls away.
    std::array<T, kSample> sample;
    const std::ptrdiff_t taken = std::min<std::ptrdiff_t>(kSample, count / 4);
    for (std::ptrdiff_t i = 0; i < taken; ++i) {
      sample[static_cast<std::size_t>(i)] = access.at(first[i * count / taken], axis);
    }
    const std::ptrdiff_t rank = (nth - first) * taken / count;
    const std::ptrdiff_t margin = taken / 16 + 1;
    const bool in_lower_half = 2 * (nth - first) < count;
    const std::ptrdiff_t place =
        std::clamp<std::ptrdiff_t>(in_lower_half ? rank + margin : rank - margin, 0, taken - 1);
    std::nth_element(sample.begin(), sample.begin() + place, sample.begin() + taken);
    const T pivot = sample[static_cast<std::size_t>(place)];

    Record* lower = partition_records(first, last, [&](const Record& r) { return access.at(r, axis) < pivot; });
    if (nth < lower) {
      last = lower;
      continue;
    }
    if (lower - first > count / 8) {  // enough fell away
      first = lower;
      continue;
    }
    Record* upper = partition_records(lower, last, [&](const Record& r) { return access.at(r, axis) <= pivot; });
    if (nth < upper) {  // among equals: on to the next component
      first = lower;
      last = upper;
      ++component;
    } else {
      first = upper;
    }
  }
  if (nth < last) {
    std::nth_element(first, nth, last, [&](const Record& a, const Record& b) { return precedes(access, a, b, d); });
  }
}

}  // namespace kith::cpu
