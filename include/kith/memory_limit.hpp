// How much memory builds and searches may take.
#pragma once

#include <kith/export.hpp>

#include <cstdint>

namespace kith::inline v0 {

/// While it lives, no build, search or other work that this thread starts takes more memory: it works in smaller
/// chunks, or throws OutOfMemory, which says how many bytes are needed and how many are allowed. Inside another limit
/// the smallest one counts. Limits end in any order, on the thread on which they began.
///
/// It is a limit for the memory of the device that does the work. On the CPU it counts the index that is built or
/// searched, answers that are allocated and temporary arrays, as `Index::plan` and `plan_job` do; the caller's own
/// points and queries only as far as `held` says so. On a GPU it counts all that this process has there through kith,
/// other indexes included, and host memory is not limited.
class KITH_EXPORT MemoryLimit {
 public:
  /// `bytes` 0: as many as before. `held`: bytes of host memory that are taken already, and count on the CPU.
  [[nodiscard]] explicit MemoryLimit(std::uint64_t bytes, std::uint64_t held = 0);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  static void recompute();

  std::uint64_t bytes_, held_;
  MemoryLimit* older_;  ///< the one that this thread began before it and has not ended
};

}  // namespace kith::inline v0
