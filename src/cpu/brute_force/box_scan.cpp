// See box_scan.hpp.
#include "cpu/brute_force/box_scan.hpp"

#include "cpu/box_lists.hpp"
#include "cpu/brute_force/product_filter.hpp"

#include <algorithm>
#include <vector>

namespace kith::cpu {
namespace {

/// Calls `take(index)` for each point of a box, ascending.
template <typename T, typename Take>
void scan_box(const PackedPoints<T>& points, const engine::BoxBatch<T>& boxes, std::uint64_t box, Take&& take) {
  const T* lower = boxes.lower_of(box);
  const T* upper = boxes.upper_of(box);
  const std::uint32_t dims = points.dims();
  if (is_empty_box(lower, upper, dims)) return;
  const std::uint32_t width = points.width();
  const std::uint64_t end = std::min<std::uint64_t>(points.count(), boxes.filter.end(box));
  for (std::uint64_t first = 0; first < end; first += width) {
    const T* panel = points.panel_values() + first * dims;
    std::uint8_t inside[kWidestPanel];
    std::fill_n(inside, width, std::uint8_t{1});
    std::uint32_t left = width;
    for (std::uint32_t d = 0; d < dims && left > 0; ++d) {
      const T* values = panel + std::size_t{d} * width;
      left = 0;
      for (std::uint32_t i = 0; i < width; ++i) {
        inside[i] &= static_cast<std::uint8_t>((lower[d] <= values[i]) & (values[i] <= upper[d]));
        left += inside[i];
      }
    }
    if (left == 0) continue;
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(width, end - first));
    for (std::uint32_t i = 0; i < size; ++i) {
      const auto index = static_cast<std::uint32_t>(first + i);
      if (inside[i] != 0 && boxes.filter.admits(box, index)) take(index);
    }
  }
}

}  // namespace

template <typename T>
engine::IndexLists scan_boxes(const PackedPoints<T>& points, const engine::BoxBatch<T>& boxes,
                              const engine::RunOptions& run) {
  return collect_boxes(boxes.count, run, [&](std::uint64_t box, std::vector<std::uint32_t>& list) {
    scan_box(points, boxes, box, [&](std::uint32_t index) { list.push_back(index); });
  });
}

template <typename T>
void count_in_boxes(const PackedPoints<T>& points, const engine::BoxBatch<T>& boxes, const engine::RunOptions& run,
                    std::uint32_t* counts) {
  for_boxes(boxes.count, run, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t box = first; box < end; ++box) {
      std::uint32_t count = 0;
      scan_box(points, boxes, box, [&](std::uint32_t) { ++count; });
      counts[box] = count;
    }
  });
}

template engine::IndexLists scan_boxes(const PackedPoints<float>&, const engine::BoxBatch<float>&,
                                       const engine::RunOptions&);
template engine::IndexLists scan_boxes(const PackedPoints<double>&, const engine::BoxBatch<double>&,
                                       const engine::RunOptions&);
template void count_in_boxes(const PackedPoints<float>&, const engine::BoxBatch<float>&, const engine::RunOptions&,
                             std::uint32_t*);
template void count_in_boxes(const PackedPoints<double>&, const engine::BoxBatch<double>&, const engine::RunOptions&,
                             std::uint32_t*);

}  // namespace kith::cpu
