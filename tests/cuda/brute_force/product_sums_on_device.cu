// See product_sums_on_device.hpp.
#include "cuda/brute_force/product_sums_on_device.hpp"

#include "cuda/on_device.hpp"
#include "cuda/brute_force/hopper_sums.cuh"
#include "cuda/brute_force/product_sums.cuh"

namespace kith::test {
namespace {

constexpr auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                            auto... arguments) {
  kernel<<<blocks, threads, shared_bytes>>>(arguments...);
  require_success(cudaGetLastError());
};

/// Rows of the caller and room for what they become.
struct PackedOnDevice {
  DeviceArray<float> rows;
  DeviceArray<std::uint16_t> values;
  DeviceArray<float> terms, scales;
  cuda::PackTask task;

  PackedOnDevice(const std::vector<float>& from, std::uint32_t dims, const float* centre)
      : rows(from),
        values(std::vector<std::uint16_t>(capacity(from, dims) * cuda::product_padded_dims(dims), 0x7e00)),  // NaN
        terms(std::vector<float>(capacity(from, dims))),
        scales(std::vector<float>(capacity(from, dims))) {
    task.rows = rows.data();
    task.row_stride = dims;
    task.count = from.size() / dims;
    task.dims = dims;
    task.centre = centre;
    task.values = values.data();
    task.terms = terms.data();
    task.scales = scales.data();
  }
  static std::uint64_t capacity(const std::vector<float>& rows, std::uint32_t dims) {
    return cuda::padded_product_rows(rows.size() / dims);
  }
  ProductSums::Rows packed() const { return {values.values(), terms.values(), scales.values()}; }
};

}  // namespace

ProductSums product_sums_on_device(const ProductPairs& pairs, bool on_hopper) {
  const DeviceArray<float> centre(pairs.centre);
  const PackedOnDevice queries(pairs.queries, pairs.dims, centre.data());
  const PackedOnDevice points(pairs.points, pairs.dims, centre.data());
  const DeviceArray<float> sums(std::vector<float>(kPairQueries * kPairPoints, NAN));
  if (on_hopper) {
    launch_hopper_sums(queries.task, points.task, sums.data(), kLaunch);
  } else {
    launch_product_sums(queries.task, points.task, sums.data(), kLaunch);
  }
  require_success(cudaDeviceSynchronize());
  return {queries.packed(), points.packed(), sums.values()};
}

bool has_hopper_sums() { return cuda::can_filter_on_hopper(0, 1024); }

}  // namespace kith::test
