// See widen_numbers.hpp.
#include "cuda/primitives/widen_numbers.hpp"

#include "cuda/queries/search_launcher.cuh"
#include "cuda/primitives/widen_numbers.cuh"

namespace kith::cuda {

void widen_numbers(const std::uint32_t* numbers, std::uint64_t count, std::int64_t* wide, const Stream& stream) {
  if (count == 0) return;
  const SearchLauncher launch(stream);
  const bool lie_well =
      reinterpret_cast<std::uintptr_t>(numbers) % 16 == 0 && reinterpret_cast<std::uintptr_t>(wide) % 16 == 0;
  const std::uint64_t per_block = std::uint64_t{kWidenThreads} * (lie_well ? kWidenedAtOnce : 1);
  // One launch takes so many blocks; lists of so many entries fit no GPU yet.
  constexpr std::uint64_t kMostBlocks = 0x7fffffff;
  for (std::uint64_t first = 0; first < count; first += kMostBlocks * per_block) {
    const std::uint64_t part = count - first < kMostBlocks * per_block ? count - first : kMostBlocks * per_block;
    launch(lie_well ? widen_groups : widen_each, static_cast<std::uint32_t>((part + per_block - 1) / per_block),
           kWidenThreads, std::size_t{0}, numbers + first, part, wide + first);
  }
}

}  // namespace kith::cuda
