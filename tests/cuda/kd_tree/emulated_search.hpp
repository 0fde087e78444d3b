// The GPU's searches run on the host: questions put to the kernels, and answers compared with the CPU's.
#pragma once

#include "cuda/kd_tree/search/search_steps.cuh"

#include "cuda/queries/answer_room.hpp"
#include "cuda/emulation/grid.hpp"
#include "cuda/kd_tree/search_question.hpp"

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

/// The same with its points packed, which are put into `room`.
template <typename T>
cuda::SearchTree<T> packed_tree(const cuda::SearchTree<T>& tree, std::vector<cuda::PackedWords>& room) {
  room.assign(cuda::packed_bytes(tree) / sizeof(cuda::PackedWords), {});
  return cuda::launch_pack_steps(tree, reinterpret_cast<std::byte*>(room.data()), kLaunch);
}

inline cuda::SearchFilter search_filter(const engine::PointFilter& filter) {
  return {filter.exclude_self, filter.earlier_only, filter.below, filter.allowed};
}

template <typename T>
cuda::SearchMetric<T> search_metric(const SearchQuestion<T>& question) {
  return cuda::SearchMetric<T>::of(question.metric, question.period.empty() ? nullptr : question.period.data());
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

/// By packets and what cleans up after them. Returns how many queries failed.
template <typename T>
std::uint32_t expect_packets_like_cpu(const SearchQuestion<T>& question, std::uint32_t k, T bound) {
  const std::uint64_t entries = question.batch.count * k;
  std::vector<std::uint32_t> expected_indices(entries);
  std::vector<T> expected_chains(entries);
  AnswerRoom<T> found(entries, question.batch.count + k);
  question.on_cpu()->knn(question.batch, k, {.bound = bound}, {.threads = 1}, expected_indices.data(),
                         expected_chains.data(), nullptr);
  std::vector<std::uint32_t> order, scratch(cuda::PacketScratch::words(question.batch.count), 0xdeadbeef);
  std::fill_n(scratch.begin(), cuda::PacketScratch::kZeroWords, 0u);
  std::vector<cuda::PackedWords> packed;
  const cuda::KnnTask<T> task{{.metric = search_metric(question),
                               .filter = search_filter(question.batch.filter),
                               .queries = query_source(question, true, order),
                               .k = k,
                               .bound = bound,
                               .answer = found.answer()},
                              packed_tree(search_tree(question.tree), packed)};
  cuda::launch_packet_steps(task, scratch.data(), {.processors = 1}, kLaunch);
  found.expect(expected_indices, expected_chains);
  return scratch[0];
}

/// A question of the kind that packets answer.
template <typename T>
std::unique_ptr<SearchQuestion<T>> packet_question(std::mt19937_64& random, NastyShape shape, std::uint64_t rows,
                                                   std::uint32_t dims) {
  auto question = std::make_unique<SearchQuestion<T>>();
  const auto leaf_size = static_cast<std::uint32_t>(8 + random() % (cuda::most_per_leaf_of(dims) - 7));
  question->points = nasty_points(shape, dtype_of<T>, rows, dims, random);
  question->tree = cpu::build_kd_tree(question->points.template values<T>().data(), rows, dims,
                                      {.leaf_size = leaf_size, .threads = 1});
  question->batch.count = rows;
  if (random() % 3 == 0) {
    question->queries = nasty_points(shape, dtype_of<T>, rows / (1 + random() % 3) + 1, dims, random);
    question->batch.rows = question->queries.template values<T>().data();
    question->batch.row_stride = dims;
    question->batch.count = question->queries.rows();
  } else {
    question->batch.filter.exclude_self = random() % 2 == 0;
  }
  return question;
}

/// The same in 2 to 4 dims.
template <typename T>
std::unique_ptr<SearchQuestion<T>> packet_question(std::mt19937_64& random, NastyShape shape, std::uint64_t rows) {
  return packet_question<T>(random, shape, rows, static_cast<std::uint32_t>(2 + random() % 3));
}

/// The same, of a tree that packets know, with `fewest` to `fewest` + `span` points.
template <typename T>
std::unique_ptr<SearchQuestion<T>> suitable_packet_question(std::mt19937_64& random, NastyShape shape,
                                                            std::uint64_t fewest, std::uint64_t span) {
  for (;;) {
    auto question = packet_question<T>(random, shape, fewest + random() % span);
    const core::KdGeometry& geometry = question->tree.geometry;
    if (geometry.most_per_leaf() >= cuda::kFewestPerLeaf && geometry.levels >= 5) return question;
  }
}

/// All points of a cubic grid ask.
template <typename T>
std::unique_ptr<SearchQuestion<T>> grid_question(std::uint64_t side, std::uint32_t leaf_size) {
  auto question = std::make_unique<SearchQuestion<T>>();
  const std::uint64_t rows = side * side * side;
  question->points = PointSet(dtype_of<T>, rows, 3);
  T* values = question->points.template values<T>().data();
  for (std::uint64_t i = 0; i < rows; ++i) {
    values[3 * i] = static_cast<T>(i % side);
    values[3 * i + 1] = static_cast<T>(i / side % side);
    values[3 * i + 2] = static_cast<T>(i / side / side);
  }
  question->tree = cpu::build_kd_tree(values, rows, 3, {.leaf_size = leaf_size, .threads = 1});
  question->batch.count = rows;
  return question;
}

}  // namespace kith::test
