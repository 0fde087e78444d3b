// Queries and answers of callers whose arrays lie on the GPU: made ready for a search, and turned into what is
// reported.
#pragma once

#include "cuda/queries/array_types.hpp"
#include "cuda/runtime/stream.hpp"

namespace kith::cuda {

/// Enqueued in the stream without waiting. Throws DeviceError.
template <typename T>
void prepare_queries(const PrepareTask<T>& task, const Stream& stream);
template <typename T>
void report_distances(const ReportTask<T>& task, const Stream& stream);
template <typename T>
void empty_rows(const EmptyTask<T>& task, const Stream& stream);
/// A bit per byte that is not 0, as filters have them; (count + 63) / 64 words.
void pack_flags(const std::uint8_t* flags, std::uint64_t count, std::uint64_t* words, const Stream& stream);

}  // namespace kith::cuda
