// Searches in a cover tree of sets.
#include "cuda/cover_tree/spaces/jaccard_space.cuh"
#include "cuda/cover_tree/search/search_launch.cuh"

namespace kith::cuda {

template void search_cover_knn(const CoverKnnTask<JaccardSpace>&, const Stream&);
template void search_cover_radius(const CoverRadiusTask<JaccardSpace>&, bool, const Stream&);

}  // namespace kith::cuda
