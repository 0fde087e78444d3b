// See switch_stack.hpp. Registers that a call must preserve are kept on the stack that is left, nothing else; a system
// call, as swapcontext makes one, would take longer than most fibers run at a time.
#include "cuda/emulation/switch_stack.hpp"

#include <algorithm>
#include <cstdint>

#if !defined(__aarch64__) && !defined(__x86_64__)
#include <new>
#include <ucontext.h>
#endif

namespace kith::cuda::emulation {

#if defined(__aarch64__)

asm(R"(
  .text
  .balign 16
  .globl kith_switch_stack
  .type kith_switch_stack, %function
kith_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size kith_switch_stack, .-kith_switch_stack
)");

#elif defined(__x86_64__)

asm(R"(
  .text
  .balign 16
  .globl kith_switch_stack
  .type kith_switch_stack, @function
kith_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size kith_switch_stack, .-kith_switch_stack
)");

#else

extern "C" void kith_switch_stack(void** from, void* to) {
  ucontext_t left;
  *from = &left;
  swapcontext(&left, static_cast<ucontext_t*>(to));
}

#endif

#if defined(__aarch64__) || defined(__x86_64__)

void* make_stack(std::byte* memory, std::size_t bytes, void (*start)()) {
  // As if `start` had been about to be called when the stack was left: words are what the switch takes from it.
#if defined(__aarch64__)
  constexpr std::size_t kWords = 20, kStart = 11;  // the frame pointer before it is 0: here ends every backtrace
#else
  constexpr std::size_t kWords = 8, kStart = 6;  // then a return address of 0, below which a call has 16-byte alignment
#endif
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / 16 * 16;
  auto* words = reinterpret_cast<std::uintptr_t*>(end) - kWords;
  std::fill(words, words + kWords, 0);
  words[kStart] = reinterpret_cast<std::uintptr_t>(start);
  return words;
}

#else

void* make_stack(std::byte* memory, std::size_t bytes, void (*start)()) {
  auto* context = new (memory) ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = context + 1;
  context->uc_stack.ss_size = bytes - sizeof(ucontext_t);
  context->uc_link = nullptr;
  makecontext(context, start, 0);
  return context;
}

#endif

}  // namespace kith::cuda::emulation
