// See grid.hpp. A fiber that waits at a barrier is not run until all are there; the others take turns in the order of
// their numbers, each until it waits.
#include "cuda/emulation/grid.hpp"

#include "cuda/emulation/cuda/primitives/intrinsics.cuh"
#include "cuda/emulation/switch_stack.hpp"
#include "cuda/runtime/shared_limit.hpp"

#include <bit>
#include <cstdlib>
#include <memory>
#include <sanitizer/asan_interface.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::cuda::emulation {
namespace {

constexpr std::size_t kStackBytes = 64 << 10;
constexpr std::size_t kBetweenStacks = kStackBytes + 17 * 64;  // the tops of neighbours share no place in a cache

struct Barrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;
  std::uint32_t generation = 0;
  std::vector<std::size_t> waiting;  ///< fibers
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
  std::uint32_t votes[2] = {0, 0};  ///< by the parity of the barrier
};

struct Fiber {
  Here here;
  Block* block = nullptr;
  Warp* warp = nullptr;
  void* left_at = nullptr;  ///< its stack
};

struct Scheduler {
  std::vector<Fiber> fibers;
  std::vector<std::uint64_t> can_run;  ///< a bit per fiber: it neither waits nor has ended
  std::size_t current = 0;
  std::size_t alive = 0;
  void* home = nullptr;  ///< the stack of the caller
  const std::function<void()>* kernel = nullptr;
  std::uint64_t progress = 0;  ///< raised whenever a barrier is complete or a fiber ends
  std::uint64_t progress_before = 0;
  std::uint32_t idle_rounds = 0;
  std::string error;

  void set_can_run(std::size_t fiber, bool can) {
    const std::uint64_t bit = std::uint64_t{1} << fiber % 64;
    can_run[fiber / 64] = can ? can_run[fiber / 64] | bit : can_run[fiber / 64] & ~bit;
  }
  /// The 32 lanes of a warp lie in one word, or in two where blocks are no multiple of 32 threads.
  void set_warp_can_run(std::size_t first) {
    constexpr std::uint64_t kLanes = 0xffffffffu;
    can_run[first / 64] |= kLanes << first % 64;
    if (first % 64 > 32) can_run[first / 64 + 1] |= kLanes >> (64 - first % 64);
  }
};

thread_local Scheduler* scheduler = nullptr;
thread_local std::uint32_t limit = kMostSharedBytes;

Fiber& current_fiber() { return scheduler->fibers[scheduler->current]; }

/// The first fiber from `first` on that can run, or the number of all.
std::size_t find_runnable(std::size_t first) {
  const std::vector<std::uint64_t>& words = scheduler->can_run;
  std::uint64_t mask = ~std::uint64_t{0} << first % 64;
  for (std::size_t w = first / 64; w < words.size(); ++w, mask = ~std::uint64_t{0}) {
    if ((words[w] & mask) != 0) return w * 64 + static_cast<std::size_t>(std::countr_zero(words[w] & mask));
  }
  return scheduler->fibers.size();
}

[[noreturn]] void go_home() {
  void* left_for_ever = nullptr;
  kith_switch_stack(&left_for_ever, scheduler->home);
  std::abort();
}

[[noreturn]] void fail(const std::string& why) {
  if (scheduler->error.empty()) scheduler->error = why;
  go_home();
}

/// Out of line: a barrier needs few registers, and every fiber saves them at each.
[[noreturn, gnu::noinline, gnu::cold]] void fail_apart(const char* one, const char* others) {
  fail(std::string("a lane is at ") + one + ", others of its warp at " + others);
}

/// Goes on with the next fiber that can run.
void run_next() {
  std::size_t next = find_runnable(scheduler->current + 1);
  while (next == scheduler->fibers.size()) {
    scheduler->idle_rounds = scheduler->progress == scheduler->progress_before ? scheduler->idle_rounds + 1 : 0;
    scheduler->progress_before = scheduler->progress;
    if (scheduler->idle_rounds > 1000) fail("the threads wait for each other forever");
    next = find_runnable(0);
  }
  if (next == scheduler->current) return;
  void** const left_at = &current_fiber().left_at;
  const Fiber& fiber = scheduler->fibers[next];
  scheduler->current = next;
  running = &fiber.here;
  kith_switch_stack(left_at, fiber.left_at);
}

void wait() {
  scheduler->set_can_run(scheduler->current, false);
  run_next();
}

void fiber_main() noexcept {
  (*scheduler->kernel)();
  ++scheduler->progress;
  if (--scheduler->alive == 0) go_home();
  wait();
}

