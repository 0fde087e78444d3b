// The rounds of a search: every rank asks the shards of others, and answers what it is asked. See index_state.hpp.
#include "mpi/index_state.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <utility>

namespace kith::mpi::inline v0 {
namespace {

/// Reports how many queries a rank has answered so far, its own and those of others.
class AnswerMeter {
 public:
  explicit AnswerMeter(const ProgressCallback& progress) : progress_(progress) {}

  void add(std::uint64_t queries) {
    done_ += queries;
    look();
  }
  /// Throws Interrupted if the callback says stop.
  void look() const {
    if (progress_ && !progress_({"searching", done_, 0})) throw Interrupted();
  }
  /// For the searches of one request.
  ProgressCallback callback() const {
    if (!progress_) return {};
    return [this](const Progress&) { return progress_({"searching", done_, 0}); };
  }

 private:
  const ProgressCallback& progress_;
  std::uint64_t done_ = 0;
};

}  // namespace

std::uint32_t DistributedIndex::State::rank_of(std::uint64_t number) const {
  // Ranks without points start where the next one does: the last that starts at or before the number has it.
  const auto behind = std::upper_bound(starts.begin(), starts.end(), number);
  return static_cast<std::uint32_t>(behind - starts.begin() - 1);
}

shards::ShardSearchOptions DistributedIndex::State::resolved(const shards::ShardSearchOptions& options) const {
  shards::ShardSearchOptions own = options;
  if (own.threads == 0) own.threads = threads;
  return own;
}

void DistributedIndex::State::run(const std::function<shards::Search&()>& begin,
                                  const shards::ShardSearchOptions& options) const {
  shards::Search* search = nullptr;
  std::vector<std::uint64_t> allowed;
  std::vector<Bytes> replies;
  AnswerMeter meter(options.progress);
  const auto answer = [&](const shards::SearchRequest& request) {
    shards::SearchReply reply =
        shard->answer(request, {.allowed = allowed, .threads = options.threads, .progress = meter.callback()});
    meter.add(reply.counts.size());
    return reply;
  };
  while (true) {
    std::optional<shards::SearchRequest> own;
    Incoming asked = ranks.exchange([&] {
      meter.look();
      if (search == nullptr) {
        search = &begin();
        allowed = shard->allowed_here(options.allowed);
      }
      for (Bytes& reply : replies) {
        if (!reply.empty()) search->take(shards::SearchReply::from_bytes(std::exchange(reply, {})));
      }
      Outgoing requests = ranks.outgoing();
      for (shards::SearchRequest& request : search->next()) {
        requests.is_any = true;
        if (request.shard == own_shard()) {
          own = std::move(request);
        } else {
          requests.to[request.shard] = request.to_bytes();
          request = {};
        }
      }
      return requests;
    });
    if (!asked.is_any) return;
    replies = ranks
                  .exchange([&] {
                    Outgoing answers = ranks.outgoing();
                    if (own) search->take(answer(*own));
                    for (std::size_t rank = 0; rank < asked.from.size(); ++rank) {
                      if (asked.from[rank].empty()) continue;
                      answers.to[rank] =
                          answer(shards::SearchRequest::from_bytes(std::exchange(asked.from[rank], {}))).to_bytes();
                    }
                    return answers;
                  })
                  .from;
  }
}

}  // namespace kith::mpi::inline v0
