// Stands in for src/cuda/primitives/intrinsics.cuh on the host: every thread of a grid is a fiber, a warp's words are
// exchanged at a barrier of its 32 lanes. Slow and strict: a lane that stays away from a barrier, or comes to another
// one, is an error.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define KITH_NOINLINE [[gnu::noinline]]
#define __restrict__

namespace kith::cuda {

inline constexpr std::uint32_t kWarp = 32;
inline constexpr std::uint32_t kMostResidentBlocks = 24;

namespace emulation {

/// Which thread of the grid a fiber is.
struct Here {
  std::uint32_t thread = 0, threads = 0, block = 0, blocks = 0;
  std::byte* shared = nullptr;
};
/// The fiber that runs now.
inline constinit thread_local const Here* running = nullptr;
inline const Here& here() { return *running; }

/// Gives the processor to the other fibers.
void yield();
/// Barrier `number` of this block, for `threads` threads.
void wait_for_block(std::uint32_t number, std::uint32_t threads);
/// All threads of this block meet; true if one of them votes for it.
bool vote_in_block(bool vote);
/// Hands `bytes` at `value` to the warp and returns the words of all lanes, 8 bytes each. `what` must be the same for
/// all.
const std::uint64_t* wait_for_warp(const char* what, std::uint64_t word);

}  // namespace emulation

inline std::uint32_t thread_number() { return emulation::here().thread; }
inline std::uint32_t threads_per_block() { return emulation::here().threads; }
inline std::uint32_t block_number() { return emulation::here().block; }
inline std::uint32_t blocks_in_grid() { return emulation::here().blocks; }
inline std::uint32_t lane_number() { return thread_number() % kWarp; }
inline std::uint32_t warp_number() { return thread_number() / kWarp; }
inline std::byte* shared_memory() { return emulation::here().shared; }
inline std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(static_cast<const std::byte*>(at) - shared_memory());
}
template <typename V>
V* at_shared(std::uint32_t address) {
  return reinterpret_cast<V*>(shared_memory() + address);
}

inline void sync_block() { emulation::wait_for_block(0, threads_per_block()); }
inline void sync_warp() { emulation::wait_for_warp("sync_warp", 0); }
inline bool any_thread(bool vote) { return emulation::vote_in_block(vote); }
inline void sync_part(std::uint32_t barrier, std::uint32_t threads) { emulation::wait_for_block(barrier, threads); }
inline void fence_device() {}
inline void start_next() {}
inline void wait_for_previous() {}
/// The grid is one cluster. The counters, one for each number of blocks, only grow.
inline void sync_cluster() {
  thread_local std::map<std::uint32_t, std::uint32_t> arrived;
  sync_block();
  if (thread_number() == 0) {
    const std::uint32_t blocks = blocks_in_grid();
    std::uint32_t& counter = arrived[blocks];
    const std::uint32_t target = counter - counter % blocks + blocks;
    ++counter;
    while (static_cast<std::int32_t>(*static_cast<const volatile std::uint32_t*>(&counter) - target) < 0) {
      emulation::yield();
    }
  }
  sync_block();
}
inline void wait_until(const std::uint32_t* counter, std::uint32_t target) {
  while (static_cast<std::int32_t>(*static_cast<const volatile std::uint32_t*>(counter) - target) < 0) {
    emulation::yield();
  }
}

namespace emulation {
template <typename V>
std::uint64_t word_of(V value) {
  static_assert(sizeof(V) <= 8);
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(V));
  return word;
}
template <typename V>
V value_of(std::uint64_t word) {
  V value;
  std::memcpy(&value, &word, sizeof(V));
  return value;
}
}  // namespace emulation

