// See vector_space.hpp.
#include "cpu/cover_tree/vector_space.hpp"

#include "runtime/parallel.hpp"

#include <algorithm>

namespace kith::cpu {
namespace {

constexpr std::uint64_t kBlocksPerTask = 256;

}  // namespace

template <typename T>
VectorSpace<T>::VectorSpace(const T* rows, std::uint32_t count, std::uint32_t dims, Metric metric)
    : rows_(rows),
      count_(count),
      dims_(dims),
      kind_(core::kind_of_reduction(metric)),
      measure_(measure_vectors_by<T>(metric)),
      measure_few_(measure_few_by<T>(metric)) {}

template <typename T>
auto VectorSpace<T>::arrange(std::span<const std::uint32_t> numbers, int threads) const -> Rows {
  constexpr std::uint32_t kBlock = kVectorBlock<T>;
  const std::uint64_t blocks = (numbers.size() + kBlock - 1) / kBlock;
  Rows rows;
  rows.dims_ = dims_;
  rows.measure_ = measure_;
  rows.blocks_ = PointSet(dtype_of<T>, blocks * dims_, kBlock);
  T* out = rows.blocks_.template values<T>().data();
  const auto fill = [&](std::uint64_t task) {
    const std::uint64_t end = std::min(blocks, (task + 1) * kBlocksPerTask);
    for (std::uint64_t block = task * kBlocksPerTask; block < end; ++block) {
      fill_block(numbers, block, out + block * dims_ * kBlock);
    }
  };
  const std::uint64_t tasks = (blocks + kBlocksPerTask - 1) / kBlocksPerTask;
  if (threads == 1 || tasks <= 1) {
    for (std::uint64_t task = 0; task < tasks; ++task) fill(task);
  } else {
    runtime::parallel_for(tasks, {.threads = threads}, fill);
  }
  return rows;
}

/// Places behind the last row repeat it: zeros might be near to a query and keep it from giving up.
template <typename T>
void VectorSpace<T>::fill_block(std::span<const std::uint32_t> numbers, std::uint64_t block, T* out) const {
  constexpr std::uint32_t kBlock = kVectorBlock<T>;
  const T* rows[kBlock];
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    rows[i] = row(numbers[std::min<std::uint64_t>(block * kBlock + i, numbers.size() - 1)]);
  }
  for (std::uint32_t d = 0; d < dims_; ++d) {
    for (std::uint32_t i = 0; i < kBlock; ++i) out[std::size_t{d} * kBlock + i] = rows[i][d];
  }
}

/// Places behind the last one repeat it.
template <typename T>
void VectorSpace<T>::Few::set(const VectorSpace& space, std::span<const std::uint32_t> numbers) {
  space_ = &space;
  few_ = static_cast<std::uint32_t>(numbers.size());
  block_.resize(std::size_t{space.dims_} * kFew);
  const T* rows[kFew];
  for (std::uint32_t i = 0; i < kFew; ++i) rows[i] = space.row(numbers[std::min(i, few_ - 1)]);
  for (std::uint32_t d = 0; d < space.dims_; ++d) {
    for (std::uint32_t i = 0; i < kFew; ++i) block_[std::size_t{d} * kFew + i] = rows[i][d];
  }
}

template <typename T>
bool VectorSpace<T>::same(std::uint32_t a, std::uint32_t b) const {
  return std::equal(row(a), row(a) + dims_, row(b));
}

template class VectorSpace<float>;
template class VectorSpace<double>;

}  // namespace kith::cpu
