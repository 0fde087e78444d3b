// A sorted list of doubles in vectors, into which values are inserted without a branch. Compiled per instruction set.
#if defined(KITH_CPU_KD_TREE_SORTED_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_KD_TREE_SORTED_VECTORS_INL_HPP
#undef KITH_CPU_KD_TREE_SORTED_VECTORS_INL_HPP
#else
#define KITH_CPU_KD_TREE_SORTED_VECTORS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The kCapacity smallest values so far, none negative: place i takes the smaller of its own value and the larger of
/// the new one and its neighbour's below, all places at once.
template <std::uint32_t kCapacity>
class SortedVectors {
 public:
  HWY_INLINE explicit SortedVectors(const double* values) {
    for (std::uint32_t v = 0; v < kVectors; ++v) list_[v] = hn::Load(Pair(), values + v * kLanes);
  }
  HWY_INLINE void insert(double value) {
    const auto key = hn::Set(Pair(), value);
    for (std::uint32_t v = kVectors - 1; v > 0; --v) {
      list_[v] = hn::Min(list_[v], hn::Max(moved_up(list_[v], list_[v - 1]), key));
    }
    list_[0] = hn::Min(list_[0], hn::Max(moved_up(list_[0], hn::Zero(Pair())), key));
  }
  HWY_INLINE void store(double* values) const {
    for (std::uint32_t v = 0; v < kVectors; ++v) hn::Store(list_[v], Pair(), values + v * kLanes);
  }

 private:
  using Pair = hn::CappedTag<double, 2>;
  using Vector = hn::Vec<Pair>;
  static constexpr std::uint32_t kLanes = hn::MaxLanes(Pair());
  static constexpr std::uint32_t kVectors = kCapacity / kLanes;

  /// The values of `own` one place up, with the highest of `lower` in the first place.
  static HWY_INLINE Vector moved_up(Vector own, Vector lower) {
#if HWY_TARGET == HWY_SCALAR  // one lane, and no such operation
    (void)own;
    return lower;
#else
    return hn::CombineShiftRightLanes<kLanes - 1>(Pair(), own, lower);
#endif
  }

  Vector list_[kVectors];
};

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#endif
