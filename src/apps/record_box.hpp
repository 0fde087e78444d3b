// The tight box of some records, whose coordinates of type T are ordered integers, and its widest side.
#pragma once

#include "split/ordered_integer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace kith::apps::inline v0 {

template <typename T, typename Access>
struct RecordBox {
  using Record = typename Access::Record;
  using Key = split::OrderedInteger<T>;
  using Corner = std::conditional_t<Access::kDims == 0, std::vector<Key>, std::array<Key, std::max(Access::kDims, 1u)>>;

  Corner low, high;

  /// Of at least one record.
  RecordBox(const Access& access, const Record* first, const Record* last) {
    if constexpr (Access::kDims == 0) {
      low.resize(access.dims());
      high.resize(access.dims());
    }
    // A minimum waits for the one before it, so that many records have four.
    last - first < 32 ? find_by_vectors<1>(access, first, last) : find_by_vectors<4>(access, first, last);
  }

  void include(const RecordBox& other) {
    for (std::size_t d = 0; d < low.size(); ++d) {
      low[d] = std::min(low[d], other.low[d]);
      high[d] = std::max(high[d], other.high[d]);
    }
  }

  /// Ties go to the lowest dimension. Sides are compared as integers, which order numbers from 0 on alike, because
  /// compilers make no branches of them: the outcome is hard to predict.
  std::uint32_t widest() const {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const auto side = [&](std::size_t d) {
      return std::bit_cast<Bits>(split::from_ordered<T>(high[d]) - split::from_ordered<T>(low[d]));
    };
    Bits most = side(0);
    for (std::size_t d = 1; d < low.size(); ++d) most = std::max(most, side(d));
    std::uint32_t widest = 0, is_lower = 1;
    for (std::size_t d = 0; d + 1 < low.size(); ++d) {
      is_lower &= side(d) < most ? 1 : 0;
      widest += is_lower;
    }
    return widest;
  }

 private:
  static const Key* coordinates(const Access& access, const Record& record) {
    if constexpr (Access::kDims == 0) {
      return access.rows + std::size_t{record} * access.dims();
    } else {
      return record.x.data();
    }
  }

  /// By vectors of the compiler: one in up to 4 dims, else several, of which the last two may overlap. In 3 dims the
  /// fourth lane holds the index and is ignored. Dims known at run time are at least 4.
  template <std::ptrdiff_t kTogether>
  void find_by_vectors(const Access& access, const Record* first, const Record* last) {
    constexpr std::uint32_t kLanes = Access::kDims == 0 ? 4 : std::min(std::bit_ceil(Access::kDims), 4u);
    typedef Key Lanes __attribute__((vector_size(kLanes * sizeof(Key))));
    static_assert(Access::kDims == 0 || sizeof(Lanes) <= sizeof(Record));
    const std::uint32_t dims = access.dims();
    for (std::uint32_t at = 0;; at = std::min(at + kLanes, dims - kLanes)) {
      const auto load = [&access, at](const Record* record) {
        Lanes lanes;
        __builtin_memcpy(&lanes, coordinates(access, *record) + at, sizeof(lanes));
        return lanes;
      };
      Lanes lows[kTogether], highs[kTogether];
      for (auto& lanes : lows) lanes = load(first);
      for (auto& lanes : highs) lanes = load(first);
      const auto include = [&](std::ptrdiff_t i, Lanes one) {
        lows[i] = one < lows[i] ? one : lows[i];
        highs[i] = one > highs[i] ? one : highs[i];
      };
      const Record* r = first;
      for (; last - r >= kTogether; r += kTogether) {
        for (std::ptrdiff_t i = 0; i < kTogether; ++i) include(i, load(r + i));
      }
      for (; r < last; ++r) include(0, load(r));
      for (std::ptrdiff_t i = 1; i < kTogether; ++i) {
        include(0, lows[i]);
        include(0, highs[i]);
      }
      for (std::uint32_t lane = 0; lane < kLanes && at + lane < dims; ++lane) {
        low[at + lane] = lows[0][lane];
        high[at + lane] = highs[0][lane];
      }
      if (at + kLanes >= dims) return;
    }
  }
};

}  // namespace kith::apps::inline v0
