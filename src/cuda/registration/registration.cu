// See registration.hpp.
#include "cuda/registration/registration.hpp"

#include "cuda/registration/cloud_kernels.cuh"
#include "cuda/registration/refine_few_kernel.cuh"
#include "cuda/registration/refine_kernel.cuh"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/device_facts.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::cuda {
namespace {

constexpr std::uint32_t kThreads = 128;

std::uint32_t blocks_for(std::uint64_t items, std::uint32_t threads) {
  constexpr std::uint64_t kMost = 1 << 16;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((items + threads - 1) / threads, 1, kMost));
}

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
            bool is_cooperative, const Stream& stream, const Arguments&... arguments) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream.get();
  config.attrs = &cooperative;
  config.numAttrs = is_cooperative ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "registering clouds");
}

std::uint32_t resident_blocks(const void* kernel, std::size_t shared_bytes, int device) {
  int per_processor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, core::kSumBlock, shared_bytes),
        "registering clouds");
  return processors_of(device) * static_cast<std::uint32_t>(per_processor);
}

/// The fewest points of a block such that hardly any multiprocessor has two; 0: there are too many points.
std::uint32_t few_per_block(std::uint64_t points, std::uint32_t resident, int device) {
  const std::uint32_t processors = processors_of(device), most = std::min(resident, processors + processors / 4);
  if (core::sum_blocks(points) > kMostFewBlocks) return 0;
  for (std::uint32_t each = core::kSumGroup; each <= core::kSumBlock; each *= 2) {
    if ((points + each - 1) / each <= most) return each;
  }
  return 0;
}

template <typename T, std::uint32_t kDims, int Unknowns>
void refine_many(const RefineTask<T>& task, const Stream& stream) {
  constexpr std::size_t kShared = sizeof(RefineShared<Unknowns>);
  const auto kernel = refine_stage<T, kDims, Unknowns>;
  const std::uint64_t resident = resident_blocks(reinterpret_cast<const void*>(kernel), kShared, stream.device());
  const auto blocks = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(core::sum_blocks(task.points), 1, std::max<std::uint64_t>(resident, 1)));
  launch(kernel, blocks, core::kSumBlock, kShared, true, stream, task);
  if (task.surfaces == nullptr) return;
  RefineTask<T> along_normals = task;  // the state has ended: only the sums are made anew
  along_normals.rule.pair.error = core::PairError::plane;
  along_normals.total = task.surfaces;
  along_normals.counters = task.counters + 2;
  launch(kernel, blocks, core::kSumBlock, kShared, true, stream, along_normals);
}

template <typename T, std::uint32_t kDims, int Unknowns>
void refine(const RefineTask<T>& task, const Stream& stream) {
  constexpr std::size_t kShared = sizeof(FewShared<T, kDims, Unknowns>);
  const auto kernel = refine_few<T, kDims, Unknowns>;
  const auto* const address = reinterpret_cast<const void*>(kernel);
  const std::uint32_t each =
      few_per_block(task.points, resident_blocks(address, kShared, stream.device()), stream.device());
  if (each == 0) return refine_many<T, kDims, Unknowns>(task, stream);
  const auto blocks = static_cast<std::uint32_t>((task.points + each - 1) / each);
  launch(kernel, blocks, core::kSumBlock, kShared, true, stream, task, each);
}

template <int N, typename Item>
void total(const Item& item, std::uint64_t count, double* scratch, double* sum, const Stream& stream) {
  struct Shared {
    bool is_last;
    TotalShared<N> total;
  };
  DeviceBuffer<std::uint32_t> counter(1, stream);
  check(cudaMemsetAsync(counter.data(), 0, sizeof(std::uint32_t), stream.get()), "writing zeros");
  launch(total_items<N, Item>, blocks_for(count, core::kSumBlock), core::kSumBlock, sizeof(Shared), false, stream, item,
         count, scratch, sum, counter.data());
}

}  // namespace

template <typename T>
void refine_on_device(const RefineTask<T>& task, int unknowns, const Stream& stream) {
  if (task.tree.dims == 2) {
    return unknowns == 7 ? refine<T, 2, 7>(task, stream) : refine<T, 2, 6>(task, stream);
  }
  unknowns == 7 ? refine<T, 3, 7>(task, stream) : refine<T, 3, 6>(task, stream);
}

template <typename T>
void fit_planes_on_device(const T* rows, std::uint64_t count, std::uint32_t dims, const std::uint32_t* lists,
                          std::uint32_t k, T* normals, T* curvatures, const Stream& stream) {
  launch(dims == 2 ? fit_planes<T, 2> : fit_planes<T, 3>, blocks_for(count, kThreads), kThreads, 0, false, stream, rows,
         count, lists, k, normals, curvatures);
}

template <typename T>
void find_box_on_device(const T* rows, std::uint64_t count, std::uint32_t dims, OrderedKey<T>* box,
                        const Stream& stream) {
  constexpr std::uint32_t kMostBlocks = 512;
  check(cudaMemsetAsync(box, 0xff, dims * sizeof(OrderedKey<T>), stream.get()), "writing a box");
  check(cudaMemsetAsync(box + dims, 0, dims * sizeof(OrderedKey<T>), stream.get()), "writing a box");
  launch(dims == 2 ? find_box<T, 2> : find_box<T, 3>, std::min(blocks_for(count, kThreads), kMostBlocks), kThreads, 0,
         false, stream, rows, count, box);
}

template <typename T>
void sum_places_on_device(const T* rows, std::uint64_t count, std::uint32_t dims, const OrderedKey<T>* box,
                          double* scratch, double* sum, const Stream& stream) {
  if (dims == 2) {
    total<4>(PlaceTerms<T, 2>{rows, box}, count, scratch, sum, stream);
  } else {
    total<4>(PlaceTerms<T, 3>{rows, box}, count, scratch, sum, stream);
  }
}

template <typename T>
void sum_values_on_device(const T* values, std::uint64_t step, std::uint64_t count, double* scratch, double* sum,
                          const Stream& stream) {
  total<1>(ValueTerms<T>{values, step}, count, scratch, sum, stream);
}

#define KITH_INSTANTIATE(T)                                                                                           \
  template void refine_on_device(const RefineTask<T>&, int, const Stream&);                                           \
  template void fit_planes_on_device(const T*, std::uint64_t, std::uint32_t, const std::uint32_t*, std::uint32_t, T*, \
                                     T*, const Stream&);                                                              \
  template void find_box_on_device(const T*, std::uint64_t, std::uint32_t, OrderedKey<T>*, const Stream&);            \
  template void sum_places_on_device(const T*, std::uint64_t, std::uint32_t, const OrderedKey<T>*, double*, double*,  \
                                     const Stream&);                                                                  \
  template void sum_values_on_device(const T*, std::uint64_t, std::uint64_t, double*, double*, const Stream&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::cuda
