// The builder of cover trees for vectors.
#include "cuda/cover_tree/build_space.cuh"
#include "cuda/cover_tree/vector_space.cuh"

namespace kith::cuda {

template DeviceCoverTree build_cover_tree(const VectorSpace<float>&, const std::uint32_t*, std::uint32_t,
                                          std::uint32_t, const Stream&, BuildPhases*);
template DeviceCoverTree build_cover_tree(const VectorSpace<double>&, const std::uint32_t*, std::uint32_t,
                                          std::uint32_t, const Stream&, BuildPhases*);

}  // namespace kith::cuda
