// Counts what a search sends.
#pragma once

#include <kith/shards/search.hpp>

#include <cstdint>
#include <vector>

namespace kith::shards {

/// Of arrays alone; a message has some 100 bytes besides.
inline std::uint64_t bytes_of(const SearchRequest& request) {
  return request.queries.bytes() + request.upper.bytes() + 8 * request.radii.size() +
         sizeof(SearchRequest::Limit) * request.limits.size() + 8 * request.below.size();
}
inline std::uint64_t bytes_of(const SearchReply& reply) {
  return 4 * reply.counts.size() + 8 * reply.numbers.size() + reply.reduced.size() * size_of(reply.reduced.dtype());
}

/// The requests of a round. A participant's own points are not sent to their own shard.
inline void note_requests(SearchTraffic* traffic, const std::vector<SearchRequest>& requests) {
  if (traffic == nullptr || requests.empty()) return;
  ++traffic->rounds;
  for (const SearchRequest& request : requests) {
    if (request.is_self) continue;
    ++traffic->requests;
    traffic->queries += request.queries.rows();
    traffic->bytes_out += bytes_of(request);
  }
}

/// A reply to one that was sent.
inline void note_reply(SearchTraffic* traffic, const SearchReply& reply, bool is_self) {
  if (traffic != nullptr && !is_self) traffic->bytes_back += bytes_of(reply);
}

}  // namespace kith::shards
