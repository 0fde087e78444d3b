// See farthest_points.hpp: points in buckets, each with its box. A new point changes nothing in a bucket whose box is
// at least as far from it as the farthest point of the bucket is from those taken before: the bound of a box and
// distances are the same chain of operations, which never decreases under rounding as differences grow, so no bound is
// above the distance of a point inside. What is left of the plain loop are the few buckets around the new point.
#include "apps/clouds/farthest_points.hpp"

#include "core/arithmetic.hpp"
#include "core/dispatch.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint32_t kBucketPoints = 128;
/// Buckets to be updated from which threads share the work; fewer are done before others are awake.
constexpr std::uint64_t kSharedBuckets = 512;
constexpr std::uint64_t kBucketsPerTask = 64;

template <typename T, std::uint32_t kDims>
class FarthestSampler {
 public:
  FarthestSampler(PointView points, std::span<const std::uint32_t> rows, int threads)
      : points_(points), rows_(rows), threads_(threads), dims_(kDims == core::kRuntimeDims ? points.dims() : kDims) {
    order_.resize(rows.size());
    std::iota(order_.begin(), order_.end(), 0u);
    if (!order_.empty()) split(0, order_.size());
    copy_points();
  }

  FarthestPoints run(std::uint64_t count, std::uint64_t start, const ProgressCallback& progress) {
    runtime::ProgressMeter meter(&progress, "sampling", count);
    FarthestPoints found;
    found.nearest.resize(rows_.size());
    auto next = static_cast<std::uint32_t>(start);
    while (found.taken.size() < count) {
      take(next, static_cast<std::uint32_t>(found.taken.size()));
      found.taken.push_back(next);
      if (found.taken.size() < count) next = farthest();
      meter.report(found.taken.size());
    }
    for (std::uint64_t i = 0; i < order_.size(); ++i) found.nearest[order_[i]] = nearest_[i];
    meter.finish();
    return found;
  }

 private:
  struct Bucket {
    std::uint64_t first = 0, last = 0;
    T farthest = std::numeric_limits<T>::infinity();  ///< reduced distance of `place`; -1 if all were taken
    std::uint32_t place = 0;                          ///< of the farthest point, the lowest of several
  };

  const T* given(std::uint32_t place) const { return points_.row<T>(rows_[place]); }

  /// Halves along the widest side until buckets are small; points of a bucket stay in ascending order.
  void split(std::uint64_t first, std::uint64_t last) {
    runtime::look_for_stop();
    if (last - first <= kBucketPoints) {
      std::sort(order_.begin() + static_cast<std::ptrdiff_t>(first),
                order_.begin() + static_cast<std::ptrdiff_t>(last));
      buckets_.push_back({first, last, std::numeric_limits<T>::infinity(), order_[first]});
      return;
    }
    std::uint32_t widest = 0;
    T width = -1;
    for (std::uint32_t d = 0; d < dims_; ++d) {
      T low = given(order_[first])[d], high = low;
      for (std::uint64_t i = first; i < last; ++i) {
        low = std::min(low, given(order_[i])[d]);
        high = std::max(high, given(order_[i])[d]);
      }
      if (high - low > width) {
        width = high - low;
        widest = d;
      }
    }
    const std::uint64_t middle = first + (last - first) / 2;
    const auto at = [&](std::uint64_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(first), at(middle), at(last), [&](std::uint32_t a, std::uint32_t b) {
      const T left = given(a)[widest], right = given(b)[widest];
      return left != right ? left < right : a < b;
    });
    split(first, middle);
    split(middle, last);
  }

  void copy_points() {
    coordinates_.resize(order_.size() * dims_);
    reduced_.assign(order_.size(), std::numeric_limits<T>::infinity());
    nearest_.resize(order_.size());
    place_of_.resize(order_.size());
    boxes_.resize(buckets_.size() * 2 * dims_);
    for (std::uint64_t b = 0; b < buckets_.size(); ++b) {
      T* const low = boxes_.data() + b * 2 * dims_;
      T* const high = low + dims_;
      std::fill_n(low, dims_, std::numeric_limits<T>::infinity());
      std::fill_n(high, dims_, -std::numeric_limits<T>::infinity());
      for (std::uint64_t i = buckets_[b].first; i < buckets_[b].last; ++i) {
        place_of_[order_[i]] = static_cast<std::uint32_t>(i);
        for (std::uint32_t d = 0; d < dims_; ++d) {
          const T x = given(order_[i])[d];
          coordinates_[i * dims_ + d] = x;
          low[d] = std::min(low[d], x);
          high[d] = std::max(high[d], x);
        }
      }
    }
  }

