// From one stack to another within a thread: what fibers are made of.
#pragma once

#include <cstddef>

namespace kith::cuda::emulation {

/// Leaves the stack that is in use, notes in `from` where, and goes on where `to` was left. Signals and the rounding
/// of numbers stay as they are.
extern "C" void kith_switch_stack(void** from, void* to);

/// Where a stack is left that begins with `start`, which must not return.
void* make_stack(std::byte* memory, std::size_t bytes, void (*start)());

}  // namespace kith::cuda::emulation
