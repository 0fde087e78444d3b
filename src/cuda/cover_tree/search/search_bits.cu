// Searches in a cover tree of rows of bits, and of sequences of one length.
#include "cuda/cover_tree/spaces/bit_space.cuh"
#include "cuda/cover_tree/spaces/hamming_space.cuh"
#include "cuda/cover_tree/search/search_launch.cuh"

namespace kith::cuda {

template void search_cover_knn(const CoverKnnTask<BitSpace>&, const Stream&);
template void search_cover_radius(const CoverRadiusTask<BitSpace>&, bool, const Stream&);
template void search_cover_knn(const CoverKnnTask<HammingSpace>&, const Stream&);
template void search_cover_radius(const CoverRadiusTask<HammingSpace>&, bool, const Stream&);

}  // namespace kith::cuda
