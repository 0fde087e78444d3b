// Carries requests and replies between searches and shards that one process holds, wherever those are.
#pragma once

#include <kith/error.hpp>
#include <kith/shards/search.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::shards {

/// One request of a round, from any search.
struct Job {
  Search* search = nullptr;
  SearchRequest request;
};

/// Carries on with all searches until they are done: `answer(jobs)` gives the searches the replies to the jobs of each
/// shard.
template <typename Answer>
void carry(std::span<Search* const> searches, std::uint32_t shards, const Answer& answer) {
  while (true) {
    std::vector<std::vector<Job>> jobs(shards);
    bool is_any = false;
    for (Search* search : searches) {
      for (SearchRequest& request : search->next()) {
        jobs[request.shard].push_back({search, std::move(request)});
        is_any = true;
      }
    }
    if (!is_any) return;
    answer(jobs);
  }
}

/// The reply to a job, whose request is not needed any more.
inline SearchReply reply_of(const Shard& shard, Job& job, std::span<const std::uint64_t> allowed, int threads) {
  SearchReply reply = shard.answer(job.request, {.allowed = allowed, .threads = threads});
  job.request = {};
  return reply;
}

/// Failed allocations become errors that say what they were for.
template <typename F>
auto with_memory(std::string_view what, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("not enough memory for {}", what));
  } catch (const std::length_error&) {
    throw OutOfMemory(fmt::format("not enough memory for {}", what));
  }
}

}  // namespace kith::shards
