// The queries of a search over shards. See kith/shards/search.hpp.
#include <kith/shards/search.hpp>

namespace kith::shards::inline v0 {

SearchQueries::SearchQueries(PointView queries) : view_(queries) {}
SearchQueries::SearchQueries(const Shard& shard, std::uint32_t number) : shard_(shard), number_(number) {}

std::uint64_t SearchQueries::rows() const { return shard_ ? shard_->facts().points : view_.rows(); }

}  // namespace kith::shards::inline v0
