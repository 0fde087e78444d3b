// Runs a kernel on the host, thread by thread: see emulation/cuda/intrinsics.cuh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace kith::cuda::emulation {

/// How many blocks exist at a time, and the order of those that come one by one.
enum class Residence : std::uint8_t { one_by_one, all_together, last_first };

/// The shared memory that a block may have: as on the largest GPUs, unless there is a SharedLimit.
std::uint32_t shared_limit();

/// A smaller GPU while it lives; for this thread.
class SharedLimit {
 public:
  explicit SharedLimit(std::uint32_t bytes);
  ~SharedLimit();
  SharedLimit(const SharedLimit&) = delete;
  SharedLimit& operator=(const SharedLimit&) = delete;

 private:
  std::uint32_t before_;
};

/// Calls `kernel` once for each thread. Blocks run one by one, in either order, or all together if they wait for each
/// other. Shared memory is filled with garbage first. Throws std::logic_error if a block asks for more than
/// `shared_limit()`, or if the threads wait for each other forever.
void run_grid(std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes, Residence residence,
              const std::function<void()>& kernel);

}  // namespace kith::cuda::emulation
