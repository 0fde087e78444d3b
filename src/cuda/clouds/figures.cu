// See figures.hpp.
#include "cuda/clouds/figures.hpp"

#include "cuda/clouds/figure_kernels.cuh"
#include "cuda/primitives/sum_counts.hpp"
#include "cuda/primitives/sums_before.cuh"
#include "cuda/registration/cloud_kernels.cuh"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/step_device.hpp"

#include <algorithm>

namespace kith::cuda {
namespace {

constexpr const char* kDoing = "measuring clouds";

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), std::uint64_t items, const Stream& stream, const Arguments&... arguments) {
  StepDevice device(stream, kDoing, nullptr);
  const std::uint64_t blocks = std::min<std::uint64_t>(items / kFigureThreads + 1, device.resident_blocks());
  device.launch(kernel, static_cast<std::uint32_t>(blocks), kFigureThreads, 0, arguments...);
}

/// In the order of core/cloud/ordered_sum.hpp.
template <int N, typename Item>
void add_up(const Item& item, std::uint64_t count, double* total, const Stream& stream) {
  struct Shared {
    bool is_last;
    TotalShared<N> total;
  };
  StepDevice device(stream, kDoing, nullptr);
  DeviceBuffer<double> scratch(total_scratch(count, N), stream);
  DeviceBuffer<std::uint32_t> counter(1, stream);
  device.zero(counter.data(), counter.bytes());
  const std::uint64_t blocks = std::clamp<std::uint64_t>(core::sum_blocks(count), 1, device.resident_blocks());
  device.launch(total_items<N, Item>, static_cast<std::uint32_t>(blocks), core::kSumBlock, sizeof(Shared), item, count,
                scratch.data(), total, counter.data());
}

}  // namespace

template <typename T>
void look_for_nonfinite_on_device(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t dims,
                                  std::uint32_t* bad, const Stream& stream) {
  launch(look_for_nonfinite<T>, count, stream, rows, row_stride, count, dims, bad);
}

template <typename T>
void take_nearest_on_device(const NearestTask<T>& task, const Stream& stream) {
  launch(take_nearest<T>, task.count, stream, task);
  launch(find_first_most<T>, task.count, stream, task);
  add_up<2>(NearestTerms<T>{task.found, task.distances, task.points}, task.count, task.facts->sums, stream);
}

template <typename T>
void mean_lists_on_device(const T* distances, std::uint64_t count, std::uint32_t k, std::uint32_t skip, double* means,
                          const Stream& stream) {
  launch(mean_lists<T>, count, stream, distances, count, k, skip, means);
}

void sum_on_device(const double* values, std::uint64_t count, double* sum, const Stream& stream) {
  add_up<1>(MeanTerms{values}, count, sum, stream);
}

void sum_spread_on_device(const double* values, double mean, std::uint64_t count, double* sum, const Stream& stream) {
  add_up<1>(SpreadTerms{values, mean}, count, sum, stream);
}

void flag_outliers_on_device(const FlagTask& task, std::uint32_t* kept, const Stream& stream) {
  launch(flag_outliers, task.count, stream, task);
  StepDevice device(stream, kDoing, nullptr);
  DeviceBuffer<std::uint32_t> sums(sum_tiles_of(task.count) + 2, stream);
  launch_sums_before(task.kept, task.count, sums.data(), task.kept, true,
                     [&](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared,
                         auto... arguments) { device.launch(kernel, blocks, threads, shared, arguments...); });
  if (kept != nullptr) {
    launch(list_kept, task.count, stream, static_cast<const std::uint32_t*>(task.kept), task.count, kept);
  }
}

#define KITH_INSTANTIATE(T)                                                                                         \
  template void look_for_nonfinite_on_device(const T*, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t*, \
                                             const Stream&);                                                        \
  template void take_nearest_on_device(const NearestTask<T>&, const Stream&);                                       \
  template void mean_lists_on_device(const T*, std::uint64_t, std::uint32_t, std::uint32_t, double*, const Stream&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::cuda
