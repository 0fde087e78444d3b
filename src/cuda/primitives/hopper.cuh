// What only GPUs of compute capability 9.0 can do, and code that is compiled for "90a": copies that the GPU makes by
// itself, and products of matrices by four warps side by side. Elsewhere these functions do nothing.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cuda.h>

#include <cstdint>

namespace kith::cuda {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define KITH_HOPPER(...) asm volatile(__VA_ARGS__)
#else
#define KITH_HOPPER(...) static_cast<void>(0)
#endif

// --- copies: a thread says how many bytes a barrier in shared memory is to see, others wait for its round ---
/// Barriers are 8 bytes, and a round ends when so many have arrived. After show_copy_barriers and a barrier of the
/// block they may be used.
__device__ __forceinline__ void begin_copy_barrier([[maybe_unused]] std::uint32_t barrier,
                                                   [[maybe_unused]] std::uint32_t arrivals) {
  KITH_HOPPER("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void show_copy_barriers() {
  KITH_HOPPER("fence.mbarrier_init.release.cluster;" ::: "memory");
  KITH_HOPPER("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void arrive_at([[maybe_unused]] std::uint32_t barrier) {
  KITH_HOPPER("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives; the round does not end before these bytes are there.
__device__ __forceinline__ void expect_bytes([[maybe_unused]] std::uint32_t barrier,
                                             [[maybe_unused]] std::uint32_t bytes) {
  KITH_HOPPER("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Until round `round` has ended, counted modulo 2.
__device__ __forceinline__ void wait_for_round([[maybe_unused]] std::uint32_t barrier,
                                               [[maybe_unused]] std::uint32_t round) {
  KITH_HOPPER(
      "{.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;}" ::"r"(barrier),
      "r"(round)
      : "memory");
}
/// Bytes that lie side by side, a multiple of 16, aligned to as many.
__device__ __forceinline__ void start_copy([[maybe_unused]] std::uint32_t to, [[maybe_unused]] const void* from,
                                           [[maybe_unused]] std::uint32_t bytes,
                                           [[maybe_unused]] std::uint32_t barrier) {
  KITH_HOPPER("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
              "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
              : "memory");
}
/// A part of a matrix, as large as its map says, from this column and row on.
__device__ __forceinline__ void start_copy_of_matrix([[maybe_unused]] std::uint32_t to,
                                                     [[maybe_unused]] const CUtensorMap& from,
                                                     [[maybe_unused]] std::uint32_t column,
                                                     [[maybe_unused]] std::uint32_t row,
                                                     [[maybe_unused]] std::uint32_t barrier) {
  KITH_HOPPER(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(to),
      "l"(&from), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// --- products of matrices of halves by four warps ---
/// Before the first product of those that end_group_products takes together.
__device__ __forceinline__ void begin_group_products() { KITH_HOPPER("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void end_group_products() { KITH_HOPPER("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// All but the last kGroups that were taken together are done.
template <int kGroups>
__device__ __forceinline__ void wait_for_group_products_but() {
  KITH_HOPPER("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
}
/// Where 16 halves of rows are that lie 128 bytes apart in shared memory from a multiple of 1024 bytes on: piece c of
/// 16 bytes of row r at place c ^ (r % 8). Bytes further on in a row, and multiples of 8 rows, are added in units.
inline constexpr std::uint32_t kMatrixUnit = 16;
__device__ __forceinline__ std::uint32_t matrix_at(std::uint32_t shared) {
  return (shared & 0x3ffff) / kMatrixUnit | 1u << 16;
}
/// Starts sums = a b or sums += a b, where a has 64 rows and b 64 columns of 16 halves, and sums are in f32. Warp w of
/// the four has rows 16 w to 16 w + 15, as mma_f16 has them, of 8 times 8 columns.
__device__ __forceinline__ void start_group_product([[maybe_unused]] float (&sums)[8][4],
                                                    [[maybe_unused]] std::uint32_t a, [[maybe_unused]] std::uint32_t b,
                                                    [[maybe_unused]] bool adds) {
  KITH_HOPPER(
      "{.reg .pred adds; .reg .b64 a, b;\n"  // 8 rows are 1024 bytes, places of 128 bytes
      "setp.ne.b32 adds, %34, 0; mov.b64 a, {%32, 0x40000040}; mov.b64 b, {%33, 0x40000040};\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31}, "
      "a, b, adds, 1, 1, 0, 0;}"
      : "+f"(sums[0][0]), "+f"(sums[0][1]), "+f"(sums[0][2]), "+f"(sums[0][3]), "+f"(sums[1][0]), "+f"(sums[1][1]),
        "+f"(sums[1][2]), "+f"(sums[1][3]), "+f"(sums[2][0]), "+f"(sums[2][1]), "+f"(sums[2][2]), "+f"(sums[2][3]),
        "+f"(sums[3][0]), "+f"(sums[3][1]), "+f"(sums[3][2]), "+f"(sums[3][3]), "+f"(sums[4][0]), "+f"(sums[4][1]),
        "+f"(sums[4][2]), "+f"(sums[4][3]), "+f"(sums[5][0]), "+f"(sums[5][1]), "+f"(sums[5][2]), "+f"(sums[5][3]),
        "+f"(sums[6][0]), "+f"(sums[6][1]), "+f"(sums[6][2]), "+f"(sums[6][3]), "+f"(sums[7][0]), "+f"(sums[7][1]),
        "+f"(sums[7][2]), "+f"(sums[7][3])
      : "r"(a), "r"(b), "r"(static_cast<int>(adds))
      : "memory");
}
/// Sums that were waited for are read after this.
__device__ __forceinline__ void hold_until_here(float (&sums)[8][4]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) asm volatile("" : "+f"(sums[i / 4][i % 4])::"memory");
}

// --- registers: four warps side by side give some back, or take some that others have given back ---
template <int kRegisters>
__device__ __forceinline__ void give_back_registers() {
  KITH_HOPPER("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  KITH_HOPPER("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

#undef KITH_HOPPER

}  // namespace kith::cuda
