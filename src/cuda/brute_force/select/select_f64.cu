// Selection on the GPU for coordinates of type double.
#include "cuda/brute_force/select/select_launch.cuh"

namespace kith::cuda {

template SelectChoice select_entries(const SelectTask<double>&, SelectStrategy, const Stream&);

}  // namespace kith::cuda