/// Memory for so many stacks. It is kept for the next grid: fresh memory takes long to come from the system.
std::byte* take_stacks(std::size_t count) {
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local std::size_t capacity = 0;
  if (count > capacity) {
    capacity = 0;
    memory.reset();
    memory.reset(new std::byte[count * kBetweenStacks]);  // of most of it no page is ever touched
    capacity = count;
  }
  ASAN_UNPOISON_MEMORY_REGION(memory.get(), count * kBetweenStacks);  // fibers before left their stacks as they were
  return memory.get();
}

void run_blocks(std::uint32_t first, std::uint32_t end, std::uint32_t blocks, std::uint32_t threads,
                std::size_t shared_bytes, const std::function<void()>& kernel) {
  Scheduler own;
  const std::size_t count = std::size_t{end - first} * threads;
  if (count == 0) return;
  scheduler = &own;
  own.kernel = &kernel;
  std::vector<Block> parts(end - first);
  own.fibers = std::vector<Fiber>(count);
  own.can_run.resize((count + 63) / 64);
  own.alive = count;
  std::byte* const stacks = take_stacks(count);
  for (std::uint32_t b = first; b < end; ++b) {
    Block& block = parts[b - first];
    block.memory = std::make_unique<std::byte[]>(shared_bytes + 16);
    block.shared = block.memory.get() + (16 - reinterpret_cast<std::uintptr_t>(block.memory.get()) % 16) % 16;
    std::memset(block.memory.get(), 0xa5, shared_bytes + 16);
    block.warps.resize((threads + kWarp - 1) / kWarp);
    for (std::uint32_t t = 0; t < threads; ++t) {
      const std::size_t number = std::size_t{b - first} * threads + t;
      Fiber& fiber = own.fibers[number];
      fiber.here = {t, threads, b, blocks, block.shared};
      fiber.block = &block;
      fiber.warp = &block.warps[t / kWarp];
      fiber.left_at = make_stack(stacks + number * kBetweenStacks, kStackBytes, fiber_main);
      own.set_can_run(number, true);
    }
  }
  running = &own.fibers[0].here;
  kith_switch_stack(&own.home, own.fibers[0].left_at);
  running = nullptr;
  scheduler = nullptr;
  if (!own.error.empty()) throw std::logic_error("kernel: " + own.error);
}

}  // namespace

void yield() { run_next(); }

void wait_for_block(std::uint32_t number, std::uint32_t threads) {
  Barrier& barrier = current_fiber().block->barriers[number];
  if (barrier.arrived > 0 && barrier.expected != threads) fail("two sizes at one barrier");
  barrier.expected = threads;
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    ++barrier.generation;
    ++scheduler->progress;
    for (const std::size_t fiber : barrier.waiting) scheduler->set_can_run(fiber, true);
    barrier.waiting.clear();
    return;
  }
  barrier.waiting.push_back(scheduler->current);
  wait();
}

bool vote_in_block(bool vote) {
  Block& block = *current_fiber().block;
  std::uint32_t& votes = block.votes[block.barriers[0].generation % 2];
  if (block.barriers[0].arrived == 0) votes = 0;
  if (vote) ++votes;
  wait_for_block(0, current_fiber().here.threads);
  return votes > 0;
}

const std::uint64_t* wait_for_warp(const char* what, std::uint64_t word) {
  const Fiber& fiber = current_fiber();
  const std::uint32_t lane = fiber.here.thread % kWarp;
  Warp& warp = *fiber.warp;
  if (warp.arrived > 0 && warp.what != what && std::strcmp(warp.what, what) != 0) {
    fail_apart(what, warp.what);
  }
  warp.what = what;
  std::uint64_t* words = warp.words[warp.generation % 2];
  words[lane] = word;
  if (++warp.arrived < kWarp) {
    wait();
    return words;
  }
  warp.arrived = 0;
  ++warp.generation;
  ++scheduler->progress;
  scheduler->set_warp_can_run(scheduler->current - lane);
  return words;
}

std::uint32_t shared_limit() { return limit; }

SharedLimit::SharedLimit(std::uint32_t bytes) : before_(limit) { limit = bytes; }
SharedLimit::~SharedLimit() { limit = before_; }

void run_grid(std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes, Residence residence,
              const std::function<void()>& kernel) {
  if (shared_bytes > shared_limit()) {
    throw std::logic_error("kernel: a block asks for " + std::to_string(shared_bytes) +
                           " bytes of shared memory and may have " + std::to_string(shared_limit()));
  }
  if (residence == Residence::all_together) {
    run_blocks(0, blocks, blocks, threads, shared_bytes, kernel);
  } else {
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const std::uint32_t b = residence == Residence::last_first ? blocks - 1 - i : i;
      run_blocks(b, b + 1, blocks, threads, shared_bytes, kernel);
    }
  }
}

}  // namespace kith::cuda::emulation
