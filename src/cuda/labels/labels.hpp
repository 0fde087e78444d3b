// Labels and values of neighbours, enqueued in a stream without waiting. All arrays are in device memory. Throws
// DeviceError, OutOfMemory.
#pragma once

#include "cuda/labels/label_types.hpp"
#include "cuda/runtime/stream.hpp"

namespace kith::cuda {

/// Notes the first code that is not below `classes`, or the first f64 that is not finite.
template <typename V>
void check_labels(const V* values, std::uint64_t count, std::uint32_t classes, LabelReport* report,
                  const Stream& stream);

/// numbers[i] = first + i
void number_rows(std::uint32_t* numbers, std::uint64_t count, std::uint32_t first, const Stream& stream);

/// `ticket` and `scratch` of the task are none of the caller's business.
template <typename T>
void find_labels(VoteTask<T> task, const Stream& stream);
template <typename T>
void find_shares(const ShareTask<T>& task, const Stream& stream);
template <typename T>
void find_means(const MeanTask<T>& task, const Stream& stream);

}  // namespace kith::cuda
