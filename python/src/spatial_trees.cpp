// SpatialTree for Python: its nodes as arrays, and counts of pairs between two.
#include "arrays.hpp"
#include "module.hpp"
#include "pair_counts.hpp"
#include "spatial_tree.hpp"
#include "thread_count.hpp"
#include "watched_call.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

void make_tree(SpatialTree* self, const nb::object& points, std::int64_t leaf_size, bool balanced, bool compact) {
  const Rows rows(points, "points");
  if (rows.view().dtype() != DType::f64) throw nb::type_error("points must be float64");
  Watch watch;
  watch.run([&] { new (self) SpatialTree(rows.view(), {leaf_size, balanced, compact}, thread_count(0)); });
}

/// One field of all nodes.
template <typename T>
nb::object node_array(const SpatialTree& tree, T TreeNode::*field) {
  const FreshArray<T> array({tree.nodes().size()});
  std::transform(tree.nodes().begin(), tree.nodes().end(), array.values,
                 [field](const TreeNode& node) { return node.*field; });
  return array.array;
}

nb::dict nodes(const SpatialTree& tree) {
  nb::dict arrays;
  arrays["split_dim"] = node_array(tree, &TreeNode::split_dim);
  arrays["split"] = node_array(tree, &TreeNode::split);
  arrays["start"] = node_array(tree, &TreeNode::start);
  arrays["end"] = node_array(tree, &TreeNode::end);
  arrays["lesser"] = node_array(tree, &TreeNode::lesser);
  arrays["greater"] = node_array(tree, &TreeNode::greater);
  return arrays;
}

nb::object indices(const SpatialTree& tree) {
  const FreshArray<std::int64_t> array({tree.indices().size()});
  std::copy(tree.indices().begin(), tree.indices().end(), array.values);
  return array.array;
}

template <typename T>
nb::object copy_of(const std::vector<T>& values) {
  const FreshArray<T> array({values.size()});
  std::copy(values.begin(), values.end(), array.values);
  return array.array;
}

using MaybeWeights = std::optional<Values<double>>;

/// Counts of pairs for each radius, less those of the radius before; floats if there are weights.
nb::object pair_counts(const SpatialTree& first, const SpatialTree& second, const Values<double>& radii,
                       const std::string& metric, const Values<double>& period, const MaybeWeights& first_weights,
                       const MaybeWeights& second_weights, int threads) {
  if (first.dims() != second.dims()) throw nb::value_error("the trees have different dims");
  if (period.size() != 0 && period.size() != first.dims()) throw nb::value_error("one length is needed for each dim");
  if (!std::is_sorted(radii.data(), radii.data() + radii.size())) throw nb::value_error("the radii must ascend");
  Watch watch;
  const PairRequest request{first,           second,  span_of(radii),  Metric::parse(metric),
                            span_of(period), threads, watch.callback()};
  if (!first_weights && !second_weights) return copy_of(watch.run([&] { return count_pairs(request); }));
  std::vector<double> ones(static_cast<std::size_t>(std::max(first.size(), second.size())), 1.0);
  const auto weights_of = [&](const SpatialTree& tree, const MaybeWeights& given) {
    const auto points = static_cast<std::size_t>(tree.size());
    if (!given) return std::span<const double>(ones).first(points);
    if (given->size() != points) throw nb::value_error("one weight is needed for each point");
    return span_of(*given);
  };
  const std::span<const double> mine = weights_of(first, first_weights);
  const std::span<const double> others = weights_of(second, second_weights);
  return copy_of(watch.run([&] { return weigh_pairs(request, mine, others); }));
}

}  // namespace

void bind_spatial_trees(nb::module_& module) {
  nb::class_<SpatialTree>(module, "SpatialTree")
      .def("__init__", &make_tree, "points"_a, "leaf_size"_a, "balanced"_a, "compact"_a)
      .def_prop_ro("size", [](const SpatialTree& tree) { return tree.nodes().size(); })
      .def("nodes", &nodes)
      .def("indices", &indices);
  module.def("pair_counts", &pair_counts, "first"_a, "second"_a, "radii"_a, "metric"_a, "period"_a,
             "first_weights"_a.none(), "second_weights"_a.none(), "threads"_a);
}

}  // namespace kith::python
