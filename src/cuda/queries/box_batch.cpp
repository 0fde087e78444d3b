// Box searches for callers on the host; see batch_search.hpp.
#include "cuda/runtime/device_scope.hpp"
#include "cuda/queries/batch_search.hpp"
#include "cuda/runtime/chunks.hpp"
#include "cuda/queries/query_chunk.hpp"
#include "cuda/runtime/staging.hpp"

#include <algorithm>
#include <optional>

namespace kith::cuda {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostBoxes = std::uint64_t{1} << 31;

/// A chunk of boxes on the device.
template <typename T>
struct BoxSlot {
  StreamPool::Lease stream;
  DeviceBuffer<T> lower, upper;
  DeviceBuffer<std::uint32_t> below;
  DeviceBuffer<std::uint32_t> counts;
  DeviceBuffer<std::uint64_t> starts;
  DeviceBuffer<std::uint32_t> indices;

  BoxSlot(StreamPool& streams, const SearchEngine<T>& engine, const engine::BoxBatch<T>& boxes, std::uint64_t most)
      : stream(streams),
        lower(most * engine.dims(), *stream),
        upper(most * engine.dims(), *stream),
        counts(most, *stream),
        starts(most + 1, *stream) {
    if (boxes.filter.below != nullptr) below = DeviceBuffer<std::uint32_t>(most, *stream);
  }

  static std::uint64_t bytes_per_box(std::uint32_t dims) { return 2 * dims * sizeof(T) + 16; }

  BoxRequest<T> take(const SearchEngine<T>& engine, const engine::BoxBatch<T>& boxes, SearchFilter filter,
                     std::uint64_t first, std::uint64_t end, const engine::RunOptions& run) {
    copy_rows_to_device(lower.data(), boxes.lower_of(first), boxes.lower_stride, engine.dims(), end - first, *stream,
                        run);
    copy_rows_to_device(upper.data(), boxes.upper_of(first), boxes.upper_stride, engine.dims(), end - first, *stream,
                        run);
    if (below.size() > 0) {
      copy_to_device(below.data(), boxes.filter.below + first, (end - first) * sizeof(std::uint32_t), *stream,
                     CopyOptions::of_search(run));
    }
    filter.exclude_self = filter.earlier_only = false;
    filter.below = below.data();
    return {
        .filter = filter, .lower = lower.data(), .upper = upper.data(), .count = end - first, .counts = counts.data()};
  }
};

}  // namespace

template <typename T>
void BatchSearch<T>::box_count(const engine::BoxBatch<T>& boxes, const engine::RunOptions& run,
                               std::uint32_t* counts) const {
  if (boxes.count == 0) return;
  const DeviceScope scope(device_);
  const std::vector<std::uint64_t> starts = equal_chunks(boxes.count, BoxSlot<T>::bytes_per_box(engine_.dims()),
                                                         std::min(bytes_in_flight() / 2, kChunkBytes), kMostBoxes);
  std::optional<BoxSlot<T>> slots[2];
  std::optional<FilterOnDevice> filter;
  run_chunks(
      starts, run,
      [&](std::size_t chunk, std::size_t s) {
        if (!slots[s]) slots[s].emplace(streams_, engine_, boxes, longest(starts));
        BoxSlot<T>& slot = *slots[s];
        if (!filter) filter.emplace(boxes.filter, engine_.points(), *slot.stream, run);
        engine_.count_in_boxes(slot.take(engine_, boxes, filter->filter(), starts[chunk], starts[chunk + 1], run),
                               *slot.stream);
      },
      [&](std::size_t chunk, std::size_t s) {
        copy_to_host(counts + starts[chunk], slots[s]->counts.data(),
                     (starts[chunk + 1] - starts[chunk]) * sizeof(std::uint32_t), *slots[s]->stream,
                     CopyOptions::of_search(run));
      });
}

template <typename T>
engine::IndexLists BatchSearch<T>::box(const engine::BoxBatch<T>& boxes, const engine::RunOptions& run) const {
  std::vector<std::uint32_t> counts(boxes.count);
  box_count(boxes, run, counts.data());
  engine::IndexLists lists;
  lists.offsets.resize(boxes.count + 1, 0);
  for (std::uint64_t b = 0; b < boxes.count; ++b) lists.offsets[b + 1] = lists.offsets[b] + counts[b];
  lists.indices.resize(lists.offsets.back());
  if (lists.indices.empty()) return lists;
  const DeviceScope scope(device_);
  const std::vector<std::uint64_t> starts =
      chunks_by_answer(lists.offsets, BoxSlot<T>::bytes_per_box(engine_.dims()), sizeof(std::uint32_t),
                       std::min(bytes_in_flight() / 2, kChunkBytes), kMostBoxes);
  std::optional<BoxSlot<T>> slots[2];
  std::optional<FilterOnDevice> filter;
  run_chunks(
      starts, run,
      [&](std::size_t chunk, std::size_t s) {
        if (!slots[s]) slots[s].emplace(streams_, engine_, boxes, longest(starts));
        BoxSlot<T>& slot = *slots[s];
        const std::uint64_t first = starts[chunk], end = starts[chunk + 1];
        const std::uint64_t entries = lists.offsets[end] - lists.offsets[first];
        if (!filter) filter.emplace(boxes.filter, engine_.points(), *slot.stream, run);
        if (entries > slot.indices.size()) slot.indices = DeviceBuffer<std::uint32_t>(entries, *slot.stream);
        BoxRequest<T> request = slot.take(engine_, boxes, filter->filter(), first, end, run);
        copy_to_device(slot.starts.data(), lists.offsets.data() + first, (end - first + 1) * sizeof(std::uint64_t),
                       *slot.stream, CopyOptions::of_search(run));
        request.starts = slot.starts.data();
        request.starts_base = lists.offsets[first];
        request.indices = slot.indices.data();
        engine_.list_in_boxes(request, *slot.stream);
      },
      [&](std::size_t chunk, std::size_t s) {
        const std::uint64_t first = lists.offsets[starts[chunk]];
        copy_to_host(lists.indices.data() + first, slots[s]->indices.data(),
                     (lists.offsets[starts[chunk + 1]] - first) * sizeof(std::uint32_t), *slots[s]->stream,
                     CopyOptions::of_search(run));
      });
  return lists;
}

template void BatchSearch<float>::box_count(const engine::BoxBatch<float>&, const engine::RunOptions&,
                                            std::uint32_t*) const;
template void BatchSearch<double>::box_count(const engine::BoxBatch<double>&, const engine::RunOptions&,
                                             std::uint32_t*) const;
template engine::IndexLists BatchSearch<float>::box(const engine::BoxBatch<float>&, const engine::RunOptions&) const;
template engine::IndexLists BatchSearch<double>::box(const engine::BoxBatch<double>&, const engine::RunOptions&) const;

}  // namespace kith::cuda
