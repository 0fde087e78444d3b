// See large_buffer.hpp.
#include "runtime/large_buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace kith::runtime {
namespace {

constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

}  // namespace

LargeBuffer::LargeBuffer(std::uint64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const std::uint64_t alignment = bytes >= 2 * kHugePage ? kHugePage : kLine;
  if (bytes > PTRDIFF_MAX - alignment) throw std::bad_alloc();
  const std::uint64_t rounded = (bytes + kLine - 1) / kLine * kLine;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, rounded) != 0) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
  if (alignment == kHugePage) madvise(memory, rounded / kHugePage * kHugePage, MADV_HUGEPAGE);  // a hint, no more
}

LargeBuffer::~LargeBuffer() { std::free(data_); }

}  // namespace kith::runtime
