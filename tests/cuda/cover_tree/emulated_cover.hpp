// Searches in a cover tree by the GPU's kernels, run on the host, and the same by plain sorting.
#pragma once

#include "cuda/cover_tree/search/prepare_steps.cuh"
#include "cuda/cover_tree/search/search_steps.cuh"

#include "cuda/emulation/grid.hpp"
#include "engine/cover_tree/cover_tree.hpp"
#include "engine/searcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace kith::test {

/// Few blocks, however many a GPU would get.
inline constexpr auto kCoverLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads,
                                        std::size_t shared_bytes, auto... arguments) {
  cuda::emulation::run_grid(std::min(blocks, 2u), threads, shared_bytes, cuda::emulation::Residence::one_by_one,
                            [&] { kernel(arguments...); });
};

/// A tree made ready by the kernels.
class EmulatedCover {
 public:
  EmulatedCover(const engine::CoverTree& tree, std::span<const std::uint32_t> rows, std::uint32_t stride,
                bool knows_distances, bool has_heads = false)
      : objects_(cuda::ArrangedRows::words_of(tree.size(), stride)),
        centres_(cuda::ArrangedRows::words_of(tree.nodes.size(), stride)),
        centre_of_(tree.nodes.size()),
        nodes_(tree.nodes.size() * cuda::CoverNodes::kBytes / sizeof(double) + 1) {
    std::uint32_t height = 0;
    const cuda::PlainRows plain{rows.data(), stride};
    tree_.nodes = cuda::CoverNodes(reinterpret_cast<std::byte*>(nodes_.data()), tree.nodes.size());
    tree_.order = tree.order.data();
    tree_.distances = knows_distances ? tree.distances.data() : nullptr;
    tree_.objects = {objects_.data(), stride};
    tree_.centres = {centres_.data(), stride};
    tree_.count = tree.size();
    if (has_heads) {
      heads_.resize(tree.size() + tree.nodes.size());
      tree_.object_heads = heads_.data();
      tree_.node_heads = heads_.data() + tree.size();
    }
    cuda::launch_arrange_rows(plain, tree.order.data(), tree.size(), objects_.data(), kCoverLaunch);
    cuda::launch_prepare_steps(plain, tree.nodes.data(), tree.nodes.size(), tree_, centre_of_.data(), centres_.data(),
                               &height, kCoverLaunch);
    tree_.height = height;
  }
  const cuda::CoverSearchTree& tree() const { return tree_; }

 private:
  std::vector<std::uint32_t> objects_, centres_, centre_of_;
  std::vector<double> nodes_;
  std::vector<cuda::CoverHead> heads_;
  cuda::CoverSearchTree tree_;
};

/// What is asked, and of whom.
template <typename Space>
struct CoverRequest {
  using T = typename Space::Value;

  Space space;
  const EmulatedCover& cover;
  std::span<const std::uint32_t> query_rows = {};  ///< empty: the objects ask
  std::uint32_t query_stride = 0;                  ///< in words
  std::uint64_t count = 0;                         ///< of queries
  engine::PointFilter filter = {};
  const T* bounds = nullptr;
  std::uint64_t evaluations = 0;

  cuda::QuerySource<T> source() const {
    if (query_rows.empty()) return {.count = count};
    return {.rows = reinterpret_cast<const T*>(query_rows.data()),
            .row_stride = query_stride / (sizeof(T) / 4),
            .count = count};
  }
  cuda::SearchFilter search_filter() const {
    return {filter.exclude_self, filter.earlier_only, filter.below, filter.allowed};
  }
};

template <typename T>
struct CoverAnswers {
  std::vector<std::uint32_t> indices;
  std::vector<T> reduced;
  std::vector<std::uint8_t> exact;
  std::vector<std::uint64_t> offsets;  ///< of lists

  friend bool operator==(const CoverAnswers& a, const CoverAnswers& b) {
    return a.indices == b.indices && a.reduced == b.reduced && a.offsets == b.offsets;
  }
};

