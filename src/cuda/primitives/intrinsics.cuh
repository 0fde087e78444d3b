// What kernels use of the hardware: threads, barriers, the words of a warp, atomics. Kernels use nothing else of CUDA,
// so that tests can run them on a machine without a GPU (tests/cuda/emulation has a file of the same name).
//
// All operations of a warp need its 32 lanes: kernels keep warps together and use predicates.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// A function that is called, not copied to where it is used: for what is rare and long.
#define KITH_NOINLINE __noinline__

namespace kith::cuda {

inline constexpr std::uint32_t kWarp = 32;

/// Blocks that a multiprocessor has at a time at least, however small they are: the most that __launch_bounds__ may ask
/// for.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || (__CUDA_ARCH__ >= 860 && __CUDA_ARCH__ < 890))
inline constexpr std::uint32_t kMostResidentBlocks = 16;
#else
inline constexpr std::uint32_t kMostResidentBlocks = 24;
#endif

// --- who am I ---
__device__ __forceinline__ std::uint32_t thread_number() { return threadIdx.x; }
__device__ __forceinline__ std::uint32_t threads_per_block() { return blockDim.x; }
__device__ __forceinline__ std::uint32_t block_number() { return blockIdx.x; }
__device__ __forceinline__ std::uint32_t blocks_in_grid() { return gridDim.x; }
__device__ __forceinline__ std::uint32_t lane_number() { return threadIdx.x % kWarp; }
__device__ __forceinline__ std::uint32_t warp_number() { return threadIdx.x / kWarp; }

/// The shared memory that the launch asked for, aligned to 1024 bytes.
__device__ __forceinline__ std::byte* shared_memory() {
  extern __shared__ __align__(1024) unsigned char kith_shared_memory[];
  return reinterpret_cast<std::byte*>(kith_shared_memory);
}

/// Where something lies in shared memory, in one register, and what lies there.
__device__ __forceinline__ std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}
template <typename V>
__device__ __forceinline__ V* at_shared(std::uint32_t address) {
  return static_cast<V*>(__cvta_shared_to_generic(address));
}

// --- barriers; each also orders memory among those who wait ---
__device__ __forceinline__ void sync_block() { __syncthreads(); }
__device__ __forceinline__ void sync_warp() { __syncwarp(); }
/// Synchronises the block and tells whether any thread votes for it.
__device__ __forceinline__ bool any_thread(bool vote) { return __syncthreads_or(vote) != 0; }
/// For `threads` threads, whole warps of one block; `barrier` is 1 to 15, one for each set of warps in flight.
__device__ __forceinline__ void sync_part(std::uint32_t barrier, std::uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
/// For the blocks of a cluster; what each wrote before is there for the others. Only where clusters are: from compute
/// capability 9.0 on.
__device__ __forceinline__ void sync_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
/// What this thread wrote is visible to every thread that sees what it writes next.
__device__ __forceinline__ void fence_device() { __threadfence(); }

/// One thread waits until `*counter` reaches `target`, which others raise by atomic_add.
__device__ __forceinline__ void wait_until(const std::uint32_t* counter, std::uint32_t target) {
  std::uint32_t seen;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
  } while (static_cast<std::int32_t>(seen - target) < 0);
}

// --- launches that overlap: the blocks of the next kernel may come while this one still runs ---
/// From here on they may.
__device__ __forceinline__ void start_next() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/// All that the kernels before have written is there.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// --- the words of a warp ---
template <typename V>
__device__ __forceinline__ V shuffle(V value, std::uint32_t lane) {
  return __shfl_sync(0xffffffffu, value, static_cast<int>(lane));
}
template <typename V>
__device__ __forceinline__ V shuffle_xor(V value, std::uint32_t mask) {
  return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask));
}
/// Lanes below `delta` keep their own value.
template <typename V>
__device__ __forceinline__ V shuffle_up(V value, std::uint32_t delta) {
  return __shfl_up_sync(0xffffffffu, value, delta);
}
__device__ __forceinline__ std::uint32_t ballot(bool vote) { return __ballot_sync(0xffffffffu, vote); }
__device__ __forceinline__ bool any_lane(bool vote) { return __any_sync(0xffffffffu, vote) != 0; }
/// The lanes with the same value as this one.
__device__ __forceinline__ std::uint32_t match_lanes(std::uint32_t value) {
  return __match_any_sync(0xffffffffu, value);
}
/// True if all lanes hold the same value.
__device__ __forceinline__ bool all_lanes_equal(std::uint32_t value) {
  int same = 0;
  __match_all_sync(0xffffffffu, value, &same);
  return same != 0;
}

