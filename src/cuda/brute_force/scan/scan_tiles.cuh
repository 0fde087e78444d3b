// Scans of tiles of points by the chains of the contract, or of words of bits: which kernel, and how many blocks.
//
// `launch(kernel, blocks, threads, shared bytes, arguments...)` puts one into a stream, or runs it on the host in
// tests.
#pragma once

#include "cuda/brute_force/scan/bit_scan.cuh"
#include "cuda/brute_force/scan/scan_any.cuh"
#include "cuda/brute_force/scan/scan_few.cuh"
#include "cuda/brute_force/scan/scan_narrow.cuh"
#include "cuda/brute_force/scan/scan_path.hpp"
#include "cuda/brute_force/scan/scan_stream.cuh"
#include "cuda/brute_force/scan/scan_wide.cuh"

#include <algorithm>
#include <type_traits>

namespace kith::cuda {

/// What a kernel may have of shared memory without asking.
inline constexpr std::size_t kScanSharedBytes = 48 << 10;

static_assert(kTileQueries<float> == TileShape<float>::kQueries && kTileQueries<double> == TileShape<double>::kQueries);

template <typename T, typename M, std::uint32_t kRows, typename Launch>
void launch_scan_few(const ScanTask<T>& task, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint64_t kResident = 8, kFewestTiles = kFewTiles;
  const std::uint32_t blocks =
      scan_blocks(task.queries.count, kRows, task.end_tile - task.first_tile, processors * kResident, kFewestTiles);
  static_assert(FewStorage<T, kRows>::bytes(FewStorage<T, kRows>::kSlab) <= kScanSharedBytes);
  launch(scan_few<T, M, kRows>, blocks, kFewThreads, FewStorage<T, kRows>::bytes(task.points.dims), task);
}

template <typename T, std::uint32_t kDims, std::uint32_t kRows, typename Launch>
void launch_scan_stream(const ScanTask<T>& task, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint64_t kResident = 8, kFewestTiles = kStreamWarps;
  const std::uint32_t blocks =
      scan_blocks(task.queries.count, kRows, task.end_tile - task.first_tile, processors * kResident, kFewestTiles);
  launch(scan_stream<T, core::L2, kDims, kRows>, blocks, kStreamWarps * kWarp, sizeof(StreamStorage<T, kRows>), task);
}

template <typename T, typename M, std::uint32_t kDims, typename Launch>
void launch_scan_narrow(const ScanTask<T>& task, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint64_t kResident = kNarrowResident<kDims>, kFewestTiles = 4 * kNarrowTiles;
  const std::uint32_t blocks = scan_blocks(task.queries.count, TileShape<T>::kQueries, task.end_tile - task.first_tile,
                                           processors * kResident, kFewestTiles);
  static_assert(sizeof(NarrowStorage<T, kDims>) <= kScanSharedBytes);
  launch(scan_narrow<T, M, kDims>, blocks, TileShape<T>::kThreads, sizeof(NarrowStorage<T, kDims>), task);
}

template <typename T, typename M, typename Launch>
void launch_scan_wide(const ScanTask<T>& task, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint64_t kResident = 2, kFewestDims = 128;  // in all tiles of a block
  const std::uint64_t fewest_tiles = (kFewestDims + task.points.dims - 1) / task.points.dims;
  const std::uint32_t blocks = scan_blocks(task.queries.count, TileShape<T>::kQueries, task.end_tile - task.first_tile,
                                           processors * kResident, fewest_tiles);
  static_assert(sizeof(WideStorage<T>) <= kScanSharedBytes);
  launch(scan_wide<T, M>, blocks, TileShape<T>::kThreads, sizeof(WideStorage<T>), task);
}

/// By L2.
template <typename T, std::uint32_t kRows, typename Launch>
void launch_scan_few_of(const ScanTask<T>& task, std::uint32_t processors, Launch&& launch) {
  switch (are_aligned(task.points) ? task.points.dims : 0) {
    case 2:
      return launch_scan_stream<T, 2, kRows>(task, processors, launch);
    case 3:
      return launch_scan_stream<T, 3, kRows>(task, processors, launch);
    case 4:
      return launch_scan_stream<T, 4, kRows>(task, processors, launch);
    default:
      return launch_scan_few<T, core::L2, kRows>(task, processors, launch);
  }
}

template <typename T, typename M, typename Launch>
void launch_scan_by(ScanPath path, const ScanTask<T>& task, std::uint32_t processors, Launch&& launch) {
  constexpr bool kIsL2 = std::is_same_v<M, core::L2>;  // others are rarer: fewer kernels, which add a few zeros
  const std::uint32_t dims = task.points.dims;
  if (path == ScanPath::few) {
    if constexpr (kIsL2) {
      if (task.queries.count == 1) return launch_scan_few_of<T, 1>(task, processors, launch);
      return launch_scan_few_of<T, kThreadQueries<T>>(task, processors, launch);
    }
    launch_scan_few<T, M, kThreadQueries<T>>(task, processors, launch);
  } else if (path == ScanPath::wide) {
    launch_scan_wide<T, M>(task, processors, launch);
  } else if (kIsL2 && dims <= 2) {
    launch_scan_narrow<T, M, kIsL2 ? 2 : 4>(task, processors, launch);
  } else if (kIsL2 && dims == 3) {
    launch_scan_narrow<T, M, kIsL2 ? 3 : 4>(task, processors, launch);
  } else {
    launch_scan_narrow<T, M, 4>(task, processors, launch);
  }
}

/// Shared memory is less than 48 KiB. Counts begin as the caller likes: `offer` and `list` go on where they are,
/// `count` adds to them.
template <typename T, typename Launch>
void launch_scan(const ScanTask<T>& task, std::uint32_t processors, Launch&& launch) {
  if (task.queries.count == 0 || task.first_tile >= task.end_tile || task.points.count == 0) return;
  const ScanPath path = scan_path(task.metric, task.points.dims, task.queries.count);
  if constexpr (std::is_same_v<T, float>) {
    if (path == ScanPath::bits) return launch_bit_scan(task, processors, launch);
  }
  if (path != ScanPath::pairs) {
    return core::visit_kind<TiledMetrics>(task.metric.kind, task.metric.p, [&](auto each) {
      launch_scan_by<T, decltype(each)>(path, task, processors, launch);
    });
  }
  constexpr std::uint64_t kResident = 4, kFewestTiles = 1;
  const std::uint32_t blocks =
      scan_blocks(task.queries.count, kAnyWarps, task.end_tile - task.first_tile, processors * kResident, kFewestTiles);
  launch(scan_any<T>, blocks, kAnyWarps * kWarp, sizeof(AnyStorage<T>), task);
}

}  // namespace kith::cuda
