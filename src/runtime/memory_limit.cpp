// See memory_limit.hpp, and kith/memory_limit.hpp.
#include "runtime/memory_limit.hpp"

#include <kith/error.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace kith {
namespace runtime {
namespace {

thread_local std::uint64_t limit_bytes = kNoLimit;
thread_local std::uint64_t held_bytes = 0;

}  // namespace

std::uint64_t device_memory_limit() { return limit_bytes; }

std::uint64_t host_memory_limit() {
  return limit_bytes == kNoLimit ? kNoLimit : limit_bytes - std::min(limit_bytes, held_bytes);
}

void require_allowed(std::uint64_t bytes, std::string_view purpose) {
  if (bytes <= host_memory_limit()) return;
  const std::string held = held_bytes == 0 ? "" : fmt::format(", with {} that are held already", held_bytes);
  throw OutOfMemory(fmt::format("not enough memory: {} needs {} bytes{}, but the limit allows {}", purpose,
                                bytes + held_bytes, held, limit_bytes));
}

}  // namespace runtime

inline namespace v0 {

MemoryLimit::MemoryLimit(std::uint64_t bytes, std::uint64_t held)
    : bytes_before_(runtime::limit_bytes), held_before_(runtime::held_bytes) {
  if (bytes != 0) runtime::limit_bytes = std::min(runtime::limit_bytes, bytes);
  runtime::held_bytes += held;
}

MemoryLimit::~MemoryLimit() {
  runtime::limit_bytes = bytes_before_;
  runtime::held_bytes = held_before_;
}

}  // namespace v0
}  // namespace kith
