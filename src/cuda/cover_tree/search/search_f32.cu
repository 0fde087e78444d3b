// Searches in a cover tree of vectors of floats.
#include "cuda/cover_tree/spaces/vector_space.cuh"
#include "cuda/cover_tree/search/search_launch.cuh"

namespace kith::cuda {

template void search_cover_knn(const CoverKnnTask<VectorSpace<float>>&, const Stream&);
template void search_cover_radius(const CoverRadiusTask<VectorSpace<float>>&, bool, const Stream&);

}  // namespace kith::cuda
