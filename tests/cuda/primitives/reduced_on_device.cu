// See reduced_on_device.hpp.
#include "cuda/primitives/reduced_on_device.hpp"

#include "core/arithmetic.hpp"
#include "core/metric/reduced_distance.hpp"
#include "core/order/nearest_list.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace kith::test {
namespace {

void check(cudaError_t status, const char* doing) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(doing) + ": " + cudaGetErrorString(status));
}

/// Device memory that copies in and out.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T)), "allocating"); }
  explicit OnDevice(const std::vector<T>& values) : OnDevice(values.size()) {
    check(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copying in");
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* data() { return data_; }
  std::vector<T> values() const {
    std::vector<T> out(count_);
    check(cudaMemcpy(out.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copying out");
    return out;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

constexpr std::uint32_t kMostDims = 64;

template <typename T>
KITH_HOST_DEVICE PairResult<T> pair_result(const T* rows, std::uint32_t dims, std::uint32_t pair, std::uint32_t pairs) {
  const T* query = rows + std::size_t{2} * pair * dims;
  const T* point = query + dims;
  const T* other = rows + std::size_t{2} * ((pair + 1) % pairs) * dims;
  T lower[kMostDims], upper[kMostDims];
  for (std::uint32_t d = 0; d < dims; ++d) {
    lower[d] = point[d] < other[d] ? point[d] : other[d];
    upper[d] = point[d] < other[d] ? other[d] : point[d];
  }
  PairResult<T> result;
  result.l2 = core::reduced_distance(core::L2{}, query, point, dims);
  result.l1 = core::reduced_distance(core::L1{}, query, point, dims);
  result.linf = core::reduced_distance(core::Linf{}, query, point, dims);
  result.root = core::square_root(result.l2);
  result.box = core::reduced_to_box(core::L2{}, query, lower, upper, dims);
  return result;
}

template <typename T>
__global__ void compute_pairs(const T* rows, std::uint32_t dims, std::uint32_t pairs, PairResult<T>* results) {
  const std::uint32_t pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair < pairs) results[pair] = pair_result(rows, dims, pair, pairs);
}

__global__ void fill_list(const core::Candidate<float>* offered, std::uint32_t count, std::uint32_t capacity,
                          core::Candidate<float>* storage) {
  core::NearestList<float> list(storage, capacity);
  for (std::uint32_t i = 0; i < count; ++i) list.offer(offered[i]);
}

}  // namespace

template <typename T>
std::vector<PairResult<T>> pairs_on_device(const std::vector<T>& rows, std::uint32_t dims) {
  const auto pairs = static_cast<std::uint32_t>(rows.size() / dims / 2);
  OnDevice<T> input(rows);
  OnDevice<PairResult<T>> output(pairs);
  constexpr unsigned kThreads = 128;
  compute_pairs<<<(pairs + kThreads - 1) / kThreads, kThreads>>>(input.data(), dims, pairs, output.data());
  check(cudaGetLastError(), "launching");
  check(cudaDeviceSynchronize(), "computing pairs");
  return output.values();
}

template <typename T>
std::vector<PairResult<T>> pairs_on_host(const std::vector<T>& rows, std::uint32_t dims) {
  const auto pairs = static_cast<std::uint32_t>(rows.size() / dims / 2);
  std::vector<PairResult<T>> results;
  for (std::uint32_t pair = 0; pair < pairs; ++pair) results.push_back(pair_result(rows.data(), dims, pair, pairs));
  return results;
}

std::vector<core::Candidate<float>> list_on_device(const std::vector<core::Candidate<float>>& offered,
                                                   std::uint32_t capacity) {
  OnDevice<core::Candidate<float>> input(offered);
  OnDevice<core::Candidate<float>> storage(capacity);
  fill_list<<<1, 1>>>(input.data(), static_cast<std::uint32_t>(offered.size()), capacity, storage.data());
  check(cudaGetLastError(), "launching");
  check(cudaDeviceSynchronize(), "filling a list");
  return storage.values();
}

template std::vector<PairResult<float>> pairs_on_device(const std::vector<float>&, std::uint32_t);
template std::vector<PairResult<double>> pairs_on_device(const std::vector<double>&, std::uint32_t);
template std::vector<PairResult<float>> pairs_on_host(const std::vector<float>&, std::uint32_t);
template std::vector<PairResult<double>> pairs_on_host(const std::vector<double>&, std::uint32_t);

}  // namespace kith::test