template <typename V>
V shuffle(V value, std::uint32_t lane) {
  return emulation::value_of<V>(emulation::wait_for_warp("shuffle", emulation::word_of(value))[lane % kWarp]);
}
template <typename V>
V shuffle_xor(V value, std::uint32_t mask) {
  return emulation::value_of<V>(
      emulation::wait_for_warp("shuffle_xor", emulation::word_of(value))[(lane_number() ^ mask) % kWarp]);
}
template <typename V>
V shuffle_up(V value, std::uint32_t delta) {
  const std::uint64_t* words = emulation::wait_for_warp("shuffle_up", emulation::word_of(value));
  return lane_number() < delta ? value : emulation::value_of<V>(words[lane_number() - delta]);
}
inline std::uint32_t ballot(bool vote) {
  const std::uint64_t* words = emulation::wait_for_warp("ballot", vote ? 1 : 0);
  std::uint32_t mask = 0;
  for (std::uint32_t lane = 0; lane < kWarp; ++lane) mask |= static_cast<std::uint32_t>(words[lane]) << lane;
  return mask;
}
inline bool any_lane(bool vote) { return ballot(vote) != 0; }
inline std::uint32_t match_lanes(std::uint32_t value) {
  const std::uint64_t* words = emulation::wait_for_warp("match", value);
  std::uint32_t mask = 0;
  for (std::uint32_t lane = 0; lane < kWarp; ++lane) mask |= (words[lane] == value ? 1u : 0u) << lane;
  return mask;
}
inline bool all_lanes_equal(std::uint32_t value) { return match_lanes(value) == 0xffffffffu; }

namespace emulation {
template <typename V, typename Join>
V reduce(const char* what, V value, Join join) {
  const std::uint64_t* words = wait_for_warp(what, word_of(value));
  V result = value_of<V>(words[0]);
  for (std::uint32_t lane = 1; lane < kWarp; ++lane) result = join(result, value_of<V>(words[lane]));
  return result;
}
}  // namespace emulation

inline std::uint32_t sum_of_warp(std::uint32_t value) {
  return emulation::reduce("sum", value, [](std::uint32_t a, std::uint32_t b) { return a + b; });
}
template <typename V>
V min_of_warp(V value) {
  return emulation::reduce("min", value, [](V a, V b) { return b < a ? b : a; });
}
template <typename V>
V max_of_warp(V value) {
  return emulation::reduce("max", value, [](V a, V b) { return b > a ? b : a; });
}

inline std::uint32_t count_bits(std::uint32_t word) { return static_cast<std::uint32_t>(std::popcount(word)); }
inline std::uint32_t lowest_bit(std::uint32_t word) { return static_cast<std::uint32_t>(std::countr_zero(word)); }
inline std::uint32_t leading_zeros(std::uint32_t word) { return static_cast<std::uint32_t>(std::countl_zero(word)); }
inline std::uint32_t leading_zeros(std::uint64_t word) { return static_cast<std::uint32_t>(std::countl_zero(word)); }

// Fibers of one thread take turns only at barriers: a plain read and write is atomic.
template <typename V>
V atomic_add(V* to, V value) {
  const V old = *to;
  *to = old + value;
  return old;
}
template <typename V>
V atomic_or(V* to, V value) {
  const V old = *to;
  *to = old | value;
  return old;
}
template <typename V>
V atomic_min(V* to, V value) {
  const V old = *to;
  if (value < old) *to = value;
  return old;
}
template <typename V>
V atomic_max(V* to, V value) {
  const V old = *to;
  if (value > old) *to = value;
  return old;
}
template <typename V>
V atomic_cas(V* to, V expected, V value) {
  const V old = *to;
  if (old == expected) *to = value;
  return old;
}
template <typename V>
V load_fresh(const V* from) {
  return *from;
}

inline std::uint64_t load_now(const std::uint64_t* from) { return *static_cast<const volatile std::uint64_t*>(from); }
inline void store_now(std::uint64_t* to, std::uint64_t word) { *to = word; }
inline void wait_a_little() { emulation::yield(); }

inline std::uint32_t to_unsigned(double value) {
  if (std::isnan(value)) return 0x80000000u;
  if (!(value > 0)) return 0;
  return value >= 4294967295.0 ? 0xffffffffu : static_cast<std::uint32_t>(value);
}
inline std::uint32_t to_unsigned(float value) {
  return std::isnan(value) ? 0 : to_unsigned(static_cast<double>(value));
}

inline float rough_quotient(float a, float b) { return a / b; }

inline std::uint32_t permute_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    result |= static_cast<std::uint32_t>(bytes >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
  }
  return result;
}

/// The lesser and the greater of two numbers; of -0 and +0 either.
inline float lesser(float a, float b) { return std::fmin(a, b); }
inline float greater(float a, float b) { return std::fmax(a, b); }
inline double lesser(double a, double b) { return b < a ? b : a; }
inline double greater(double a, double b) { return b > a ? b : a; }

