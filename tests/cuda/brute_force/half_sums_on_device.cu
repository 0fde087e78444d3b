// See half_sums_on_device.hpp.
#include "cuda/brute_force/half_sums_on_device.hpp"

#include "cuda/on_device.hpp"
#include "cuda/brute_force/half_sums.cuh"

namespace kith::test {

std::vector<std::uint16_t> half_sums_on_device(const HalfSumRowsOf16& rows) {
  const DeviceArray<std::uint16_t> a(rows.a), b(rows.b), first(rows.first), sums(std::vector<std::uint16_t>(16 * 8));
  give_out_half_sums<std::uint16_t><<<1, 32>>>(a.data(), b.data(), first.data(), sums.data());
  require_success(cudaGetLastError());
  require_success(cudaDeviceSynchronize());
  return sums.values();
}

}  // namespace kith::test