__device__ __forceinline__ std::uint32_t sum_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, value);
#else
  for (std::uint32_t step = 16; step > 0; step /= 2) value += shuffle_xor(value, step);
  return value;
#endif
}
__device__ __forceinline__ std::uint32_t min_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, value);
#else
  for (std::uint32_t step = 16; step > 0; step /= 2) value = min(value, shuffle_xor(value, step));
  return value;
#endif
}
__device__ __forceinline__ std::uint32_t max_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, value);
#else
  for (std::uint32_t step = 16; step > 0; step /= 2) value = max(value, shuffle_xor(value, step));
  return value;
#endif
}
__device__ __forceinline__ std::uint64_t min_of_warp(std::uint64_t value) {
  for (std::uint32_t step = 16; step > 0; step /= 2) {
    const std::uint64_t other = shuffle_xor(value, step);
    value = other < value ? other : value;
  }
  return value;
}
__device__ __forceinline__ std::uint64_t max_of_warp(std::uint64_t value) {
  for (std::uint32_t step = 16; step > 0; step /= 2) {
    const std::uint64_t other = shuffle_xor(value, step);
    value = other > value ? other : value;
  }
  return value;
}

__device__ __forceinline__ std::uint32_t count_bits(std::uint32_t word) {
  return static_cast<std::uint32_t>(__popc(static_cast<int>(word)));
}
/// The number of the lowest bit; the word is not 0.
__device__ __forceinline__ std::uint32_t lowest_bit(std::uint32_t word) {
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(word))) - 1;
}
__device__ __forceinline__ std::uint32_t leading_zeros(std::uint32_t word) {
  return static_cast<std::uint32_t>(__clz(static_cast<int>(word)));
}
__device__ __forceinline__ std::uint32_t leading_zeros(std::uint64_t word) {
  return static_cast<std::uint32_t>(__clzll(static_cast<long long>(word)));
}

// --- atomics, in shared or global memory; they return the old value ---
__device__ __forceinline__ std::uint32_t atomic_add(std::uint32_t* to, std::uint32_t value) {
  return atomicAdd(to, value);
}
__device__ __forceinline__ std::uint32_t atomic_or(std::uint32_t* to, std::uint32_t value) {
  return atomicOr(to, value);
}
__device__ __forceinline__ std::uint32_t atomic_min(std::uint32_t* to, std::uint32_t value) {
  return atomicMin(to, value);
}
__device__ __forceinline__ std::uint32_t atomic_max(std::uint32_t* to, std::uint32_t value) {
  return atomicMax(to, value);
}
/// Puts `value` there if `expected` is there.
__device__ __forceinline__ std::uint32_t atomic_cas(std::uint32_t* to, std::uint32_t expected, std::uint32_t value) {
  return atomicCAS(to, expected, value);
}
__device__ __forceinline__ std::uint64_t atomic_cas(std::uint64_t* to, std::uint64_t expected, std::uint64_t value) {
  return atomicCAS(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(expected),
                   static_cast<unsigned long long>(value));
}
__device__ __forceinline__ std::uint64_t atomic_add(std::uint64_t* to, std::uint64_t value) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
__device__ __forceinline__ std::uint64_t atomic_min(std::uint64_t* to, std::uint64_t value) {
  return atomicMin(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
__device__ __forceinline__ std::uint64_t atomic_max(std::uint64_t* to, std::uint64_t value) {
  return atomicMax(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
/// Reads past the caches that other blocks do not share.
__device__ __forceinline__ std::uint32_t load_fresh(const std::uint32_t* from) { return __ldcg(from); }
__device__ __forceinline__ std::uint64_t load_fresh(const std::uint64_t* from) {
  return __ldcg(reinterpret_cast<const unsigned long long*>(from));
}

// --- words that one thread writes once and others look at until they are there ---
/// The word as it is now; what else the writer wrote may not be there yet.
__device__ __forceinline__ std::uint64_t load_now(const std::uint64_t* from) {
  std::uint64_t word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(__cvta_generic_to_global(from)) : "memory");
  return word;
}
__device__ __forceinline__ void store_now(std::uint64_t* to, std::uint64_t word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(word) : "memory");
}
/// Before looking again: others have the processor for a moment.
__device__ __forceinline__ void wait_a_little() { __nanosleep(100); }

// --- copies from global to shared memory that need no registers meanwhile ---
/// Starts to copy a value of 4, 8 or 16 bytes.
template <typename V>
__device__ __forceinline__ void copy_to_shared(V* to, const V* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "n"(sizeof(V))
               : "memory");
#else
  *to = *from;
#endif
}
/// All that this thread has started to copy is there, for this thread.
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Starts to copy 16 bytes, aligned to as many, past the first cache.
__device__ __forceinline__ void copy_16_to_shared(std::uint32_t to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(__cvta_generic_to_global(from)) : "memory");
#else
  *at_shared<uint4>(to) = *static_cast<const uint4*>(from);
#endif
}
/// What this thread has started to copy since the last time is a group.
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// All groups but the last kGroups are there, for this thread.
template <int kGroups>
__device__ __forceinline__ void wait_for_copies_but() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}

