// See sum_counts.hpp.
#include "cuda/primitives/sum_counts.hpp"

#include "cuda/runtime/device_buffer.hpp"
#include "cuda/queries/search_launcher.cuh"
#include "cuda/primitives/sums_before.cuh"

namespace kith::cuda {

void sum_counts(const std::uint32_t* counts, std::uint64_t count, std::uint64_t* starts, const Stream& stream) {
  DeviceBuffer<std::uint64_t> sums(sum_tiles_of(count) + 2, stream);
  launch_sums_before(counts, count, sums.data(), starts, true, SearchLauncher(stream));
}

}  // namespace kith::cuda
