// See memory_limit.hpp, and kith/memory_limit.hpp.
#include "runtime/memory_limit.hpp"

#include <kith/error.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

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
namespace {

thread_local MemoryLimit* newest_limit = nullptr;

}  // namespace

MemoryLimit::MemoryLimit(std::uint64_t bytes, std::uint64_t held)
    : bytes_(bytes == 0 ? runtime::kNoLimit : bytes), held_(held), older_(std::exchange(newest_limit, this)) {
  recompute();
}

MemoryLimit::~MemoryLimit() {
  MemoryLimit** place = &newest_limit;
  while (*place != nullptr && *place != this) place = &(*place)->older_;
  if (*place == this) *place = older_;
  recompute();
}

void MemoryLimit::recompute() {
  runtime::limit_bytes = runtime::kNoLimit;
  runtime::held_bytes = 0;
  for (const MemoryLimit* open = newest_limit; open != nullptr; open = open->older_) {
    runtime::limit_bytes = std::min(runtime::limit_bytes, open->bytes_);
    runtime::held_bytes += open->held_;
  }
}

}  // namespace v0
}  // namespace kith
