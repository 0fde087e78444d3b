// See grid.hpp. Fibers by makecontext, switched by _setjmp and _longjmp, which save no signals and are fast.
#include "cuda/emulation/grid.hpp"

#include "cuda/emulation/cuda/intrinsics.cuh"

#include <csetjmp>
#include <memory>
#include <stdexcept>
#include <string>
#include <ucontext.h>
#include <vector>

namespace kith::cuda::emulation {
namespace {

constexpr std::size_t kStackBytes = 64 << 10;

struct Barrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;
  std::uint32_t generation = 0;
};

struct Warp {
  std::uint32_t arrived = 0;
  std::uint32_t generation = 0;
  const char* what = nullptr;
  std::uint64_t words[2][kWarp] = {};
};

struct Block {
  std::unique_ptr<std::byte[]> memory;
  std::byte* shared = nullptr;
  std::vector<Warp> warps;
  Barrier barriers[16];
  std::uint32_t votes[2] = {0, 0};  ///< by the parity of the meeting
};

struct Fiber {
  Here here;
  Block* block = nullptr;
  std::unique_ptr<char[]> stack;
  ucontext_t start{};
  std::jmp_buf state;
  bool is_started = false;
  bool is_done = false;
};

struct Scheduler {
  std::vector<Fiber> fibers;
  std::size_t current = 0;
  std::size_t alive = 0;
  std::jmp_buf home;
  ucontext_t home_context{};
  const std::function<void()>* kernel = nullptr;
  std::uint64_t progress = 0;  ///< raised whenever a meeting is complete or a fiber ends
  std::string error;
};

thread_local Scheduler* scheduler = nullptr;

void fiber_main() {
  (*scheduler->kernel)();
  Fiber& fiber = scheduler->fibers[scheduler->current];
  fiber.is_done = true;
  ++scheduler->progress;
  --scheduler->alive;
  _longjmp(scheduler->home, 1);
}

/// Runs one fiber until it yields or ends.
void resume(Fiber& fiber) {
  if (_setjmp(scheduler->home) != 0) return;
  if (fiber.is_started) _longjmp(fiber.state, 1);
  fiber.is_started = true;
  getcontext(&fiber.start);
  fiber.start.uc_stack.ss_sp = fiber.stack.get();
  fiber.start.uc_stack.ss_size = kStackBytes;
  fiber.start.uc_link = nullptr;
  makecontext(&fiber.start, fiber_main, 0);
  setcontext(&fiber.start);
}

Fiber& current_fiber() { return scheduler->fibers[scheduler->current]; }

[[noreturn]] void fail(const std::string& why) {
  if (scheduler->error.empty()) scheduler->error = why;
  _longjmp(scheduler->home, 1);
}

void run_blocks(std::uint32_t first, std::uint32_t end, std::uint32_t blocks, std::uint32_t threads,
                std::size_t shared_bytes, const std::function<void()>& kernel) {
  Scheduler own;
  scheduler = &own;
  own.kernel = &kernel;
  std::vector<Block> parts(end - first);
  own.fibers = std::vector<Fiber>(std::size_t{end - first} * threads);
  own.alive = own.fibers.size();
  for (std::uint32_t b = first; b < end; ++b) {
    Block& block = parts[b - first];
    block.memory = std::make_unique<std::byte[]>(shared_bytes + 16);
    block.shared = block.memory.get() + (16 - reinterpret_cast<std::uintptr_t>(block.memory.get()) % 16) % 16;
    std::memset(block.memory.get(), 0xa5, shared_bytes + 16);
    block.warps.resize((threads + kWarp - 1) / kWarp);
    for (std::uint32_t t = 0; t < threads; ++t) {
      Fiber& fiber = own.fibers[std::size_t{b - first} * threads + t];
      fiber.here = {t, threads, b, blocks, block.shared};
      fiber.block = &block;
      fiber.stack = std::unique_ptr<char[]>(new char[kStackBytes]);
    }
  }
  std::uint32_t idle_rounds = 0;
  while (own.alive > 0 && own.error.empty()) {
    const std::uint64_t before = own.progress;
    for (own.current = 0; own.current < own.fibers.size() && own.error.empty(); ++own.current) {
      if (!own.fibers[own.current].is_done) resume(own.fibers[own.current]);
    }
    idle_rounds = own.progress == before ? idle_rounds + 1 : 0;
    if (idle_rounds > 1000 && own.error.empty()) own.error = "the threads wait for each other forever";
  }
  scheduler = nullptr;
  if (!own.error.empty()) throw std::logic_error("kernel: " + own.error);
}

}  // namespace

Here here() { return current_fiber().here; }

void yield() {
  if (_setjmp(current_fiber().state) != 0) return;
  _longjmp(scheduler->home, 1);
}

void meet_in_block(std::uint32_t number, std::uint32_t threads) {
  Barrier& barrier = current_fiber().block->barriers[number];
  if (barrier.arrived > 0 && barrier.expected != threads) fail("two sizes at one barrier");
  barrier.expected = threads;
  const std::uint32_t generation = barrier.generation;
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    ++barrier.generation;
    ++scheduler->progress;
    return;
  }
  while (barrier.generation == generation) yield();
}

bool vote_in_block(bool vote) {
  Block& block = *current_fiber().block;
  std::uint32_t& votes = block.votes[block.barriers[0].generation % 2];
  if (block.barriers[0].arrived == 0) votes = 0;
  if (vote) ++votes;
  meet_in_block(0, current_fiber().here.threads);
  return votes > 0;
}

const std::uint64_t* meet_in_warp(const char* what, std::uint64_t word) {
  Warp& warp = current_fiber().block->warps[current_fiber().here.thread / kWarp];
  if (warp.arrived > 0 && std::strcmp(warp.what, what) != 0) {
    fail(std::string("a lane is at ") + what + ", others of its warp at " + warp.what);
  }
  warp.what = what;
  const std::uint32_t generation = warp.generation;
  std::uint64_t* words = warp.words[generation % 2];
  words[current_fiber().here.thread % kWarp] = word;
  if (++warp.arrived == kWarp) {
    warp.arrived = 0;
    ++warp.generation;
    ++scheduler->progress;
  }
  while (warp.generation == generation) yield();
  return words;
}

void run_grid(std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes, Residence residence,
              const std::function<void()>& kernel) {
  if (residence == Residence::all_together) {
    run_blocks(0, blocks, blocks, threads, shared_bytes, kernel);
  } else {
    for (std::uint32_t b = 0; b < blocks; ++b) run_blocks(b, b + 1, blocks, threads, shared_bytes, kernel);
  }
}

}  // namespace kith::cuda::emulation
