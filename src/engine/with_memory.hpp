// Failed allocations become errors that say how much was wanted.
#pragma once

#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kith::engine {

/// Runs `f` if the machine has that much memory. Throws OutOfMemory if it has not, or if an allocation fails.
template <typename F>
auto with_memory(std::uint64_t bytes, std::string_view purpose, F&& f) {
  runtime::require_memory(bytes, purpose);
  const auto error = [&] {
    return OutOfMemory("not enough memory: " + std::string(purpose) + " needs about " + std::to_string(bytes) +
                       " bytes");
  };
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw error();
  } catch (const std::length_error&) {
    throw error();
  }
}

}  // namespace kith::engine