// --- products of matrices of halves by a warp ---
/// Four matrices of 8 rows of 8 halves. Lane 8 i + r knows where row r of matrix i is, 16 bytes in shared memory; lane
/// 4 r + c gets halves 2 c and 2 c + 1 of row r of each.
__device__ __forceinline__ void load_matrix_x4(std::uint32_t (&to)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}
/// c += a b, where a has 16 rows and b 8 columns of 16 halves, and c is in f32. a: rows 0 to 7, 8 to 15, the same of
/// dims 8 to 15; b: dims 0 to 7, 8 to 15, each a matrix as load_matrix_x4 gives it. c: columns 2 (lane % 4) and one
/// more of row lane / 4, then of row lane / 4 + 8.
__device__ __forceinline__ void mma_f16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[2 * k]), "r"(a[2 * k + 1]), "r"(b[k]));
  }
#endif
}

/// sums = {first, second} + a b, all in halves: columns 2 (lane % 4) and one more of row lane / 4, and of row lane / 4
/// +
/// 8. For 16 dims they are rounded kHalfSumRoundings times.
__device__ __forceinline__ void mma_half_sums(std::uint32_t (&sums)[2], const std::uint32_t (&a)[4],
                                              const std::uint32_t (&b)[2], std::uint32_t first, std::uint32_t second) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
      : "=r"(sums[0]), "=r"(sums[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(first), "r"(second));
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
      : "=r"(sums[0]), "=r"(sums[1])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(first), "r"(second));
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
      : "+r"(sums[0]), "+r"(sums[1])
      : "r"(a[2]), "r"(a[3]), "r"(b[1]));
#endif
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr std::uint32_t kHalfSumRoundings = 2;
#else
inline constexpr std::uint32_t kHalfSumRoundings = 1;
#endif

// --- numbers ---
/// The bits of the nearest half, ties to even.
__device__ __forceinline__ std::uint16_t to_half_bits(float value) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
/// The bits of the greatest half that is not above, and of the least that is not below.
__device__ __forceinline__ std::uint16_t to_half_bits_down(float value) {
  std::uint16_t bits;
  asm("cvt.rm.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ __forceinline__ std::uint16_t to_half_bits_up(float value) {
  std::uint16_t bits;
  asm("cvt.rp.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
/// Two halves times two others; the greater ones of two and two, of which one that is NaN does not count.
__device__ __forceinline__ std::uint32_t multiply_halves(std::uint32_t a, std::uint32_t b) {
  std::uint32_t products;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(products) : "r"(a), "r"(b));
  return products;
}
__device__ __forceinline__ std::uint32_t max_halves(std::uint32_t a, std::uint32_t b) {
#if __CUDA_ARCH__ >= 800
  std::uint32_t greater;
  asm("max.f16x2 %0, %1, %2;" : "=r"(greater) : "r"(a), "r"(b));
  return greater;
#else
  std::uint32_t both = 0;
#pragma unroll
  for (std::uint32_t shift = 0; shift < 32; shift += 16) {
    float x, y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(static_cast<std::uint16_t>(a >> shift)));
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(static_cast<std::uint16_t>(b >> shift)));
    both |= std::uint32_t{to_half_bits(fmaxf(x, y))} << shift;
  }
  return both;
#endif
}