inline float made_anew(float value) { return value; }
inline double made_anew(double value) { return value; }

inline float magnitude(float value) { return std::fabs(value); }
inline double magnitude(double value) { return std::fabs(value); }
inline float saturated(float value) { return lesser(1.0f, greater(0.0f, value)); }
inline double saturated(double value) { return lesser(1.0, greater(0.0, value)); }

inline float toward_zero(float value) { return value; }
inline float toward_zero(double value) {
  const auto nearest = static_cast<float>(value);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? std::nextafter(nearest, 0.0f) : nearest;
}

template <typename V>
void copy_to_shared(V* to, const V* from) {
  *to = *from;
}
inline void wait_for_copies() {}

// Copies of 16 bytes happen as late as they may: when their group is waited for.
namespace emulation {
struct LateCopy {
  std::byte* to;
  const void* from;
};
/// The copies of this thread: groups, the last one still open. Those of threads long gone are empty.
inline std::deque<std::vector<LateCopy>>& late_copies() {
  thread_local std::map<std::pair<const std::byte*, std::uint32_t>, std::deque<std::vector<LateCopy>>> all;
  auto& groups = all[{shared_memory(), thread_number()}];
  if (groups.empty()) groups.emplace_back();
  return groups;
}
}  // namespace emulation
inline void copy_16_to_shared(std::uint32_t to, const void* from) {
  emulation::late_copies().back().push_back({shared_memory() + to, from});
}
inline void commit_copies() { emulation::late_copies().emplace_back(); }
template <int kGroups>
void wait_for_copies_but() {
  auto& groups = emulation::late_copies();
  while (groups.size() > kGroups + 1) {
    for (const emulation::LateCopy& copy : groups.front()) std::memcpy(copy.to, copy.from, 16);
    groups.pop_front();
  }
}

namespace emulation {
inline float from_half_bits(std::uint32_t bits) {
  const std::uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = 0;
  if (exponent == 31) {
    value = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    value = static_cast<float>(fraction) * 0x1p-24f;
  } else {
    value = std::bit_cast<float>((exponent + 112) << 23 | fraction << 13);
  }
  return (bits >> 15) != 0 ? -value : value;
}
/// As narrow as a tensor core may be: numbers are aligned to the largest and cut below 24 bits of it, as is their sum.
inline float add_cut(const float* numbers, std::uint32_t count) {
  float largest = 0;
  for (std::uint32_t i = 0; i < count; ++i) largest = std::fmax(largest, std::fabs(numbers[i]));
  double sum = 0;
  if (largest == 0 || !std::isfinite(largest)) {
    for (std::uint32_t i = 0; i < count; ++i) sum += static_cast<double>(numbers[i]);
    return static_cast<float>(sum);
  }
  const double unit = std::ldexp(1.0, std::ilogb(largest) - 23);
  for (std::uint32_t i = 0; i < count; ++i) sum += std::trunc(static_cast<double>(numbers[i]) / unit);
  return toward_zero(sum * unit);
}
}  // namespace emulation

inline void load_matrix_x4(std::uint32_t (&to)[4], std::uint32_t row) {
  const std::uint64_t* rows = emulation::wait_for_warp("load_matrix", row);
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::memcpy(&to[i], shared_memory() + rows[8 * i + lane_number() / 4] + 4 * (lane_number() % 4), 4);
  }
}
inline void mma_f16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  const std::uint32_t row = lane_number() / 4, column = 2 * (lane_number() % 4);
  float rows[2][16], columns[2][16];
  for (std::uint32_t half = 0; half < 2; ++half) {
    const std::uint64_t* words = emulation::wait_for_warp("mma", std::uint64_t{a[2 * half + 1]} << 32 | a[2 * half]);
    for (std::uint32_t k = 0; k < 8; ++k) {
      const std::uint64_t word = words[4 * row + k / 2];
      for (std::uint32_t r = 0; r < 2; ++r) {
        rows[r][8 * half + k] = emulation::from_half_bits(word >> (32 * r + 16 * (k % 2)) & 0xffff);
      }
    }
  }
  const std::uint64_t* words = emulation::wait_for_warp("mma", std::uint64_t{b[1]} << 32 | b[0]);
  for (std::uint32_t n = 0; n < 2; ++n) {
    for (std::uint32_t k = 0; k < 16; ++k) {
      const std::uint64_t word = words[4 * (column + n) + k % 8 / 2];
      columns[n][k] = emulation::from_half_bits(word >> (32 * (k / 8) + 16 * (k % 2)) & 0xffff);
    }
  }
  constexpr std::uint32_t kGroup = 4;
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint32_t k = 0; k < 16; k += kGroup) {
      float numbers[kGroup + 1] = {c[i]};
      for (std::uint32_t j = 0; j < kGroup; ++j) numbers[j + 1] = rows[i / 2][k + j] * columns[i % 2][k + j];
      c[i] = emulation::add_cut(numbers, kGroup + 1);
    }
  }
}

