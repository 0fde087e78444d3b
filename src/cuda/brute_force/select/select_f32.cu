// Selection on the GPU for coordinates of type float.
#include "cuda/brute_force/select/select_launch.cuh"

namespace kith::cuda {

template SelectChoice select_entries(const SelectTask<float>&, SelectStrategy, const Stream&);

}  // namespace kith::cuda
