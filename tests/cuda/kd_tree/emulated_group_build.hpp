// The build of the GPU run on the host: plans, memory, and the comparison with the CPU's tree.
#pragma once

#include "cuda/kd_tree/build/finish/finish.cuh"
#include "cuda/kd_tree/build/resident/split_resident.cuh"
#include "cuda/kd_tree/build/split_group.cuh"

#include "cpu/kd_tree/build.hpp"
#include "cuda/emulation/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace kith::test {

using namespace kith::cuda;

/// Memory filled with garbage, aligned to 256 bytes.
class Garbage {
 public:
  explicit Garbage(std::uint64_t bytes) : memory_(bytes + 256, std::byte{0xcd}) {}
  std::byte* data() { return memory_.data() + (256 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 256) % 256; }

 private:
  std::vector<std::byte> memory_;
};

/// What is built, and how.
struct Plan {
  std::uint32_t leaf_size = 16;
  bool cycles = false;
  std::uint32_t top_level = 0;
  std::uint32_t capacity = 256;
  std::uint32_t processors = 2;  ///< of the device that is pretended
  bool is_sampled = false;       ///< however few points there are
  std::uint32_t most_bins = kMostBins;
  std::uint32_t most_cluster = 0;
};

inline GpuLimits limits_of(const Plan& plan) {
  GpuLimits limits{.processors = plan.processors, .shared_bytes = emulation::shared_limit()};
  limits.least_idle = 0;  // as large trees do; small ones are built on the GPU
  limits.most_cluster = plan.most_cluster;
  if (plan.is_sampled) limits.least_sampled = limits.least_in_segment = 1;
  return limits;
}

/// Launches a kernel on emulated threads.
inline constexpr auto run_kernel = [](const char*, std::uint64_t, auto kernel, std::uint32_t blocks,
                                      std::uint32_t threads, std::size_t shared_bytes, Together together,
                                      const auto&... arguments) {
  emulation::run_grid(blocks, threads, shared_bytes,
                      together.is_cooperative || together.cluster > 1 ? emulation::Residence::all_together
                                                                      : emulation::Residence::one_by_one,
                      [&] { kernel(arguments...); });
};

/// What must be zero at the start.
template <typename T>
void clear(const BuildScratch<T>& scratch) {
  for (const MemoryPiece& piece : scratch.zeroed) std::memset(piece.at, 0, piece.bytes);
}

template <typename T>
void expect_the_tree_of_the_cpu(const std::vector<T>& rows, std::uint32_t dims, const Plan& wanted,
                                const FinishPlan& plan) {
  const std::uint64_t n = rows.size() / dims;
  const auto expected = cpu::build_kd_tree<T>(
      rows.data(), n, dims,
      {.leaf_size = wanted.leaf_size, .cycles = wanted.cycles, .threads = 1, .progress = nullptr});
  const TreeShape shape{core::KdGeometry::of(n, wanted.leaf_size), dims, expected.point_bytes, wanted.cycles};
  Garbage memory(lay_out_scratch<T>(shape, plan.top_level, limits_of(wanted)).bytes);
  Garbage first(copy_bytes<T>(shape)), second(copy_bytes<T>(shape));
  std::byte* const copies[2] = {first.data(), second.data()};
  std::vector<std::uint16_t> split_dims(shape.geometry.leaves() - 1, 0xcdcd);
  std::vector<T> split_values(split_dims.size(), T(-7)), boxes(box_values(shape), T(-7));
  std::vector<std::uint32_t> smallest(shape.geometry.nodes(), 0xcdcdcdcd);
  const TreeArrays<T> tree{nullptr, split_dims.data(), split_values.data(), boxes.data(), smallest.data()};
  auto scratch = lay_out_scratch<T>(shape, plan.top_level, limits_of(wanted), memory.data(), tree);
  for (GroupParameters<T>& group : scratch.groups) group.most_bins = std::min(group.most_bins, wanted.most_bins);
  clear(scratch);
  const std::uint32_t blocks_in = run_build<T>(
      scratch, plan, shape, PointSource<T>{rows.data(), dims, 1, nullptr}, copies, tree,
      [&](const auto& group) { split_group<T>(group, limits_of(wanted), run_kernel); },
      [&](const FinishParameters<T>& last) {
        const auto kernel = plan.is_staged ? finish_subtrees<T, true, kFewRows> : finish_subtrees<T, false, kFewRows>;
        run_kernel("finish", 0, kernel, 1u << plan.top_level, plan.threads, plan.shared_bytes, Together{}, last);
      });
  ASSERT_EQ(*scratch.refused, 0u);
  for (std::uint64_t node = 0; node < split_dims.size(); ++node) {
    ASSERT_EQ(split_dims[node], expected.split_dims[node]) << "node " << node;
    ASSERT_EQ(std::memcmp(&split_values[node], &expected.split_values[node], sizeof(T)), 0) << "node " << node;
  }
  EXPECT_EQ(std::memcmp(copies[blocks_in], expected.blocks.data(), expected.blocks.size_bytes()), 0);
  EXPECT_EQ(std::memcmp(boxes.data(), expected.boxes.data(), expected.boxes.size_bytes()), 0);
  EXPECT_EQ(std::memcmp(smallest.data(), expected.smallest.data(), expected.smallest.size_bytes()), 0);
}