  T bound_of(std::uint64_t bucket, const T* query) const {
    const T* const low = boxes_.data() + bucket * 2 * dims_;
    T bound = 0;
    for (std::uint32_t d = 0; d < dims_; ++d) {
      const T apart = core::larger(core::larger(low[d] - query[d], query[d] - low[dims_ + d]), T(0));
      bound = core::fused_multiply_add(apart, apart, bound);
    }
    return bound;
  }

  void update(Bucket& bucket, const T* query, std::uint32_t number) {
    bucket.farthest = -1;
    for (std::uint64_t i = bucket.first; i < bucket.last; ++i) {
      T distance = 0;
      for (std::uint32_t d = 0; d < dims_; ++d) {
        const T apart = query[d] - coordinates_[i * dims_ + d];
        distance = core::fused_multiply_add(apart, apart, distance);
      }
      if (distance < reduced_[i]) {  // never where the point was taken, which -1 marks
        reduced_[i] = distance;
        nearest_[i] = number;
      }
      if (reduced_[i] > bucket.farthest) {
        bucket.farthest = reduced_[i];
        bucket.place = order_[i];
      }
    }
  }

  void take(std::uint32_t place, std::uint32_t number) {
    const std::uint64_t own = place_of_[place];
    const std::vector<T> query(coordinates_.begin() + static_cast<std::ptrdiff_t>(own * dims_),
                               coordinates_.begin() + static_cast<std::ptrdiff_t>((own + 1) * dims_));
    reduced_[own] = -1;
    nearest_[own] = number;
    touched_.clear();
    for (std::uint64_t b = 0; b < buckets_.size(); ++b) {
      const bool holds_it = buckets_[b].first <= own && own < buckets_[b].last;
      // Where distances overflowed all are as far, and the first number stays.
      if (holds_it || bound_of(b, query.data()) < buckets_[b].farthest) touched_.push_back(b);
    }
    if (touched_.size() < kSharedBuckets) {
      for (const std::uint64_t b : touched_) update(buckets_[b], query.data(), number);
      return;
    }
    runtime::parallel_for(
        (touched_.size() + kBucketsPerTask - 1) / kBucketsPerTask, {.threads = threads_}, [&](std::uint64_t task) {
          const std::uint64_t end = std::min<std::uint64_t>(touched_.size(), (task + 1) * kBucketsPerTask);
          for (std::uint64_t i = task * kBucketsPerTask; i < end; ++i) {
            update(buckets_[touched_[i]], query.data(), number);
          }
        });
  }

  std::uint32_t farthest() const {
    const Bucket* best = &buckets_.front();
    for (const Bucket& bucket : buckets_) {
      if (bucket.farthest > best->farthest || (bucket.farthest == best->farthest && bucket.place < best->place)) {
        best = &bucket;
      }
    }
    return best->place;
  }

  PointView points_;
  std::span<const std::uint32_t> rows_;
  int threads_;
  std::uint32_t dims_;
  std::vector<Bucket> buckets_;
  std::vector<T> boxes_;                 // per bucket the lowest and the highest corner
  std::vector<std::uint32_t> order_;     // places in `rows_`, bucket by bucket
  std::vector<std::uint32_t> place_of_;  // the reverse
  std::vector<T> coordinates_;           // in that order, and so are the following
  std::vector<T> reduced_;               // squared distance from the nearest point that was taken
  std::vector<std::uint32_t> nearest_;   // and its number
  std::vector<std::uint64_t> touched_;
};

}  // namespace

FarthestPoints farthest_points(PointView points, std::span<const std::uint32_t> rows, std::uint64_t count,
                               std::uint64_t start, int threads, const ProgressCallback& progress) {
  return core::visit_dtype(points.dtype(), [&](auto zero) {
    return core::visit_dims(points.dims(), [&](auto dims) {
      return FarthestSampler<decltype(zero), dims.value>(points, rows, threads).run(count, start, progress);
    });
  });
}

}  // namespace kith::apps::inline v0