inline std::uint16_t to_half_bits(float value);
inline std::uint16_t to_half_bits_down(float value);
inline std::uint16_t to_half_bits_up(float value);

/// As mma_f16 has it, and cut to halves.
inline constexpr std::uint32_t kHalfSumRoundings = 1;
inline void mma_half_sums(std::uint32_t (&sums)[2], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                          std::uint32_t first, std::uint32_t second) {
  float wide[4];
  for (std::uint32_t i = 0; i < 4; ++i) {
    wide[i] = emulation::from_half_bits((i < 2 ? first : second) >> (16 * (i % 2)) & 0xffff);
  }
  mma_f16(wide, a, b);
  for (std::uint32_t r = 0; r < 2; ++r) {
    sums[r] = 0;
    for (std::uint32_t j = 0; j < 2; ++j) {
      const float sum = wide[2 * r + j];
      const std::uint16_t bits = sum > 0 ? to_half_bits_down(sum) : to_half_bits_up(sum);
      sums[r] |= std::uint32_t{bits} << (16 * j);
    }
  }
}
inline std::uint32_t multiply_halves(std::uint32_t a, std::uint32_t b) {
  std::uint32_t both = 0;
  for (std::uint32_t shift = 0; shift < 32; shift += 16) {
    const float x = emulation::from_half_bits(a >> shift & 0xffff), y = emulation::from_half_bits(b >> shift & 0xffff);
    both |= std::uint32_t{to_half_bits(x * y)} << shift;
  }
  return both;
}
inline std::uint32_t max_halves(std::uint32_t a, std::uint32_t b) {
  std::uint32_t both = 0;
  for (std::uint32_t shift = 0; shift < 32; shift += 16) {
    const float x = emulation::from_half_bits(a >> shift & 0xffff), y = emulation::from_half_bits(b >> shift & 0xffff);
    const bool is_first = !(x < y) && (!std::isnan(x) || std::isnan(y));
    both |= ((is_first ? a : b) >> shift & 0xffff) << shift;
  }
  return both;
}

inline std::uint16_t to_half_bits(float value) {
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 31 << 15;
  const double size = std::fabs(static_cast<double>(value));
  if (std::isnan(value)) return 0x7fff;
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  // In units of the last place; a carry into the exponent is right.
  const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(exponent + 14) * 1024 + units));
}

inline std::uint16_t to_half_bits_down(float value) {
  const std::uint16_t nearest = to_half_bits(value);
  if (!(emulation::from_half_bits(nearest) > value)) return nearest;
  if (nearest == 0) return 0x8001;
  return static_cast<std::uint16_t>(nearest < 0x8000 ? nearest - 1 : nearest + 1);
}
inline std::uint16_t to_half_bits_up(float value) { return to_half_bits_down(-value) ^ 0x8000; }

inline void add_to_one(std::uint32_t word, std::uint32_t bit, std::uint32_t& x, std::uint32_t& z, std::uint32_t y) {
  ((word & bit) != 0 ? x : z) += y;
}
inline std::uint32_t add_if(bool is_so, std::uint32_t x, std::uint32_t y) { return is_so ? x + y : x; }

inline std::uint32_t add_with_carry(std::uint32_t x, std::uint32_t y, std::uint32_t a, std::uint32_t b) {
  return x + y + static_cast<std::uint32_t>((std::uint64_t{a} + b) >> 32);
}

}  // namespace kith::cuda
