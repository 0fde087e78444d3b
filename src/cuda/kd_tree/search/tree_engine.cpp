// See tree_engine.hpp: requests become tasks for a tree.
#include "cuda/kd_tree/search/tree_engine.hpp"

#include "cuda/kd_tree/search/packet/packet_types.hpp"
#include "cuda/kd_tree/search/search.hpp"

#include <fmt/format.h>

namespace kith::cuda {
namespace {

template <typename T>
SearchTree<T> search_tree(const DeviceTree<T>& tree) {
  SearchTree<T> view;
  view.blocks = tree.blocks.data();
  view.split_dims = tree.split_dims.data();
  view.split_values = tree.split_values.data();
  view.boxes = tree.boxes.data();
  view.smallest = tree.smallest.data();
  view.geometry = tree.shape.geometry;
  view.dims = tree.shape.dims;
  view.point_bytes = tree.shape.point_bytes;
  return view;
}

}  // namespace

template <typename T>
TreeEngine<T>::TreeEngine(const DeviceTree<T>& tree) : tree_(search_tree(tree)) {}

template <typename T>
void TreeEngine<T>::knn(const KnnRequest<T>& request, const engine::KnnRules<T>& rules, std::uint8_t* exact,
                        const Stream& stream) const {
  const KnnTask<T> task{request, tree_};
  if (rules.is_exact()) return search_knn(task, stream);
  search_knn_approximately(
      ApproximateTask<T>{.knn = task, .shrink = rules.shrink, .max_leaves = rules.max_leaves, .exact = exact}, stream);
}

template <typename T>
void TreeEngine<T>::count(const RadiusRequest<T>& request, const Stream& stream) const {
  count_within(RadiusTask<T>{request, tree_}, stream);
}
template <typename T>
void TreeEngine<T>::list(const RadiusRequest<T>& request, const Stream& stream) const {
  list_within(RadiusTask<T>{request, tree_}, stream);
}
template <typename T>
void TreeEngine<T>::count_in_boxes(const BoxRequest<T>& request, const Stream& stream) const {
  cuda::count_in_boxes(BoxTask<T>{request, tree_}, stream);
}
template <typename T>
void TreeEngine<T>::list_in_boxes(const BoxRequest<T>& request, const Stream& stream) const {
  cuda::list_in_boxes(BoxTask<T>{request, tree_}, stream);
}

template <typename T>
std::string TreeEngine<T>::explain(const engine::SearchShape& shape, const SearchMetric<T>& metric) const {
  static constexpr T kNothing{};  // stands for rows, which are not read
  const SearchFilter filter{shape.filter.exclude_self, shape.filter.earlier_only, shape.filter.below,
                            shape.filter.allowed};
  const QuerySource<T> queries{.rows = shape.is_self ? nullptr : &kNothing, .count = shape.queries};
  const auto by_warps = [](const char* faster, const char* reason) {
    return fmt::format("a warp per query; {} do not apply: {}", faster, reason);
  };
  if (shape.is_radius) {
    const RadiusTask<T> task{{.metric = metric, .filter = filter, .queries = queries}, tree_};
    const char* reason = why_no_packets(task);
    return reason == nullptr ? fmt::format("packets of {} queries", kPacketQueries) : by_warps("packets", reason);
  }
  const KnnTask<T> task{{.metric = metric, .filter = filter, .queries = queries, .k = shape.k}, tree_};
  if (!shape.is_exact) return "approximate, " + by_warps("packets", "their traversal has no order of its own");
  const char* reason = why_no_packets(task);
  if (reason != nullptr) return by_warps("packets", reason);
  const PacketTask<T> packets = packet_task(task, nullptr);
  return fmt::format("packets of {} queries, {}", kPacketQueries,
                     packets.finds_itself                             ? "each its own neighbour"
                     : kept_keys<T>(packets.wanted, packets.knn.tree) ? "lists of keys"
                                                                      : "collected points");
}

template <typename T>
void TreeEngine<T>::order_queries(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t* order,
                                  const Stream& stream) const {
  cuda::order_queries(tree_, rows, row_stride, count, order, stream);
}
template <typename T>
void TreeEngine<T>::choose_points(std::uint32_t first, std::uint32_t end, std::uint32_t* chosen,
                                  std::uint32_t* chosen_count, const Stream& stream) const {
  cuda::choose_points(tree_, first, end, chosen, chosen_count, stream);
}

template class TreeEngine<float>;
template class TreeEngine<double>;

}  // namespace kith::cuda
