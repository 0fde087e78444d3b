// Approximate searches on the GPU for coordinates of type float.
#include "cuda/kd_tree/search/approximate/approximate_launch.cuh"

namespace kith::cuda {

template void search_knn_approximately(const ApproximateTask<float>&, const Stream&);

}  // namespace kith::cuda
