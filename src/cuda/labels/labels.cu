// See labels.hpp.
#include "cuda/labels/labels.hpp"

#include "cuda/runtime/device_buffer.hpp"
#include "cuda/labels/check_labels.cuh"
#include "cuda/labels/means.cuh"
#include "cuda/labels/shares.cuh"
#include "cuda/labels/vote_by_threads.cuh"
#include "cuda/labels/vote_by_warps.cuh"
#include "cuda/queries/search_launcher.cuh"

#include <algorithm>

namespace kith::cuda {
namespace {

/// Blocks for `work` threads or warps, `per_block` of them in each, and not more than fill the GPU.
std::uint32_t blocks_for(std::uint64_t work, std::uint64_t per_block, std::uint64_t per_processor,
                         const Stream& stream) {
  const std::uint64_t most = per_processor * processors_of(stream.device());
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((work + per_block - 1) / per_block, 1, most));
}

constexpr std::uint64_t kLookBlocks = 8;

}  // namespace

template <typename V>
void check_labels(const V* values, std::uint64_t count, std::uint32_t classes, LabelReport* report,
                  const Stream& stream) {
  if (count == 0) return;
  const SearchLauncher launch(stream);
  launch(look_for_bad<V>, blocks_for(count, kLookThreads, kLookBlocks, stream), kLookThreads, std::size_t{0}, values,
         count, classes, report);
}

void number_rows(std::uint32_t* numbers, std::uint64_t count, std::uint32_t first, const Stream& stream) {
  if (count == 0) return;
  const SearchLauncher launch(stream);
  launch(count_up<std::uint32_t>, blocks_for(count, kLookThreads, kLookBlocks, stream), kLookThreads, std::size_t{0},
         numbers, count, first);
}

template <typename T>
void find_labels(VoteTask<T> task, const Stream& stream) {
  if (task.rows.count == 0) return;
  DeviceBuffer<std::uint32_t> ticket(1, stream);
  check(cudaMemsetAsync(ticket.data(), 0, ticket.bytes(), stream.get()), "writing zeros");
  task.ticket = ticket.data();
  const SearchLauncher launch(stream);
  if (task.rows.k <= kMostByThreads) {
    launch(vote_by_threads<T>, blocks_for(task.rows.count, kVoteThreads, kVoteBlocks, stream), kVoteThreads,
           vote_by_threads_bytes(task.rows.k), task);
    return;
  }
  // For the longest lists fewer warps, so that they find room.
  constexpr std::uint64_t kMostScratch = std::uint64_t{1} << 28;
  const std::uint64_t most_blocks =
      std::max<std::uint64_t>(kMostScratch / (std::uint64_t{kVoteWarps} * task.rows.k), 1);
  const auto blocks = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(blocks_for(task.rows.count, kVoteWarps, 2 * kVoteBlocks, stream), most_blocks));
  DeviceBuffer<std::uint32_t> scratch(std::uint64_t{blocks} * kVoteWarps * task.rows.k, stream);
  task.scratch = scratch.data();
  launch(vote_by_warps<T>, blocks, kVoteWarps * kWarp, std::size_t{0}, task);
}

template <typename T>
void find_shares(const ShareTask<T>& task, const Stream& stream) {
  if (task.rows.count == 0 || task.classes == 0) return;
  const SearchLauncher launch(stream);
  launch(share_weights<T>, blocks_for(task.rows.count, kShareThreads / kWarp, 2 * kLookBlocks, stream), kShareThreads,
         std::size_t{0}, task);
}

template <typename T>
void find_means(const MeanTask<T>& task, const Stream& stream) {
  if (task.rows.count == 0) return;
  const SearchLauncher launch(stream);
  launch(mean_of_values<T>, blocks_for(task.rows.count, kMeanThreads, 2 * kLookBlocks, stream), kMeanThreads,
         std::size_t{0}, task);
}

template void check_labels(const std::uint32_t*, std::uint64_t, std::uint32_t, LabelReport*, const Stream&);
template void check_labels(const double*, std::uint64_t, std::uint32_t, LabelReport*, const Stream&);
template void find_labels(VoteTask<float>, const Stream&);
template void find_labels(VoteTask<double>, const Stream&);
template void find_shares(const ShareTask<float>&, const Stream&);
template void find_shares(const ShareTask<double>&, const Stream&);
template void find_means(const MeanTask<float>&, const Stream&);
template void find_means(const MeanTask<double>&, const Stream&);

}  // namespace kith::cuda
