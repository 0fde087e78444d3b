// Points as records that change places until each lies in its leaf: what the builders that move them share.
#pragma once

#include "core/dispatch.hpp"
#include "cpu/kd_tree/builders/tree_frame.hpp"
#include "split/split_records.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace kith::cpu {

/// A record for each point, in index order, on all threads of the frame.
template <typename T, std::uint32_t D>
void fill_records(const TreeFrame<T>& frame, const T* rows, typename split::PointRecords<T, D>::Record* records) {
  const std::uint64_t points = frame.geometry().points;
  constexpr std::uint64_t kBlock = 1 << 16;
  runtime::parallel_for((points + kBlock - 1) / kBlock, {.threads = frame.threads()}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(points, (block + 1) * kBlock);
    for (std::uint64_t i = block * kBlock; i < end; ++i) {
      std::copy_n(rows + i * D, D, records[i].x.begin());
      records[i].index = static_cast<std::uint32_t>(i);
    }
  });
}

/// Calls build(access, records) with a record for each point, in index order. Up to 8 dims they hold the coordinates
/// and lie in the memory of the leaf blocks, above they are indices.
template <typename T, typename Build>
void with_records(TreeFrame<T>& frame, const T* rows, const Build& build) {
  const std::uint64_t points = frame.geometry().points;
  core::visit_dims(frame.dims(), [&](auto constant_dims) {
    constexpr std::uint32_t D = constant_dims.value;
    if constexpr (D == core::kRuntimeDims) {
      std::vector<std::uint32_t> records(points);
      std::iota(records.begin(), records.end(), 0u);
      build(split::IndexRecords<T>{rows, frame.dims()}, records.data());
    } else {
      using Access = split::PointRecords<T, D>;
      using Record = typename Access::Record;
      static_assert(sizeof(Record) == (D * sizeof(T) + 4 + sizeof(T) - 1) / sizeof(T) * sizeof(T));
      auto* records = reinterpret_cast<Record*>(frame.blocks());
      fill_records<T, D>(frame, rows, records);
      build(Access{}, records);
    }
  });
}

/// The memory of `with_records` beyond the tree.
inline std::uint64_t record_bytes(std::uint64_t points, std::uint32_t dims) {
  const bool fits_in_blocks = core::visit_dims(dims, [](auto d) { return d.value != core::kRuntimeDims; });
  return fits_in_blocks ? 0 : points * sizeof(std::uint32_t);
}

/// The part of a Task (see tree_frame.hpp) that does not depend on how nodes are split.
template <typename T, typename A>
struct RecordNodes {
  using Access = A;
  using Record = typename Access::Record;

  Access access;
  Record* records;
  int threads = 1;  ///< that work on one node

  const Record* leaf(std::uint64_t begin, std::uint64_t) const { return records + begin; }

  void tighten(std::uint64_t begin, std::uint64_t end, T* box) const {
    const std::uint32_t dims = access.dims();
    const Record* first = records + begin;
    const std::uint64_t count = end - begin;
    const std::uint64_t parts =
        threads > 1 && split::is_split_in_parallel(count) ? 4 * static_cast<std::uint64_t>(threads) : 1;
    std::vector<T> boxes(parts * 2 * dims);
    const auto span_part = [&](std::uint64_t part) {
      T* own = boxes.data() + part * 2 * dims;
      std::fill_n(own, dims, std::numeric_limits<T>::infinity());
      std::fill_n(own + dims, dims, -std::numeric_limits<T>::infinity());
      const Record* last = first + count * (part + 1) / parts;
      for (const Record* r = first + count * part / parts; r != last;) {
        const Record* stop = r + std::min<std::ptrdiff_t>(last - r, split::kRecordsPerLook);
        extend(r, stop, own);
        r = stop;
        if (r != last) runtime::look_for_stop();
      }
    };
    if (parts == 1) {
      span_part(0);
    } else {
      runtime::parallel_for(parts, {.threads = threads}, span_part);
    }
    std::copy_n(boxes.data(), 2 * dims, box);
    for (std::uint64_t part = 1; part < parts; ++part) {
      for (std::uint32_t d = 0; d < dims; ++d) {
        box[d] = std::min(box[d], boxes[part * 2 * dims + d]);
        box[dims + d] = std::max(box[dims + d], boxes[(part * 2 + 1) * dims + d]);
      }
    }
    for (std::uint32_t i = 0; i < 2 * dims; ++i) box[i] = without_sign_of_zero(box[i]);
  }

 private:
  /// Makes the box hold these records, too.
  void extend(const Record* first, const Record* last, T* box) const {
    const std::uint32_t dims = access.dims();
    if constexpr (Access::kDims != core::kRuntimeDims) {  // in registers, without branches
      std::array<T, Access::kDims> low, high;
      std::copy_n(box, Access::kDims, low.begin());
      std::copy_n(box + Access::kDims, Access::kDims, high.begin());
      for (const Record* r = first; r != last; ++r) {
        for (std::uint32_t d = 0; d < Access::kDims; ++d) {
          low[d] = std::min(low[d], r->x[d]);
          high[d] = std::max(high[d], r->x[d]);
        }
      }
      std::copy_n(low.begin(), Access::kDims, box);
      std::copy_n(high.begin(), Access::kDims, box + Access::kDims);
    } else {
      for (const Record* r = first; r != last; ++r) {
        for (std::uint32_t d = 0; d < dims; ++d) {
          const T x = access.at(*r, d);
          box[d] = std::min(box[d], x);
          box[dims + d] = std::max(box[dims + d], x);
        }
      }
    }
  }
};

}  // namespace kith::cpu
