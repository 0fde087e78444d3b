// Room for results whose size the caller's numbers decide.
#pragma once

#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

/// rows x columns zeros. Throws OutOfMemory that says what they are for; before all memory of the machine is in use, if
/// there is not enough.
template <typename T>
void allocate(std::vector<T>& values, std::uint64_t rows, std::uint64_t columns, std::string_view what) {
  try {
    if (columns != 0 && rows > runtime::physical_memory() / sizeof(T) / columns) throw std::bad_alloc();
    values.assign(rows * columns, T{});
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("{} x {} {} of {} bytes each do not fit into memory; ask for fewer at a time", rows,
                                  columns, what, sizeof(T)));
  }
}

}  // namespace kith::apps::inline v0
