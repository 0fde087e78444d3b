// The GPU's searches run on the host: requests put to the kernels, and answers compared with the CPU's.
#pragma once

#include "cuda/kd_tree/search/search_steps.cuh"

#include "cuda/queries/answer_storage.hpp"
#include "cuda/emulation/grid.hpp"
#include "cuda/kd_tree/search_request.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace kith::test {

/// Few blocks, however many a GPU would get; scans need theirs.
inline constexpr auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                                   auto... arguments) {
  const std::uint32_t few = threads == cuda::kSumThreads ? blocks : std::min(blocks, 2u);
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

/// The same with its points packed, which are put into `storage`.
template <typename T>
cuda::SearchTree<T> packed_tree(const cuda::SearchTree<T>& tree, std::vector<cuda::PackedWords>& storage) {
  storage.assign(cuda::packed_bytes(tree) / sizeof(cuda::PackedWords), {});
  return cuda::launch_pack_steps(tree, reinterpret_cast<std::byte*>(storage.data()), kLaunch);
}

inline cuda::SearchFilter search_filter(const engine::PointFilter& filter) {
  return {filter.exclude_self, filter.earlier_only, filter.below, filter.allowed};
}

template <typename T>
cuda::SearchMetric<T> search_metric(const SearchRequest<T>& request) {
  return cuda::SearchMetric<T>::of(request.metric, request.period.empty() ? nullptr : request.period.data());
}

/// The queries in the order of the leaves, or as they come.
template <typename T>
cuda::QuerySource<T> query_source(const SearchRequest<T>& request, bool is_ordered, std::vector<std::uint32_t>& order) {
  cuda::QuerySource<T> source;
  source.count = request.batch.count;
  if (request.batch.is_self()) return source;
  source.rows = request.batch.rows;
  source.row_stride = static_cast<std::uint64_t>(request.batch.row_stride);
  if (!is_ordered) return source;
  const cuda::OrderLayout layout(request.tree.geometry.leaves(), source.count);
  std::vector<std::uint32_t> scratch(layout.words, 0xa5a5a5a5);
  std::fill_n(scratch.begin(), layout.sums_at, 0);
  order.assign(source.count, 0xffffffff);
  cuda::launch_order_steps(search_tree(request.tree), source.rows, source.row_stride, source.count, scratch.data(),
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

/// By packets and what cleans up after them. Returns how many queries failed.
template <typename T>
std::uint32_t expect_packets_like_cpu(const SearchRequest<T>& request, std::uint32_t k, T bound) {
  const std::uint64_t entries = request.batch.count * k;
  std::vector<std::uint32_t> expected_indices(entries);
  std::vector<T> expected_reduced(entries);
  AnswerStorage<T> found(entries, request.batch.count + k);
  request.on_cpu()->knn(request.batch, k, {.bound = bound}, {.threads = 1}, expected_indices.data(),
                        expected_reduced.data(), nullptr);
  std::vector<std::uint32_t> order, scratch(cuda::PacketScratch::words(request.batch.count), 0xdeadbeef);
  std::fill_n(scratch.begin(), cuda::PacketScratch::zero_words(request.batch.count), 0u);
  std::vector<cuda::PackedWords> packed;
  const cuda::KnnTask<T> task{{.metric = search_metric(request),
                               .filter = search_filter(request.batch.filter),
                               .queries = query_source(request, true, order),
                               .k = k,
                               .bound = bound,
                               .answer = found.answer()},
                              packed_tree(search_tree(request.tree), packed)};
  cuda::launch_packet_steps(task, scratch.data(), {.processors = 1}, kLaunch,
                            [](const cuda::PacketTask<T>& general) { cuda::launch_general_packets(general, kLaunch); });
  found.expect(expected_indices, expected_reduced);
  return scratch[0];
}

/// A request of the kind that packets answer.
template <typename T>
std::unique_ptr<SearchRequest<T>> packet_request(std::mt19937_64& random, NastyShape shape, std::uint64_t rows,
                                                 std::uint32_t dims) {
  auto request = std::make_unique<SearchRequest<T>>();
  const auto leaf_size = static_cast<std::uint32_t>(8 + random() % (cuda::most_per_leaf_of(dims) - 7));
  request->points = nasty_points(shape, dtype_of<T>, rows, dims, random);
  request->tree = cpu::build_kd_tree(request->points.template values<T>().data(), rows, dims,
                                     {.leaf_size = leaf_size, .threads = 1});
  request->batch.count = rows;
  if (random() % 3 == 0) {
    request->queries = nasty_points(shape, dtype_of<T>, rows / (1 + random() % 3) + 1, dims, random);
    request->batch.rows = request->queries.template values<T>().data();
    request->batch.row_stride = dims;
    request->batch.count = request->queries.rows();
  } else {
    request->batch.filter.exclude_self = random() % 2 == 0;
  }
  return request;
}

/// The same in 2 to 4 dims.
template <typename T>
std::unique_ptr<SearchRequest<T>> packet_request(std::mt19937_64& random, NastyShape shape, std::uint64_t rows) {
  return packet_request<T>(random, shape, rows, static_cast<std::uint32_t>(2 + random() % 3));
}

/// The same, of a tree that packets know, with `fewest` to `fewest` + `span` points.
template <typename T>
std::unique_ptr<SearchRequest<T>> suitable_packet_request(std::mt19937_64& random, NastyShape shape,
                                                          std::uint64_t fewest, std::uint64_t span) {
  for (;;) {
    auto request = packet_request<T>(random, shape, fewest + random() % span);
    const core::KdGeometry& geometry = request->tree.geometry;
    if (geometry.most_per_leaf() >= cuda::kFewestPerLeaf && geometry.levels >= 5) return request;
  }
}

/// All points of a cubic grid ask.
template <typename T>
std::unique_ptr<SearchRequest<T>> grid_request(std::uint64_t side, std::uint32_t leaf_size) {
  auto request = std::make_unique<SearchRequest<T>>();
  const std::uint64_t rows = side * side * side;
  request->points = PointSet(dtype_of<T>, rows, 3);
  T* values = request->points.template values<T>().data();
  for (std::uint64_t i = 0; i < rows; ++i) {
    values[3 * i] = static_cast<T>(i % side);
    values[3 * i + 1] = static_cast<T>(i / side % side);
    values[3 * i + 2] = static_cast<T>(i / side / side);
  }
  request->tree = cpu::build_kd_tree(values, rows, 3, {.leaf_size = leaf_size, .threads = 1});
  request->batch.count = rows;
  return request;
}

}  // namespace kith::test
