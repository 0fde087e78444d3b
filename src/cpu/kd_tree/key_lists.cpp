// See key_lists.hpp. Written once, compiled for each instruction set, chosen at run time.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kd_tree/key_lists.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next ones.
#include <hwy/highway.h>

#include "cpu/kd_tree/distance_key.hpp"
#include "cpu/kd_tree/key_lists.hpp"
#include "cpu/kd_tree/sorted_vectors-inl.hpp"

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <std::uint32_t kCapacity>
core::Candidate<float> insert_hits(void* self, std::uint32_t query, std::uint64_t hits, const float* reduced,
                                   const std::uint32_t* indices) {
  auto& lists = *static_cast<KeyLists*>(self);
  double* keys = lists.list(query);
  SortedVectors<kCapacity> list(keys);
  for (; hits != 0; hits &= hits - 1) {
    const int i = __builtin_ctzll(hits);
    list.insert(DistanceKey::of(reduced[i], indices[i]));
  }
  list.store(keys);
  const core::Candidate<float> last = DistanceKey::candidate(keys[lists.k() - 1]);
  return {last.distance, last.index};
}

LeafHitFunction<float> insert_function(std::uint32_t capacity) {
  switch (capacity) {
    case 4:
      return &insert_hits<4>;
    case 8:
      return &insert_hits<8>;
    case 16:
      return &insert_hits<16>;
    default:
      return &insert_hits<32>;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(insert_function);

KeyLists::KeyLists(std::uint32_t k, double* storage)
    : k_(k), capacity_(capacity_for(k)), on_hit_(HWY_DYNAMIC_DISPATCH(insert_function)(capacity_)) {
  keys_ = storage + reinterpret_cast<std::uintptr_t>(storage) % 16 / sizeof(double);  // vectors of 16 bytes
}

void KeyLists::reset(std::uint32_t query, float farthest) {
  std::fill_n(list(query), capacity_, DistanceKey::of(farthest, core::kNoPoint));
}

void KeyLists::write(std::uint32_t query, std::uint32_t missing, std::uint32_t* indices, float* reduced) const {
  const double* keys = keys_ + std::size_t{query} * capacity_;
  for (std::uint32_t i = 0; i < k_; ++i) {
    const core::Candidate<float> found = DistanceKey::candidate(keys[i]);
    indices[i] = found.index == core::kNoPoint ? missing : found.index;
    reduced[i] = found.index == core::kNoPoint ? std::numeric_limits<float>::infinity() : found.distance;
  }
}

}  // namespace kith::cpu
#endif  // HWY_ONCE
