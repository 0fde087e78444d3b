// Copies between ordinary host memory and a GPU at the speed of the bus: through two pinned buffers, so that the
// threads that fill one and the copy engine that empties the other work at the same time.
#pragma once

#include "cuda/runtime/stream.hpp"
#include "engine/searcher.hpp"

#include <kith/progress.hpp>
#include <kith/work_times.hpp>

#include <cstdint>
#include <string_view>

namespace kith::cuda {

/// How a copy runs and reports.
struct CopyOptions {
  int threads = 0;  ///< on the host; 0 means all cores
  std::string_view stage = "copying";
  const ProgressCallback* progress = nullptr;  ///< gets bytes
  /// Gets the time of copies, and the time until the work before a copy to the host is done. May be null.
  WorkTimes* times = nullptr;

  /// Copies that belong to a search: its progress is told otherwise.
  static CopyOptions of_search(const engine::RunOptions& run) { return {.threads = run.threads, .times = run.times}; }
  static CopyOptions of_build(const engine::RunOptions& run) {
    return {.threads = run.threads, .progress = run.progress, .times = run.times};
  }
};

/// Work that is put into the stream later finds the bytes on the device. The host's memory was read when this returns.
/// Throws DeviceError, OutOfMemory, Interrupted.
void copy_to_device(void* to, const void* from, std::uint64_t bytes, const Stream& stream, const CopyOptions& options);

/// What the work in the stream wrote is in the host's memory when this returns. Throws as copy_to_device.
void copy_to_host(void* to, const void* from, std::uint64_t bytes, const Stream& stream, const CopyOptions& options);

/// The same for rows of `row_bytes` that begin `pitch` (at least row_bytes) bytes apart on the device; on the host they
/// lie side by side.
void copy_rows_to_host(void* to, const void* from, std::uint64_t row_bytes, std::uint64_t pitch, std::uint64_t rows,
                       const Stream& stream, const CopyOptions& options);

}  // namespace kith::cuda
