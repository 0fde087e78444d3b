// Approximate searches on the GPU for coordinates of type double.
#include "cuda/kd_tree/search/approximate/approximate_launch.cuh"

namespace kith::cuda {

template void search_knn_approximately(const ApproximateTask<double>&, const Stream&);

}  // namespace kith::cuda
