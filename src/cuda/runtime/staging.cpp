// See staging.hpp.
#include "cuda/runtime/staging.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/event.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"
#include "runtime/time_spent.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kith::cuda {
namespace {

/// Large enough that starting a copy costs nothing beside it, small enough that the first one starts soon.
constexpr std::uint64_t kChunk = std::uint64_t{8} << 20;
/// Below this CUDA's own way is as good.
constexpr std::uint64_t kDirect = std::uint64_t{1} << 20;
/// What one thread moves at a time.
constexpr std::uint64_t kPiece = std::uint64_t{256} << 10;

struct FreePinned {
  void operator()(std::byte* memory) const { cudaFreeHost(memory); }
};
using PinnedPair = std::array<std::unique_ptr<std::byte, FreePinned>, 2>;

PinnedPair make_pair() {
  PinnedPair pair;
  for (auto& buffer : pair) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, kChunk, cudaHostAllocPortable), "allocating pinned memory");
    buffer.reset(static_cast<std::byte*>(memory));
  }
  return pair;
}

/// Buffers that wait for the next copy: to pin memory takes longer than to copy it. They live as long as the process.
class IdleBuffers {
 public:
  static IdleBuffers& instance() {
    static auto& buffers = *new IdleBuffers;
    return buffers;
  }
  PinnedPair take() {
    {
      const std::lock_guard guard(lock_);
      if (!pairs_.empty()) {
        PinnedPair pair = std::move(pairs_.back());
        pairs_.pop_back();
        return pair;
      }
    }
    return make_pair();
  }
  void give_back(PinnedPair pair) {
    const std::lock_guard guard(lock_);
    if (pairs_.size() < kMost) pairs_.push_back(std::move(pair));
  }

 private:
  static constexpr std::size_t kMost = 2;

  std::mutex lock_;
  std::vector<PinnedPair> pairs_;
};

/// Two buffers for one copy, each with a mark of when the GPU is done with it.
class Staging {
 public:
  Staging() : buffers_(IdleBuffers::instance().take()) {}
  ~Staging() {
    for (const Event& event : events_) cudaEventSynchronize(event.get());  // also if an error cut the copy short
    IdleBuffers::instance().give_back(std::move(buffers_));
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::byte* buffer(std::uint64_t chunk) { return buffers_[chunk % 2].get(); }
  void mark(std::uint64_t chunk, cudaStream_t stream) const { events_[chunk % 2].record(stream); }
  void wait(std::uint64_t chunk) const { events_[chunk % 2].synchronize(); }

 private:
  PinnedPair buffers_;
  std::array<Event, 2> events_;
};

/// Pinned by the caller, or managed: the GPU reaches it by itself.
bool is_reachable(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type != cudaMemoryTypeUnregistered;
}

void copy_on_host(std::byte* to, const std::byte* from, std::uint64_t bytes, int threads) {
  runtime::parallel_for((bytes + kPiece - 1) / kPiece, {.threads = threads}, [&](std::uint64_t piece) {
    const std::uint64_t begin = piece * kPiece;
    std::memcpy(to + begin, from + begin, std::min(kPiece, bytes - begin));
  });
}

/// A copy waits for the work before it in any case; who wants to know the times wants them apart.
void wait_for_work(const Stream& stream, const CopyOptions& options) {
  if (options.times == nullptr) return;
  const runtime::TimeSpent spent(&options.times->device_ms);
  stream.synchronize();
}

}  // namespace

void copy_to_device(void* to, const void* from, std::uint64_t bytes, const Stream& stream, const CopyOptions& options) {
  if (bytes == 0) return;
  const runtime::TimeSpent spent(runtime::member_of(options.times, &WorkTimes::copy_in_ms));
  const char* doing = "copying to the GPU";
  if (bytes <= kDirect || is_reachable(from)) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream.get()), doing);
    stream.synchronize();  // pinned memory is read later
    return;
  }
  Staging staging;
  runtime::ProgressMeter meter(options.progress, options.stage, bytes);
  for (std::uint64_t chunk = 0; chunk * kChunk < bytes; ++chunk) {
    const std::uint64_t begin = chunk * kChunk, size = std::min(kChunk, bytes - begin);
    meter.report(begin);
    staging.wait(chunk);
    copy_on_host(staging.buffer(chunk), static_cast<const std::byte*>(from) + begin, size, options.threads);
    check(cudaMemcpyAsync(static_cast<std::byte*>(to) + begin, staging.buffer(chunk), size, cudaMemcpyHostToDevice,
                          stream.get()),
          doing);
    staging.mark(chunk, stream.get());
  }
  meter.finish();
}

void copy_to_host(void* to, const void* from, std::uint64_t bytes, const Stream& stream, const CopyOptions& options) {
  if (bytes == 0) return;
  if (bytes <= kDirect || is_reachable(to)) {
    wait_for_work(stream, options);
    const runtime::TimeSpent spent(runtime::member_of(options.times, &WorkTimes::copy_out_ms));
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream.get()), "copying from the GPU");
    stream.synchronize();
    return;
  }
  copy_rows_to_host(to, from, 1, 1, bytes, stream, options);
}

void copy_rows_to_host(void* to, const void* from, std::uint64_t row_bytes, std::uint64_t pitch, std::uint64_t rows,
                       const Stream& stream, const CopyOptions& options) {
  if (rows == 0 || row_bytes == 0) return;
  wait_for_work(stream, options);
  const runtime::TimeSpent spent(runtime::member_of(options.times, &WorkTimes::copy_out_ms));
  const std::uint64_t rows_per_chunk = std::max<std::uint64_t>(1, kChunk / row_bytes);  // a row is never that long
  const std::uint64_t chunks = (rows + rows_per_chunk - 1) / rows_per_chunk;
  const auto rows_of = [&](std::uint64_t chunk) { return std::min(rows_per_chunk, rows - chunk * rows_per_chunk); };
  Staging staging;
  runtime::ProgressMeter meter(options.progress, options.stage, rows * row_bytes);
  const auto start = [&](std::uint64_t chunk) {
    const std::byte* source = static_cast<const std::byte*>(from) + chunk * rows_per_chunk * pitch;
    const cudaError_t status = pitch == row_bytes
                                   ? cudaMemcpyAsync(staging.buffer(chunk), source, rows_of(chunk) * row_bytes,
                                                     cudaMemcpyDeviceToHost, stream.get())
                                   : cudaMemcpy2DAsync(staging.buffer(chunk), row_bytes, source, pitch, row_bytes,
                                                       rows_of(chunk), cudaMemcpyDeviceToHost, stream.get());
    check(status, "copying from the GPU");
    staging.mark(chunk, stream.get());
  };
  start(0);
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    if (chunk + 1 < chunks) start(chunk + 1);
    meter.report(chunk * rows_per_chunk * row_bytes);
    staging.wait(chunk);
    copy_on_host(static_cast<std::byte*>(to) + chunk * rows_per_chunk * row_bytes, staging.buffer(chunk),
                 rows_of(chunk) * row_bytes, options.threads);
  }
  meter.finish();
}

}  // namespace kith::cuda
