// The builder of k-d trees for coordinates of type double.
#include "cuda/kd_tree/build/tree_build.cuh"

namespace kith::cuda {

template class TreeBuild<double>;
template DeviceTree<double> build_device_tree(const PointSource<double>&, std::uint64_t, std::uint32_t, std::uint32_t,
                                              bool, Stream&, BuildPhases*, Builder);
template DeviceTree<double> start_device_tree(const PointSource<double>&, std::uint64_t, std::uint32_t, std::uint32_t,
                                              const Stream&);
template DeviceTree<double> build_device_tree_from_host(const double*, std::uint64_t, std::uint32_t, std::uint32_t,
                                                        bool, Stream&, const CopyOptions&, Builder);

}  // namespace kith::cuda
