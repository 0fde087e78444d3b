// See pairs.hpp.
#include "cuda/registration/pairs.hpp"

#include "cuda/registration/prepare_clouds.cuh"
#include "cuda/registration/refine_pairs.cuh"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {
namespace {

template <typename Kernel, typename... Arguments>
void launch_blocks(Kernel* kernel, std::uint32_t blocks, std::size_t shared_bytes, const Stream& stream,
                   const Arguments&... arguments) {
  allow_shared_memory(reinterpret_cast<const void*>(kernel), stream.device(), shared_bytes);
  kernel<<<blocks, core::kSumBlock, shared_bytes, stream.get()>>>(arguments...);
  check(cudaGetLastError(), "registering pairs");
}

template <typename T, std::uint32_t kDims>
void prepare(const CloudTask<T>* tasks, std::uint32_t clouds, std::uint32_t most_points, std::uint32_t neighbors,
             CloudFacts<T>* facts, const Stream& stream) {
  const auto kernel = neighbors <= 2    ? prepare_clouds<T, kDims, 2>
                      : neighbors <= 16 ? prepare_clouds<T, kDims, 16>
                                        : prepare_clouds<T, kDims, kMostSmallNeighbors>;
  launch_blocks(kernel, clouds, PrepareShared<T, kDims>::bytes(most_points), stream, tasks, facts);
}

template <typename T, std::uint32_t kDims, int Unknowns>
void refine(const PairTask<T>* tasks, std::uint32_t pairs, std::uint32_t most_points, std::uint32_t most_targets,
            const Stream& stream) {
  launch_blocks(refine_pairs<T, kDims, Unknowns>, pairs,
                PairShared<Unknowns>::template bytes<T, kDims>(most_points, most_targets), stream, tasks);
}

template <typename T, std::uint32_t kDims>
std::uint32_t shared_bytes_in(std::uint32_t most_points, std::uint32_t most_targets) {
  return std::max(PrepareShared<T, kDims>::bytes(std::max(most_points, most_targets)),
                  PairShared<7>::bytes<T, kDims>(most_points, most_targets));
}

}  // namespace

template <typename T>
std::uint32_t shared_bytes_of_pairs(std::uint32_t dims, std::uint32_t most_points, std::uint32_t most_targets) {
  return dims == 2 ? shared_bytes_in<T, 2>(most_points, most_targets)
                   : shared_bytes_in<T, 3>(most_points, most_targets);
}

template <typename T>
void prepare_clouds_on_device(const CloudTask<T>* tasks, std::uint32_t clouds, std::uint32_t dims,
                              std::uint32_t most_points, std::uint32_t neighbors, CloudFacts<T>* facts,
                              const Stream& stream) {
  if (dims == 2) return prepare<T, 2>(tasks, clouds, most_points, neighbors, facts, stream);
  prepare<T, 3>(tasks, clouds, most_points, neighbors, facts, stream);
}

template <typename T>
void refine_pairs_on_device(const PairTask<T>* tasks, std::uint32_t pairs, std::uint32_t dims, int unknowns,
                            std::uint32_t most_points, std::uint32_t most_targets, const Stream& stream) {
  if (dims == 2) {
    return unknowns == 7 ? refine<T, 2, 7>(tasks, pairs, most_points, most_targets, stream)
                         : refine<T, 2, 6>(tasks, pairs, most_points, most_targets, stream);
  }
  unknowns == 7 ? refine<T, 3, 7>(tasks, pairs, most_points, most_targets, stream)
                : refine<T, 3, 6>(tasks, pairs, most_points, most_targets, stream);
}

#define KITH_INSTANTIATE(T)                                                                                  \
  template std::uint32_t shared_bytes_of_pairs<T>(std::uint32_t, std::uint32_t, std::uint32_t);              \
  template void prepare_clouds_on_device(const CloudTask<T>*, std::uint32_t, std::uint32_t, std::uint32_t,   \
                                         std::uint32_t, CloudFacts<T>*, const Stream&);                      \
  template void refine_pairs_on_device(const PairTask<T>*, std::uint32_t, std::uint32_t, int, std::uint32_t, \
                                       std::uint32_t, const Stream&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::cuda