/// With small subtrees, which make many levels of few points.
template <typename T>
void expect_the_tree_of_the_cpu(const std::vector<T>& rows, std::uint32_t dims, const Plan& wanted) {
  const std::uint32_t finish_threads = wanted.capacity / kFewRows;
  const auto bytes = [&](bool is_staged) {
    return FinishLayout<T>(wanted.capacity, finish_threads, dims, is_staged).bytes;
  };
  const bool is_staged = bytes(true) <= emulation::shared_limit();
  const FinishPlan plan{.threads = finish_threads,
                        .rows = kFewRows,
                        .capacity = wanted.capacity,
                        .top_level = wanted.top_level,
                        .shared_bytes = bytes(is_staged),
                        .is_staged = is_staged};
  ASSERT_LE((core::KdGeometry{rows.size() / dims, wanted.top_level}.most_per_leaf()), wanted.capacity);
  expect_the_tree_of_the_cpu(rows, dims, wanted, plan);
}

/// A build without its finish.
template <typename T>
class Groups {
 public:
  Groups(const std::vector<T>& points, std::uint32_t dims, std::uint32_t top_level, const GpuLimits& limits)
      : scratch(lay_out_scratch<T>(shape_of(points, dims), top_level, limits)),
        points_(points),
        limits_(limits),
        top_level_(top_level),
        shape_(shape_of(points, dims)),
        memory_(scratch.bytes),
        copies_{Garbage(copy_bytes<T>(shape_)), Garbage(copy_bytes<T>(shape_))},
        boxes_(box_values(shape_)),
        split_values_(shape_.geometry.leaves()),
        split_dims_(shape_.geometry.leaves()),
        smallest_(shape_.geometry.nodes()) {
    scratch = lay_out_scratch<T>(shape_, top_level, limits, memory_.data(), tree());
    clear(scratch);
  }

  void run() {
    std::byte* const copies[2] = {copies_[0].data(), copies_[1].data()};
    run_build<T>(
        scratch, FinishPlan{.top_level = top_level_}, shape_, PointSource<T>{points_.data(), shape_.dims, 1, nullptr},
        copies, tree(), [&](const auto& group) { split_group<T>(group, limits_, run_kernel); },
        [&](const FinishParameters<T>& last) { arranged = last.source; });
  }

  BuildScratch<T> scratch;
  PointSource<T> arranged;  ///< by node of the last level, when all groups have run

 private:
  static TreeShape shape_of(const std::vector<T>& points, std::uint32_t dims) {
    return tree_shape<T>(points.size() / dims, dims, 16, false);
  }

  TreeArrays<T> tree() { return {nullptr, split_dims_.data(), split_values_.data(), boxes_.data(), smallest_.data()}; }

  const std::vector<T>& points_;
  GpuLimits limits_;
  std::uint32_t top_level_;
  TreeShape shape_;
  Garbage memory_, copies_[2];
  std::vector<T> boxes_, split_values_;
  std::vector<std::uint16_t> split_dims_;
  std::vector<std::uint32_t> smallest_;
};

/// What tests of builds make their points of.
template <typename T>
class RandomRows : public testing::Test {
 protected:
  template <typename Make>
  std::vector<T> rows(std::uint64_t count, std::uint32_t dims, Make&& make) {
    std::vector<T> values;
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::uint32_t d = 0; d < dims; ++d) values.push_back(static_cast<T>(make(i, d)));
    }
    return values;
  }
  double unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  std::mt19937_64 random_{48};
};

}  // namespace kith::test
