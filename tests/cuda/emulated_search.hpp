// Searches whose kernels run on the host: how they are launched, and what they get of a question.
#pragma once

#include "cuda/kd_tree/search/search_steps.cuh"

#include "cuda/emulation/grid.hpp"
#include "cuda/search_question.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace kith::test {

/// Few blocks, however many a GPU would get; scans need theirs.
inline const auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                               auto... arguments) {
  const std::uint32_t few = threads == cuda::kScanThreads ? blocks : std::min(blocks, 2u);
  cuda::emulation::run_grid(few, threads, shared_bytes, cuda::emulation::Residence::one_by_one,
                            [&] { kernel(arguments...); });
};

template <typename T>
cuda::SearchTree<T> search_tree(const engine::KdTree<T>& tree) {
  cuda::SearchTree<T> view;
  view.blocks = tree.blocks.data();
  view.split_dims = tree.split_dims.data();
  view.split_values = tree.split_values.data();
  view.boxes = tree.boxes.data();
  view.smallest = tree.smallest.data();
  view.geometry = tree.geometry;
  view.dims = tree.dims;
  view.point_bytes = tree.point_bytes;
  return view;
}

inline cuda::SearchFilter search_filter(const engine::PointFilter& filter) {
  return {filter.exclude_self, filter.earlier_only, filter.below, filter.allowed};
}

template <typename T>
cuda::SearchMetric<T> search_metric(const SearchQuestion<T>& question) {
  return {question.metric.kind(), question.metric.p(), question.period.empty() ? nullptr : question.period.data()};
}

/// The queries in the order of the leaves, or as they come.
template <typename T>
cuda::QuerySource<T> query_source(const SearchQuestion<T>& question, bool is_ordered,
                                  std::vector<std::uint32_t>& order) {
  cuda::QuerySource<T> source;
  source.count = question.batch.count;
  if (question.batch.is_self()) return source;
  source.rows = question.batch.rows;
  source.row_stride = static_cast<std::uint64_t>(question.batch.row_stride);
  if (!is_ordered) return source;
  const cuda::OrderLayout layout(question.tree.geometry.leaves(), source.count);
  std::vector<std::uint32_t> scratch(layout.words, 0xa5a5a5a5);
  std::fill_n(scratch.begin(), layout.sums_at, 0);
  order.assign(source.count, 0xffffffff);
  cuda::launch_order_steps(search_tree(question.tree), source.rows, source.row_stride, source.count, scratch.data(),
                           order.data(), kLaunch);
  source.chosen = order.data();
  return source;
}

template <typename V>
void expect_same_bytes(const std::vector<V>& found, const std::vector<V>& expected, const char* what) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(V)), 0)
        << what << " " << i << ": " << found[i] << " instead of " << expected[i];
  }
}

}  // namespace kith::test