/// Of the kernels.
template <typename Space>
CoverAnswers<typename Space::Value> emulated_knn(CoverRequest<Space>& request, std::uint32_t k,
                                                 typename Space::Value bound, typename Space::Value shrink = 1) {
  using T = typename Space::Value;
  CoverAnswers<T> answers{std::vector<std::uint32_t>(request.count * k, 0xdeadbeef),
                          std::vector<T>(request.count * k),
                          std::vector<std::uint8_t>(request.count, 7),
                          {}};
  const cuda::CoverKnnTask<Space> task{.space = request.space,
                                       .tree = request.cover.tree(),
                                       .request = {.filter = request.search_filter(),
                                                   .queries = request.source(),
                                                   .k = k,
                                                   .bound = bound,
                                                   .bounds = request.bounds,
                                                   .answer = {answers.indices.data(), answers.reduced.data()},
                                                   .evaluations = &request.evaluations},
                                       .shrink = shrink,
                                       .exact = answers.exact.data()};
  const cuda::CoverPlan plan = cuda::plan_search(task, {.processors = 1});
  std::vector<double> scratch((plan.frames_bytes + plan.list_bytes) / sizeof(double));
  cuda::launch_cover_knn(task, plan, reinterpret_cast<std::byte*>(scratch.data()), kCoverLaunch);
  return answers;
}

template <typename Space>
CoverAnswers<typename Space::Value> emulated_radius(CoverRequest<Space>& request, typename Space::Value bound) {
  using T = typename Space::Value;
  std::vector<std::uint32_t> counts(request.count, 0xdeadbeef);
  cuda::CoverRadiusTask<Space> task{.space = request.space,
                                    .tree = request.cover.tree(),
                                    .request = {.filter = request.search_filter(),
                                                .queries = request.source(),
                                                .bound = bound,
                                                .bounds = request.bounds,
                                                .counts = counts.data(),
                                                .evaluations = &request.evaluations}};
  const cuda::CoverPlan plan = cuda::plan_search(task, {.processors = 1});
  std::vector<double> scratch(plan.frames_bytes / sizeof(double));
  auto* memory = reinterpret_cast<std::byte*>(scratch.data());
  cuda::launch_cover_radius(task, false, plan, memory, kCoverLaunch);
  CoverAnswers<T> answers;
  constexpr std::uint64_t kBase = 1000;
  answers.offsets = {kBase};
  for (const std::uint32_t count : counts) answers.offsets.push_back(answers.offsets.back() + count);
  answers.indices.resize(answers.offsets.back() - kBase);
  answers.reduced.resize(answers.indices.size());
  task.request.starts = answers.offsets.data();
  task.request.starts_base = kBase;
  task.request.indices = answers.indices.data();
  task.request.reduced = answers.reduced.data();
  cuda::launch_cover_radius(task, true, plan, memory, kCoverLaunch);
  return answers;
}

/// By plain sorting: everything within the bound, then the first k.
template <typename T>
class PlainCover {
 public:
  /// `value(query, object)`; both count from 0.
  PlainCover(std::uint64_t queries, std::uint32_t objects, std::function<T(std::uint64_t, std::uint32_t)> value)
      : queries_(queries), objects_(objects), value_(std::move(value)) {}

  CoverAnswers<T> radius(const engine::PointFilter& filter, T bound, const T* bounds) const {
    CoverAnswers<T> answers;
    answers.offsets = {1000};
    for (std::uint64_t q = 0; q < queries_; ++q) {
      for (const auto& [value, index] : list_of(q, filter, bounds == nullptr ? bound : bounds[q])) {
        answers.indices.push_back(index);
        answers.reduced.push_back(value);
      }
      answers.offsets.push_back(1000 + answers.indices.size());
    }
    return answers;
  }
  CoverAnswers<T> knn(const engine::PointFilter& filter, std::uint32_t k, T bound, const T* bounds) const {
    CoverAnswers<T> answers;
    for (std::uint64_t q = 0; q < queries_; ++q) {
      auto list = list_of(q, filter, bounds == nullptr ? bound : bounds[q]);
      list.resize(k, {std::numeric_limits<T>::infinity(), objects_});
      for (const auto& [value, index] : list) {
        answers.indices.push_back(index);
        answers.reduced.push_back(value);
      }
    }
    return answers;
  }

 private:
  std::vector<std::pair<T, std::uint32_t>> list_of(std::uint64_t q, const engine::PointFilter& filter, T bound) const {
    std::vector<std::pair<T, std::uint32_t>> list;
    for (std::uint32_t i = 0; i < objects_; ++i) {
      if (filter.admits(q, i) && value_(q, i) <= bound) list.emplace_back(value_(q, i), i);
    }
    std::sort(list.begin(), list.end());
    return list;
  }

  std::uint64_t queries_;
  std::uint32_t objects_;
  std::function<T(std::uint64_t, std::uint32_t)> value_;
};

}  // namespace kith::test
