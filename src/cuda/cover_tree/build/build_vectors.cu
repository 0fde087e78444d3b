// See build_vectors.hpp.
#include "cuda/cover_tree/build/build_vectors.hpp"

#include "cuda/cover_tree/spaces/build_space.cuh"
#include "cuda/cover_tree/spaces/vector_space.cuh"

namespace kith::cuda {

template <typename T>
DeviceCoverTree build_cover_tree_of_vectors(const T* rows, std::uint32_t count, std::uint32_t dims, Metric::Kind kind,
                                            const CoverRules& rules, const Stream& stream, BuildPhases* phases) {
  return build_cover_tree(VectorSpace<T>(dims, kind), reinterpret_cast<const std::uint32_t*>(rows), count, rules,
                          stream, phases);
}

template DeviceCoverTree build_cover_tree_of_vectors(const float*, std::uint32_t, std::uint32_t, Metric::Kind,
                                                     const CoverRules&, const Stream&, BuildPhases*);
template DeviceCoverTree build_cover_tree_of_vectors(const double*, std::uint32_t, std::uint32_t, Metric::Kind,
                                                     const CoverRules&, const Stream&, BuildPhases*);

}  // namespace kith::cuda
