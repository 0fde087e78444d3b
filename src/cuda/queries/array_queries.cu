// See array_queries.hpp.
#include "cuda/queries/array_queries.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/queries/array_queries.cuh"

#include <algorithm>

namespace kith::cuda {
namespace {

/// Enough to fill every GPU there is; threads take several values each where there are more.
std::uint32_t blocks_for(std::uint64_t values) {
  constexpr std::uint64_t kMost = 1 << 14;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((values + kArrayThreads - 1) / kArrayThreads, 1, kMost));
}

}  // namespace

template <typename T>
void prepare_queries(const PrepareTask<T>& task, const Stream& stream) {
  if (task.count == 0) return;
  if (task.bits != 0 && task.rows != nullptr) {
    prepare_bits<T><<<blocks_for(task.count * ((task.bits + 31) / 32)), kArrayThreads, 0, stream.get()>>>(task);
  } else {
    prepare_rows<T><<<blocks_for(task.count), kArrayThreads, 0, stream.get()>>>(task);
  }
  check_launch("preparing queries");
}

template <typename T>
void report_distances(const ReportTask<T>& task, const Stream& stream) {
  constexpr std::uint32_t kBlocks = 1 << 11;  // where the host does not know how many entries there are
  if (task.entries_on_device == nullptr && task.entries == 0) return;
  const std::uint32_t blocks = task.entries_on_device == nullptr ? blocks_for(task.entries) : kBlocks;
  report_entries<T><<<blocks, kArrayThreads, 0, stream.get()>>>(task);
  check_launch("reporting distances");
}

template <typename T>
void empty_rows(const EmptyTask<T>& task, const Stream& stream) {
  if (task.rows == 0) return;
  empty_bad_rows<T><<<blocks_for(task.rows), kArrayThreads, 0, stream.get()>>>(task);
  check_launch("emptying rows");
}

void pack_flags(const std::uint8_t* flags, std::uint64_t count, std::uint64_t* words, const Stream& stream) {
  if (count == 0) return;
  const std::uint64_t halves = (count + 63) / 64 * 2;
  pack_each<<<blocks_for(halves * kWarp), kArrayThreads, 0, stream.get()>>>(
      flags, count, reinterpret_cast<std::uint32_t*>(words), halves);
  check_launch("packing flags");
}

template void prepare_queries(const PrepareTask<float>&, const Stream&);
template void prepare_queries(const PrepareTask<double>&, const Stream&);
template void report_distances(const ReportTask<float>&, const Stream&);
template void report_distances(const ReportTask<double>&, const Stream&);
template void empty_rows(const EmptyTask<float>&, const Stream&);
template void empty_rows(const EmptyTask<double>&, const Stream&);

}  // namespace kith::cuda