/// Towards zero; what is below 0 becomes 0, what is too large the largest, what is no number 0 (float) or 2^31
/// (double).
__device__ __forceinline__ std::uint32_t to_unsigned(float value) { return __float2uint_rz(value); }
__device__ __forceinline__ std::uint32_t to_unsigned(double value) { return __double2uint_rz(value); }

/// About a / b, to a few of the last bits; b is not 0.
__device__ __forceinline__ float rough_quotient(float a, float b) { return __fdividef(a, b); }

/// Four of the eight bytes of a (0 to 3) and b (4 to 7): the lowest by the lowest four bits of the selector, and so on;
/// its upper half does not matter. None of the four is above 7.
__device__ __forceinline__ std::uint32_t permute_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  std::uint32_t bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(selector));
  return bytes;
}

/// The lesser and the greater of two numbers; of -0 and +0 either.
__device__ __forceinline__ float lesser(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ float greater(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double lesser(double a, double b) { return b < a ? b : a; }
__device__ __forceinline__ double greater(double a, double b) { return b > a ? b : a; }

/// The same value, but the compiler does not know: what was computed from the value before is computed from this one
/// once more, instead of being kept in registers.
__device__ __forceinline__ float made_anew(float value) {
  asm volatile("" : "+f"(value));
  return value;
}
__device__ __forceinline__ double made_anew(double value) {
  asm volatile("" : "+d"(value));
  return value;
}

/// |value|
__device__ __forceinline__ float magnitude(float value) { return fabsf(value); }
__device__ __forceinline__ double magnitude(double value) { return fabs(value); }
/// The nearest number from 0 to 1; of what is no number 0.
__device__ __forceinline__ float saturated(float value) { return __saturatef(value); }
__device__ __forceinline__ double saturated(double value) { return lesser(1.0, greater(0.0, value)); }

/// The nearest float that is not farther from zero.
__device__ __forceinline__ float toward_zero(float value) { return value; }
__device__ __forceinline__ float toward_zero(double value) { return __double2float_rz(value); }

/// x + y if so, else x: one instruction where a choice between two values takes two.
__device__ __forceinline__ std::uint32_t add_if(bool is_so, std::uint32_t x, std::uint32_t y) {
  asm("{\n\t.reg .pred so;\n\tsetp.ne.u32 so, %1, 0;\n\t@so add.u32 %0, %0, %2;\n\t}"
      : "+r"(x)
      : "r"(static_cast<std::uint32_t>(is_so)), "r"(y));
  return x;
}

/// Adds y to x if word & bit is not 0, else to z. As add_if, without a choice.
__device__ __forceinline__ void add_to_one(std::uint32_t word, std::uint32_t bit, std::uint32_t& x, std::uint32_t& z,
                                           std::uint32_t y) {
  asm("{\n\t.reg .pred so;\n\t.reg .b32 set;\n\tand.b32 set, %2, %3;\n\tsetp.ne.u32 so, set, 0;\n\t"
      "@so add.u32 %0, %0, %4;\n\t@!so add.u32 %1, %1, %4;\n\t}"
      : "+r"(x), "+r"(z)
      : "r"(word), "r"(bit), "r"(y));
}

/// x + y, and one more if a + b has 33 bits. Two instructions, where a comparison and what is made of it take three.
__device__ __forceinline__ std::uint32_t add_with_carry(std::uint32_t x, std::uint32_t y, std::uint32_t a,
                                                        std::uint32_t b) {
  std::uint32_t sum;
  asm("{\n\t.reg .u32 low;\n\tadd.cc.u32 low, %3, %4;\n\taddc.u32 %0, %1, %2;\n\t}"
      : "=r"(sum)
      : "r"(x), "r"(y), "r"(a), "r"(b));
  return sum;
}

}  // namespace kith::cuda
