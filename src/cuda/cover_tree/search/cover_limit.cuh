// What a walk through a cover tree knows of a query: its limit, and what the bounds of objects and nodes say to it.
#pragma once

#include "cuda/cover_tree/search/exact_rounding.cuh"
#include "cuda/cover_tree/search/query_head.cuh"
#include "cuda/cover_tree/search/search_types.hpp"
#include "cuda/queries/query_info.hpp"
#include "cuda/primitives/candidate_warp.cuh"

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kith::cuda {

/// A space that has a lower bound of its values that costs much less than they do.
template <typename Space>
concept BoundedSpace = requires(const Space& space, const std::byte* prepared, RowView row) {
  { space.least(prepared, row) } -> std::same_as<typename Space::Value>;
};

template <typename Space, typename Collector>
class CoverLimit {
 public:
  using T = typename Space::Value;

  __device__ CoverLimit(const Space& space, const CoverSearchTree& tree, const SearchFilter& filter,
                        const std::byte* prepared)
      : space_(space), tree_(tree), filter_(filter), prepared_(prepared), rounding_(rounding_of(space)) {}

  /// False if the shrunken limit excluded what the limit would not have.
  __device__ bool is_exact() const { return !any_lane(is_cut_); }

 protected:
  static constexpr bool kHasHeads = HeadedSpace<Space>;
  static_assert(!kHasHeads || ExactSpace<Space>);
  /// Of a query and a centre.
  using Distance = std::conditional_t<kHasHeads, std::int32_t, double>;

  __device__ void begin(const QueryInfo& info, Collector& collector, T shrink) {
    info_ = info;
    collector_ = &collector;
    shrink_ = shrink;
    is_cut_ = false;
    if constexpr (kHasHeads) head_ = QueryHead(prepared_);
    limit_moved();
  }

  __device__ bool has_bounds() const { return BoundedSpace<Space> && tree_.uses_bounds; }
  __device__ T least(RowView row) const {
    if constexpr (BoundedSpace<Space>) return space_.least(prepared_, row);
    return 0;
  }

  __device__ void limit_moved() {
    if constexpr (!kHasHeads) {
      limit_ = space_.metric(collector_->limit().distance);
      shrunk_ = space_.metric(shrunk_limit());
    } else {
      whole_limit_ = whole_part(collector_->limit().distance);
      tied_ = static_cast<T>(whole_limit_) < collector_->limit().distance ? kNoPoint : collector_->limit().index;
    }
  }
  __device__ T shrunk_limit() const {
    const bool is_full = collector_->limit().index != kNoPoint;
    return is_full && shrink_ != 1 ? collector_->limit().distance * shrink_ : collector_->limit().distance;
  }
  /// As distances. Bounds from heads need neither, so that they are not kept.
  __device__ double limit() const { return kHasHeads ? space_.metric(collector_->limit().distance) : limit_; }
  __device__ double shrunk() const { return kHasHeads ? space_.metric(shrunk_limit()) : shrunk_; }
  __device__ std::int32_t whole_shrunk() const { return whole_part(shrunk_limit()); }
  /// Whole numbers are above a limit if they are above this.
  __device__ static std::int32_t whole_part(T limit) {
    constexpr std::int32_t kMost = 1 << 24;
    return limit < static_cast<T>(kMost) ? static_cast<std::int32_t>(limit) : kMost;
  }

  /// Whether an object can matter that is at least `bound` away.
  __device__ __forceinline__ bool comes_before_limit(std::int32_t bound, std::uint32_t number) const {
    return bound < whole_limit_ + (number < tied_ ? 1 : 0);
  }

  /// Whether a list has room for all that come.
  __device__ bool takes_all() const {
    return !Collector::kCountsOnly && Collector::kHasList && collector_->limit().index == kNoPoint;
  }

  /// Whether objects that are at least `bound` away, and numbered from `*lowest` on, do not matter. A bound that is no
  /// number says nothing. The number is read only if it decides.
  __device__ bool is_beyond(double bound, const std::uint32_t* lowest) {
    if (bound > limit()) return true;
    if (bound > shrunk()) {
      is_cut_ = true;
      return true;
    }
    const bool is_tied = rounding_.is_exact() && bound == limit();
    if (!is_tied && info_.end == kNoPoint) return false;
    return *lowest >= info_.end || (is_tied && *lowest >= collector_->limit().index);
  }

  /// The same for whole numbers.
  __device__ bool is_beyond_whole(std::int32_t bound, const std::uint32_t* lowest) {
    if (bound > whole_limit_) return true;
    if (shrink_ != 1 && bound > whole_shrunk()) {
      is_cut_ = true;
      return true;
    }
    const bool is_tied = bound == whole_limit_;
    if (!is_tied && info_.end == kNoPoint) return false;
    return *lowest >= info_.end || (is_tied && *lowest >= tied_);
  }

  __device__ bool is_admitted(std::uint32_t position) const {
    return info_.is_open || filter_.admits(info_.number, info_.end, tree_.order[position]);
  }

  const Space& space_;
  const CoverSearchTree& tree_;
  const SearchFilter& filter_;
  const std::byte* prepared_;
  decltype(rounding_of(std::declval<const Space&>())) rounding_;

  QueryInfo info_;
  Collector* collector_ = nullptr;
  T shrink_ = 1;
  double limit_ = 0, shrunk_ = 0;
  QueryHead head_;
  std::int32_t whole_limit_ = 0;
  std::uint32_t tied_ = kNoPoint;  ///< from this number on objects at the limit do not matter
  bool is_cut_ = false;
};

}  // namespace kith::cuda
