// See build.hpp. Here is the memory of the tree; what fills it lies in builders/.
#include "cpu/kd_tree/build.hpp"

#include "cpu/kd_tree/builders/builders.hpp"

#include <kith/tuning.hpp>

#include <cstring>
#include <memory>
#include <utility>

namespace kith::cpu {

namespace {

/// Arrays of the right size, of which a builder fills those of the nodes.
template <typename T>
KdTree<T> empty_tree(KdStorage<T>& storage, std::uint64_t count, std::uint32_t dims, const KdBuildOptions& options) {
  KdTree<T> tree;
  tree.geometry = core::KdGeometry::of(count, options.leaf_size);
  tree.dims = dims;
  tree.leaf_size = options.leaf_size;
  tree.cycles = options.cycles;
  tree.point_bytes = KdTree<T>::point_bytes_of(dims);
  const std::uint64_t leaves = tree.geometry.leaves();
  const std::uint64_t block_bytes = count * tree.point_bytes;
  storage.blocks = runtime::LargeBuffer(block_bytes + kBlockSlack);
  std::memset(storage.blocks.data() + block_bytes, 0, kBlockSlack);
  storage.split_dims.resize(leaves - 1);
  storage.split_values.resize(leaves - 1);
  tree.blocks = {storage.blocks.data(), block_bytes};
  tree.split_dims = storage.split_dims;
  tree.split_values = storage.split_values;
  return tree;
}

/// Where none is named: histogram, but presort in 2 dims where the machine's profile says so.
Builder builder_for(const KdBuildOptions& options, std::uint64_t count, std::uint32_t dims) {
  const bool is_open = options.builder == Builder::automatic;
  return is_open && dims == 2 && count <= tuning().presort_points ? Builder::presort : options.builder;
}

}  // namespace

template <typename T>
KdTree<T> build_kd_tree(const T* rows, std::uint64_t count, std::uint32_t dims, const KdBuildOptions& options) {
  auto storage = std::make_shared<KdStorage<T>>();
  KdTree<T> tree = empty_tree(*storage, count, dims, options);
  TreeFrame<T> frame(tree, *storage, options);
  switch (builder_for(options, count, dims)) {
    case Builder::presort:
      build_by_presort(frame, rows);
      break;
    case Builder::select:
      build_by_select(frame, rows);
      break;
    case Builder::segsort:
      build_by_segsort(frame, rows);
      break;
    default:
      build_by_histogram(frame, rows);
  }
  tree.owner = std::move(storage);
  return tree;
}

template <typename T>
KdTree<T> arrange_kd_tree(const KdOrder<T>& order, std::uint64_t count, std::uint32_t dims,
                          const KdBuildOptions& options) {
  auto storage = std::make_shared<KdStorage<T>>();
  KdTree<T> tree = empty_tree(*storage, count, dims, options);
  TreeFrame<T> frame(tree, *storage, options);
  arrange_in_order(frame, order);
  tree.owner = std::move(storage);
  return tree;
}

template <typename T>
std::uint64_t kd_build_storage(const core::KdGeometry& geometry, std::uint32_t dims, const KdBuildOptions& options) {
  const TreeToBuild tree{geometry, dims, options.threads};
  switch (builder_for(options, geometry.points, dims)) {
    case Builder::presort:
      return presort_storage<T>(tree);
    case Builder::select:
      return select_storage<T>(tree);
    case Builder::segsort:
      return segsort_storage<T>(tree);
    default:
      return histogram_storage<T>(tree);
  }
}

template std::uint64_t kd_build_storage<float>(const core::KdGeometry&, std::uint32_t, const KdBuildOptions&);
template std::uint64_t kd_build_storage<double>(const core::KdGeometry&, std::uint32_t, const KdBuildOptions&);
template KdTree<float> build_kd_tree(const float*, std::uint64_t, std::uint32_t, const KdBuildOptions&);
template KdTree<double> build_kd_tree(const double*, std::uint64_t, std::uint32_t, const KdBuildOptions&);
template KdTree<float> arrange_kd_tree(const KdOrder<float>&, std::uint64_t, std::uint32_t, const KdBuildOptions&);
template KdTree<double> arrange_kd_tree(const KdOrder<double>&, std::uint64_t, std::uint32_t, const KdBuildOptions&);

}  // namespace kith::cpu
