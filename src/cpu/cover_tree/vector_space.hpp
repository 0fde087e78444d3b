// Vectors as the cover tree measures them: rows in transposed blocks, SIMD across rows, each lane the contract's chain.
#pragma once

#include "core/cover_geometry.hpp"
#include "core/metric/metrics.hpp"
#include "cpu/cover_tree/few_vectors.hpp"
#include "cpu/cover_tree/space.hpp"

#include <kith/metric.hpp>
#include <kith/point_set.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::cpu {

/// The values of `count` rows of the blocks from row `first` on; see `Space` for the limit.
template <typename T>
using MeasureVectors = void (*)(const T* blocks, std::uint32_t dims, const T* query, std::uint32_t first,
                                std::uint32_t count, T limit, T* values);

/// The best that this machine has.
template <typename T>
MeasureVectors<T> measure_vectors_by(Metric metric);

/// Rows that lie side by side, and a metric: L2, L1, Linf, or cosine or angular, which are L2 of rows that are
/// normalised already.
/// The caller's rows outlive the space.
template <typename T>
class VectorSpace {
 public:
  using Value = T;
  using Outside = std::span<const T>;

  class Query {
    friend class VectorSpace;
    const T* values_ = nullptr;
    std::vector<T> copy_;  // of one from outside
  };

  /// bytes per row: dims * sizeof(T)
  class Rows {
   public:
    Rows() = default;
    void measure(const Query& query, std::uint32_t first, std::uint32_t count, T limit, T* values) const {
      measure_(blocks(), dims_, query.values_, first, count, limit, values);
    }
    std::uint64_t memory_bytes() const { return blocks_.bytes(); }

   private:
    friend class VectorSpace;
    const T* blocks() const { return blocks_.template values<T>().data(); }

    PointSet blocks_;  // blocks * dims rows of kVectorBlock
    std::uint32_t dims_ = 0;
    MeasureVectors<T> measure_ = nullptr;
  };

  class Few {
   public:
    void set(const VectorSpace& space, std::span<const std::uint32_t> numbers);
    std::uint32_t measure(const std::uint32_t* numbers, const T* limits, std::uint32_t count, std::uint32_t* found,
                          T* values) const {
      return space_->measure_few_({space_->rows_, space_->dims_, block_.data(), few_, numbers, limits, count}, found,
                                  values);
    }

   private:
    const VectorSpace* space_ = nullptr;
    std::vector<T> block_;  // [dimension][kFew]
    std::uint32_t few_ = 0;
  };

  /// `rows` are count x dims.
  VectorSpace(const T* rows, std::uint32_t count, std::uint32_t dims, Metric metric);

  std::uint32_t size() const { return count_; }
  std::uint32_t dims() const { return dims_; }
  bool prefers_few() const { return std::uint64_t{dims_} * sizeof(T) >= kLongRow; }
  std::uint32_t objects_at_hand() const { return static_cast<std::uint32_t>(kFastBytes / (dims_ * sizeof(T) + 1)); }

  void ask(Query& query, std::uint32_t number) const { query.values_ = row(number); }
  void ask_outside(Query& query, const Outside& outside) const {
    query.copy_.assign(outside.begin(), outside.end());
    query.values_ = query.copy_.data();
  }
  /// Throws OutOfMemory.
  Rows arrange(std::span<const std::uint32_t> numbers, int threads) const;

  double metric(T value) const {
    return static_cast<double>(core::visit_kind<core::CoverTreeReductions>(
        kind_, 2, [value](const auto& each) { return each.reported(value); }));
  }
  core::CoverRounding rounding() const { return core::reduced_rounding<T>(dims_); }
  /// -0 is +0: no reduced distance tells them apart.
  bool same(std::uint32_t a, std::uint32_t b) const;

 private:
  static constexpr std::uint64_t kLongRow = 192;         // bytes; fewer are better copied
  static constexpr std::uint64_t kFastBytes = 1u << 19;  // of the memory that a core has for itself

  const T* row(std::uint32_t number) const { return rows_ + std::uint64_t{number} * dims_; }
  void fill_block(std::span<const std::uint32_t> numbers, std::uint64_t block, T* out) const;

  const T* rows_;
  std::uint32_t count_;
  std::uint32_t dims_;
  Metric::Kind kind_;  ///< of the reduction
  MeasureVectors<T> measure_;
  MeasureFew<T> measure_few_;
};

static_assert(MeasuresFew<VectorSpace<float>> && MeasuresFew<VectorSpace<double>>);

}  // namespace kith::cpu
