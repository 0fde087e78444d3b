// What a lane of a packet does with the points of a leaf: measures them, as seen from a query, and names them.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/primitives/candidate_warp.cuh"
#include "cuda/kd_tree/search/packet/packet_queries.cuh"
#include "cuda/kd_tree/search/packet/packet_storage.cuh"

#include <bit>
#include <cmath>
#include <limits>

namespace kith::cuda {

/// `Search` is the search itself, see PacketWalk.
template <typename T, std::uint32_t kDims, typename Search, std::uint32_t kLeaves>
class PacketPoints : protected PacketQueries<T, kDims> {
 protected:
  using Queries = PacketQueries<T, kDims>;
  using Queries::tree_;
  using typename Queries::Point;
  using Storage = PacketWalkStorage<T, kDims, kLeaves>;
  static constexpr std::uint32_t kAtOnce = 4;  ///< points that a lane looks at together
  __device__ PacketPoints(const SearchTree<T>& tree, const QuerySource<T>& source, std::uint32_t packets_per_node,
                          Storage& storage)
      : Queries(tree, source, packets_per_node), storage_(storage), most_(tree.most_per_leaf) {}

  /// Of a general search: the lengths of its axes, or null if none is periodic.
  __device__ void set_lengths(const T* lengths) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      lengths_[d] = lengths == nullptr ? std::numeric_limits<T>::infinity() : lengths[d];
    }
  }

  /// Bits that name a point of a leaf.
  __device__ static constexpr std::uint32_t point_bits() { return point_bits_of(kDims); }

  /// The points of a leaf.
  __device__ const std::byte* points_of(std::uint32_t seen, std::uint32_t& count) const {
    const std::uint32_t place = storage_.history[seen];
    count = most_ - (place >> 31);
    return tree_.packed + std::uint64_t{place & 0x7fffffff} * Point::kBytes;
  }
  /// The reduced distance between a query and the point at an address.
  __device__ __forceinline__ T measure(const T (&query)[kDims], const std::byte* from) const {
    Point point;
    point.template load<false>(from);
    return measure(query, point);
  }
  /// The reduced distance of the first coordinates.
  template <std::uint32_t kFirst = kDims>
  __device__ __forceinline__ T measure(const T (&query)[kDims], const Point& point) const {
    T sum = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kFirst; ++d) {
      T gap = query[d] - point.values[d];
      if constexpr (Search::kIsGeneral) {  // core::shorter_way, in an instruction less
        gap = std::fabs(gap);
        gap = lesser(gap, lengths_[d] - gap);  // not NaN where both are infinite
      }
      sum = core::step_of_gap(core::L2{}, sum, gap);
    }
    return sum;
  }

  /// Which points of the pair's leaf are within the radius of its query: a bit each, the last one lowest.
  __device__ __forceinline__ std::uint32_t points_within(std::uint32_t pair) const {
    const std::uint32_t owner = pair & 31;
    std::uint32_t count = 0;
    const std::byte* points = points_of(pair >> 5, count);
    T query[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query[d] = storage_.queries[d][owner];
    const T radius = storage_.queries[kDims][owner];
    std::uint32_t within = 0;
#pragma unroll 2
    for (std::uint32_t i = 0; i < most_; i += kAtOnce, points += kAtOnce * Point::kBytes) {  // a few too many
#pragma unroll
      for (std::uint32_t j = 0; j < kAtOnce; ++j) {
        within = append_within(within, measure(query, points + j * Point::kBytes), radius);
      }
    }
    return within >> (scanned() - count) << (scanned() - count);
  }
  /// Points that points_within looks at.
  __device__ std::uint32_t scanned() const { return (most_ + kAtOnce - 1) / kAtOnce * kAtOnce; }

  /// Calls `found(reduced distances, name, is_found)` for kAtOnce points of the pair's leaf at a time, of which the
  /// first has that name: whether each is within the radius of its query, and the search admits it.
  template <typename Found>
  __device__ __forceinline__ void measure_points(std::uint32_t pair, const Search& search, const Found& found) const {
    // In 5 dims the last coordinate is loaded only of points that the others leave within the radius: it costs a load
    // more, and most points are farther.
    constexpr bool kLastApart = kDims == 5 && !Search::kIsGeneral;
    constexpr std::uint32_t kLoadedAtOnce = kLastApart ? kDims - 1 : kDims;
    const std::uint32_t owner = pair & 31;
    std::uint32_t count = 0, name = pair >> 5 << point_bits();
    const std::byte* points = points_of(pair >> 5, count);
    T query[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query[d] = storage_.queries[d][owner];
    const T radius = storage_.queries[kDims][owner];
    Point batch[kAtOnce];
    const auto load = [&] {
#pragma unroll
      for (std::uint32_t j = 0; j < kAtOnce; ++j) {
        if constexpr (kLastApart) {
          batch[j].load_all_but_last(points + j * Point::kBytes);
        } else {
          batch[j].template load<Search::kIsGeneral>(points + j * Point::kBytes);
        }
      }
      points += kAtOnce * Point::kBytes;
    };
    T sums[kAtOnce];
    bool is_found[kAtOnce];
    // Of the points that were loaded last, the first `there` of them.
    const auto measure_batch = [&](std::uint32_t there) {
#pragma unroll
      for (std::uint32_t j = 0; j < kAtOnce; ++j) {
        sums[j] = measure<kLoadedAtOnce>(query, batch[j]);
        is_found[j] = j < there && sums[j] <= radius;
      }
      if constexpr (kLastApart) {
#pragma unroll
        for (std::uint32_t j = 0; j < kAtOnce; ++j) {
          if (!is_found[j]) continue;
          const T last = Point::last_value(points - (kAtOnce - j) * Point::kBytes);
          sums[j] = core::step_of_gap(core::L2{}, sums[j], T(query[kDims - 1] - last));
        }
#pragma unroll
        for (std::uint32_t j = 0; j < kAtOnce; ++j) is_found[j] = is_found[j] && sums[j] <= radius;
      }
      if constexpr (Search::kIsGeneral) {
        if (search.is_filtered()) {
#pragma unroll
          for (std::uint32_t j = 0; j < kAtOnce; ++j) {
            is_found[j] = is_found[j] && search.admits(owner, batch[j].number);
          }
        }
      }
    };
    load();
    std::uint32_t rest = most_ - 1;  // all leaves have as many, some one more
#pragma unroll 1
    for (; rest >= kAtOnce; rest -= kAtOnce, name += kAtOnce) {
      measure_batch(kAtOnce);
      load();  // the next ones, or the last, a few too many: on their way while these are put down
      found(sums, name, is_found);
    }
    measure_batch(rest + count + 1 - most_);
    found(sums, name, is_found);
  }

  __device__ __forceinline__ static std::uint32_t count_found(const bool (&is_found)[kAtOnce]) {
    std::uint32_t count = 0;
#pragma unroll
    for (std::uint32_t j = 0; j < kAtOnce; ++j) count = add_if(is_found[j], count, 1);
    return count;
  }

  /// 2 * bits, and one more if sum <= radius; neither is negative.
  __device__ static std::uint32_t append_within(std::uint32_t bits, float sum, float radius) {
    return add_with_carry(bits, bits, std::bit_cast<std::uint32_t>(radius) + 1, ~std::bit_cast<std::uint32_t>(sum));
  }
  __device__ static std::uint32_t append_within(std::uint32_t bits, double sum, double radius) {
    return 2 * bits + (sum <= radius ? 1 : 0);
  }

  /// The name of the first of the points that points_within has found.
  __device__ std::uint16_t first_name(std::uint32_t pair, std::uint32_t within) const {
    return static_cast<std::uint16_t>((pair >> 5) << point_bits() | (scanned() - 1 - lowest_bit(within)));
  }

  /// The point of a name, as seen from a query.
  __device__ Candidate<T> look_up(std::uint32_t name, const T (&query)[kDims]) const {
    const std::uint32_t leaf = storage_.history[name >> point_bits()] & 0x7fffffff;
    const std::uint32_t place = leaf + (name & ((1u << point_bits()) - 1));
    Point point;
    point.template load<true>(tree_.packed + std::uint64_t{place} * Point::kBytes);
    return {measure(query, point), point.number};
  }
  Storage& storage_;
  const std::uint32_t& most_;  ///< points of a leaf; some have one fewer
  T lengths_[kDims];           ///< of a general search
};

}  // namespace kith::cuda
