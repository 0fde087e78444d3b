// See query_chunk.hpp.
#include "cuda/queries/query_chunk.hpp"

#include "cuda/runtime/staging.hpp"
#include "runtime/large_buffer.hpp"
#include "runtime/parallel.hpp"

#include <kith/tuning.hpp>

#include <algorithm>
#include <cstring>

namespace kith::cuda {

FilterOnDevice::FilterOnDevice(const engine::PointFilter& filter, std::uint64_t points, const Stream& stream,
                               const engine::RunOptions& run) {
  filter_.exclude_self = filter.exclude_self;
  filter_.earlier_only = filter.earlier_only;
  if (filter.allowed == nullptr) return;
  allowed_ = DeviceBuffer<std::uint64_t>((points + 63) / 64, stream);
  copy_to_device(allowed_.data(), filter.allowed, allowed_.bytes(), stream, CopyOptions::of_search(run));
  stream.synchronize();  // other streams read it
}

SearchFilter FilterOnDevice::filter() const {
  SearchFilter filter = filter_;
  filter.allowed = allowed_.data();
  return filter;
}

template <typename T>
void copy_rows_to_device(T* to, const T* rows, std::int64_t stride, std::uint32_t dims, std::uint64_t count,
                         const Stream& stream, const engine::RunOptions& run) {
  const std::uint64_t bytes = count * dims * sizeof(T);
  if (stride == static_cast<std::int64_t>(dims)) {
    copy_to_device(to, rows, bytes, stream, CopyOptions::of_search(run));
    return;
  }
  constexpr std::uint64_t kRowsPerBlock = 16384;
  runtime::LargeBuffer packed(bytes);
  runtime::parallel_for(
      (count + kRowsPerBlock - 1) / kRowsPerBlock, {.threads = run.threads}, [&](std::uint64_t block) {
        for (std::uint64_t i = block * kRowsPerBlock; i < std::min(count, (block + 1) * kRowsPerBlock); ++i) {
          std::memcpy(packed.data() + i * dims * sizeof(T), rows + static_cast<std::int64_t>(i) * stride,
                      dims * sizeof(T));
        }
      });
  copy_to_device(to, packed.data(), bytes, stream, CopyOptions::of_search(run));
  stream.synchronize();
}

template <typename T>
QueryChunk<T>::QueryChunk(const SearchEngine<T>& engine, const engine::QueryBatch<T>& batch, std::uint64_t most,
                          const Stream& stream)
    : engine_(engine), batch_(batch), stream_(stream) {
  const bool is_whole = most >= batch.count;
  if (!batch.is_self()) rows_ = DeviceBuffer<T>(most * engine.dims(), stream);
  if (batch.is_self() ? !is_whole && engine.wants_chosen()
                      : most >= tuning().gpu_ordered_queries && engine.wants_order())
    chosen_ = DeviceBuffer<std::uint32_t>(most + 1, stream);
  if (batch.filter.below != nullptr) below_ = DeviceBuffer<std::uint32_t>(most, stream);
  if (batch.bounds != nullptr) bounds_ = DeviceBuffer<T>(most, stream);
}

template <typename T>
void QueryChunk<T>::take(std::uint64_t first, std::uint64_t end, const engine::RunOptions& run) {
  const std::uint64_t count = end - first;
  source_ = {};
  source_.count = count;
  if (below_.size() > 0) {
    copy_to_device(below_.data(), batch_.filter.below + first, count * sizeof(std::uint32_t), stream_,
                   CopyOptions::of_search(run));
  }
  if (bounds_.size() > 0) {
    copy_to_device(bounds_.data(), batch_.bounds + first, count * sizeof(T), stream_, CopyOptions::of_search(run));
  }
  if (batch_.is_self()) {
    source_.first = static_cast<std::uint32_t>(first);
    if (chosen_.size() == 0) return;
    std::uint32_t* chosen_count = chosen_.data() + chosen_.size() - 1;
    engine_.choose_points(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end), chosen_.data(),
                          chosen_count, stream_);
    source_.chosen = chosen_.data();
    return;
  }
  copy_rows_to_device(rows_.data(), batch_.row(first), batch_.row_stride, engine_.dims(), count, stream_, run);
  source_.rows = rows_.data();
  source_.row_stride = engine_.dims();
  if (chosen_.size() > 0 && count >= tuning().gpu_ordered_queries) {
    engine_.order_queries(source_.rows, source_.row_stride, count, chosen_.data(), stream_);
    source_.chosen = chosen_.data();
  }
}

template <typename T>
SearchFilter QueryChunk<T>::filter(SearchFilter whole) const {
  whole.below = below_.data();
  return whole;
}

template class QueryChunk<float>;
template class QueryChunk<double>;
template void copy_rows_to_device(float*, const float*, std::int64_t, std::uint32_t, std::uint64_t, const Stream&,
                                  const engine::RunOptions&);
template void copy_rows_to_device(double*, const double*, std::int64_t, std::uint32_t, std::uint64_t, const Stream&,
                                  const engine::RunOptions&);

}  // namespace kith::cuda
