// See build.hpp. PLACEHOLDER: reports that trees cannot be built yet, so that the rest links.
#include "cuda/kd_tree/build.hpp"

#include "engine/kd_tree/kd_tree.hpp"

#include <kith/error.hpp>

namespace kith::cuda {

template <typename T>
BuildMemory build_memory(const TreeShape& shape, std::uint32_t, bool points_are_on_device) {
  const std::uint64_t tree = engine::KdTree<T>::bytes_of(shape.geometry, shape.dims);
  const std::uint64_t rows = shape.geometry.points * shape.dims * sizeof(T);
  return {tree, tree + 2 * rows + (points_are_on_device ? 0 : rows)};
}

template <typename T>
DeviceTree<T> build_device_tree(const PointSource<T>&, std::uint64_t, std::uint32_t, std::uint32_t, bool, Stream&,
                                BuildPhases*) {
  throw DeviceError("trees cannot be built on a GPU yet");
}

template <typename T>
DeviceTree<T> build_device_tree_from_host(const T*, std::uint64_t, std::uint32_t, std::uint32_t, bool, Stream&, int,
                                          const ProgressCallback*) {
  throw DeviceError("trees cannot be built on a GPU yet");
}

template BuildMemory build_memory<float>(const TreeShape&, std::uint32_t, bool);
template BuildMemory build_memory<double>(const TreeShape&, std::uint32_t, bool);
template DeviceTree<float> build_device_tree(const PointSource<float>&, std::uint64_t, std::uint32_t, std::uint32_t,
                                             bool, Stream&, BuildPhases*);
template DeviceTree<double> build_device_tree(const PointSource<double>&, std::uint64_t, std::uint32_t, std::uint32_t,
                                              bool, Stream&, BuildPhases*);
template DeviceTree<float> build_device_tree_from_host(const float*, std::uint64_t, std::uint32_t, std::uint32_t, bool,
                                                       Stream&, int, const ProgressCallback*);
template DeviceTree<double> build_device_tree_from_host(const double*, std::uint64_t, std::uint32_t, std::uint32_t,
                                                        bool, Stream&, int, const ProgressCallback*);

}  // namespace kith::cuda
