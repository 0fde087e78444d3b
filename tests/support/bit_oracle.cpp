// See bit_oracle.hpp.
#include "support/bit_oracle.hpp"

#include <algorithm>

namespace kith::test {

std::vector<std::pair<float, std::uint32_t>> BitRequest::found(std::uint64_t query) const {
  const BitView& rows = queries == nullptr ? points : *queries;
  std::vector<std::pair<float, std::uint32_t>> list;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    if (exclude_self && i == query) continue;
    if (earlier_only && i >= query) continue;
    if (!allowed.empty() && !allowed[i]) continue;
    int distance = 0;
    for (std::uint32_t j = 0; j < points.bits(); ++j) distance += rows.bit(query, j) != points.bit(i, j) ? 1 : 0;
    if (distance <= farthest) list.emplace_back(static_cast<float>(distance), static_cast<std::uint32_t>(i));
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace kith::test
