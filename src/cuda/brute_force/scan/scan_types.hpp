// What the kernels of a scan share: points, queries, and lists of candidates. Plain data, for host and device.
//
// A search for the k nearest is a few rounds over more and more points. A scan of tiles of points offers candidates to
// each query, those that lie below its limit; then the k first of them are selected, and the last of these is the new
// limit. Points are scanned in an order that is spread over all of them, so that later rounds offer few, even if the
// caller's points are sorted. A list that overflows is known by its count: such queries are retried, by rounds that
// have room for all.
#pragma once

#include "core/host_device.hpp"
#include "cuda/brute_force/tuning.hpp"
#include "cuda/primitives/entry.hpp"
#include "cuda/queries/requests.hpp"

#include <cstdint>
#include <limits>

namespace kith::cuda {

/// Points as a scan reads them: rows side by side, in the order of their numbers.
template <typename T>
struct ScanPoints {
  const T* rows = nullptr;
  std::uint64_t count = 0;
  std::uint32_t dims = 0;
};

/// The queries of a scan. Query q is row `chosen[q]`, or row q; it is the point `first` + row in a self-search.
template <typename T>
struct ScanQueries {
  const T* rows = nullptr;  ///< those of a self-search, too: they lie among the points
  std::uint64_t row_stride = 0;
  std::uint64_t count = 0;                      ///< the most there are
  const std::uint32_t* chosen = nullptr;        ///< null: all rows
  const std::uint32_t* chosen_count = nullptr;  ///< how many, if only the device knows
  std::uint32_t first = 0;

  KITH_HOST_DEVICE std::uint64_t row_of(std::uint64_t query) const { return chosen == nullptr ? query : chosen[query]; }
};

/// The order in which tiles of points are scanned: every `stride`-th, around and around; stride and tiles have no
/// common factor.
struct TileOrder {
  std::uint64_t tiles = 0;
  std::uint64_t stride = 1;

  KITH_HOST_DEVICE std::uint64_t at(std::uint64_t i) const { return i * stride % tiles; }
  KITH_HOST_DEVICE std::uint64_t after(std::uint64_t tile) const {
    return tile + stride < tiles ? tile + stride : tile + stride - tiles;
  }
};

/// The candidates of the queries, a row of `capacity` entries for each.
template <typename T>
struct CandidateLists {
  Entry<T>* entries = nullptr;      ///< [query][capacity]
  std::uint32_t* counts = nullptr;  ///< how many there are, or would be: those beyond the capacity are lost
  Entry<T>* limits = nullptr;       ///< only what is less is offered
  std::uint32_t capacity = 0;
};

/// What a scan does with a pair that is within the limit of its query.
enum class ScanMode : std::uint8_t {
  place,  ///< entry i of the row is the i-th point scanned, whatever it is; `none` if it may not be found
  offer,  ///< it goes to the end of the row
  count,  ///< it is counted in `counts` only
  list,   ///< it goes to a list of the length that was counted before
};

/// A scan of the tiles [first_tile, end_tile) of the order.
template <typename T>
struct ScanTask {
  ScanPoints<T> points = {};
  SearchMetric<T> metric = {};
  SearchFilter filter = {};
  ScanQueries<T> queries = {};
  TileOrder order = {};
  std::uint64_t first_tile = 0;
  std::uint64_t end_tile = 0;
  ScanMode mode = ScanMode::offer;
  CandidateLists<T> lists = {};  ///< by query; for `count` and `list` only counts are used, and no limits
  // For `place`, `count` and `list`: nothing above the bound of the row is found.
  T bound = std::numeric_limits<T>::infinity();
  const T* bounds = nullptr;              ///< by row; null: `bound` for all
  const std::uint64_t* starts = nullptr;  ///< `list`: by row, where the list begins
  std::uint64_t starts_base = 0;          ///< subtracted from `starts`
  std::uint32_t* indices = nullptr;       ///< the lists, in any order
  std::int64_t* wide = nullptr;           ///< if not null, numbers go there instead
  T* reduced = nullptr;

  KITH_HOST_DEVICE T bound_of(std::uint64_t row) const { return bounds == nullptr ? bound : bounds[row]; }
};

}  // namespace kith::cuda
