// The builder of k-d trees for coordinates of type float.
#include "cuda/kd_tree/build/tree_build.cuh"

namespace kith::cuda {

template class TreeBuild<float>;
template DeviceTree<float> build_device_tree(const PointSource<float>&, std::uint64_t, std::uint32_t, std::uint32_t,
                                             bool, Stream&, BuildPhases*, Builder);
template DeviceTree<float> start_device_tree(const PointSource<float>&, std::uint64_t, std::uint32_t, std::uint32_t,
                                             const Stream&);
template DeviceTree<float> build_device_tree_from_host(const float*, std::uint64_t, std::uint32_t, std::uint32_t, bool,
                                                       Stream&, const CopyOptions&, Builder);

}  // namespace kith::cuda
