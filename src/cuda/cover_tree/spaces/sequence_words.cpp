// See sequence_words.hpp.
#include "cuda/cover_tree/spaces/sequence_words.hpp"

#include "cuda/cover_tree/spaces/item_bit.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace kith::cuda {
namespace {

constexpr std::uint32_t kBits = 64;
constexpr std::uint8_t kNoBit = 255;
/// Items below this are looked up in a table.
constexpr std::uint32_t kDirectItems = 1 << 16;
constexpr std::uint64_t kRowsPerTask = 4096;

[[noreturn]] void refuse(const std::string& why) {
  throw UsageError(fmt::format("{}: the GPU does not measure such sequences; search them with `device=cpu`", why));
}

std::uint64_t longest_of(const engine::SequenceRows& rows) {
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < rows.count; ++i) longest = std::max(longest, std::uint64_t{rows.row(i).size()});
  return longest;
}

}  // namespace

SequenceWords::SequenceWords(const engine::SequenceRows& rows, SequenceMetric metric, std::uint32_t shared_limit)
    : most_table_bytes_(most_table_bytes(shared_limit)), metric_(metric) {
  longest_ = static_cast<std::uint32_t>(longest_of(rows));
  if (metric == SequenceMetric::jaccard) return;
  find_alphabet(rows);
  if (metric == SequenceMetric::hamming) return;
  require_short(rows);
  choose_bits(rows);
}

std::uint32_t SequenceWords::words_for(std::uint32_t longest) const {
  switch (metric_) {
    case SequenceMetric::edit:
      return kHeadWords + (longest + 3) / 4;
    case SequenceMetric::hamming:
      return std::max(1u, (longest + 3) / 4);
    case SequenceMetric::jaccard:
      break;
  }
  return kHeadWords + longest;
}

std::uint32_t SequenceWords::require_short(const engine::SequenceRows& rows) const {
  const std::uint64_t longest = longest_of(rows);
  if (metric_ != SequenceMetric::edit) return static_cast<std::uint32_t>(longest);
  if (longest > kMostEditLength) {
    refuse(fmt::format("a sequence of {} items by edit distance, which may have {} there", longest, kMostEditLength));
  }
  const auto most = std::max(static_cast<std::uint32_t>(longest), longest_);
  const std::uint64_t table = std::uint64_t{8} * edit_blocks(most) * std::max(1u, symbols());
  if (table > most_table_bytes_) {
    refuse(fmt::format("sequences of up to {} items, {} of them different", most, symbols()));
  }
  return static_cast<std::uint32_t>(longest);
}

void SequenceWords::find_alphabet(const engine::SequenceRows& rows) {
  const std::uint64_t items = rows.count == 0 ? 0 : rows.offsets[rows.count];
  std::vector<bool> seen(kDirectItems, false);
  std::vector<std::uint32_t> large;
  for (std::uint64_t i = 0; i < items; ++i) {
    const std::uint32_t item = rows.items[i];
    if (item < kDirectItems) {
      seen[item] = true;
    } else if (std::find(large.begin(), large.end(), item) == large.end()) {
      large.push_back(item);
      if (large.size() > kMostSymbols) break;
    }
  }
  for (std::uint32_t item = 0; item < kDirectItems; ++item) {
    if (seen[item]) alphabet_.push_back(item);
  }
  std::sort(large.begin(), large.end());
  alphabet_.insert(alphabet_.end(), large.begin(), large.end());
  if (alphabet_.size() > kMostSymbols) refuse(fmt::format("sequences of more than {} different items", kMostSymbols));
  direct_.assign(kDirectItems, static_cast<std::uint8_t>(kUnknownSymbol));
  for (std::uint32_t symbol = 0; symbol < symbols() && alphabet_[symbol] < kDirectItems; ++symbol) {
    direct_[alphabet_[symbol]] = static_cast<std::uint8_t>(symbol);
  }
}

std::uint32_t SequenceWords::symbol_of(std::uint32_t item) const {
  if (item < kDirectItems) return direct_[item];
  const auto found = std::lower_bound(alphabet_.begin(), alphabet_.end(), item);
  return found == alphabet_.end() || *found != item ? kUnknownSymbol
                                                    : static_cast<std::uint32_t>(found - alphabet_.begin());
}

/// The bits that tell most: those that about half of the sequences have.
void SequenceWords::choose_bits(const engine::SequenceRows& rows) {
  constexpr std::uint64_t kMostLookedAt = 1 << 14;
  bit_of_.assign(std::size_t{symbols()} * longest_, kNoBit);
  std::vector<std::uint32_t> reached(bit_of_.size()), counts(symbols());
  const std::uint64_t step = rows.count / kMostLookedAt + 1;
  double looked_at = 0;
  for (std::uint64_t i = 0; i < rows.count; i += step, ++looked_at) {
    std::fill(counts.begin(), counts.end(), 0);
    for (const std::uint32_t item : rows.row(i)) {
      const std::uint32_t symbol = symbol_of(item);
      ++reached[std::size_t{symbol} * longest_ + counts[symbol]++];
    }
  }
  std::vector<std::pair<double, std::uint32_t>> told;  // less is better
  for (std::uint32_t at = 0; at < reached.size(); ++at) {
    const double share = reached[at] / looked_at;
    if (reached[at] > 0) told.emplace_back(-share * (1 - share), at);
  }
  const auto chosen = std::min<std::size_t>(kBits, told.size());
  std::partial_sort(told.begin(), told.begin() + static_cast<std::ptrdiff_t>(chosen), told.end());
  for (std::size_t bit = 0; bit < chosen; ++bit) bit_of_[told[bit].second] = static_cast<std::uint8_t>(bit);
}

void SequenceWords::pack_row(std::span<const std::uint32_t> row, std::uint32_t words, std::uint32_t* to,
                             std::vector<std::uint32_t>& counts) const {
  std::fill_n(to, words, 0u);
  const bool has_head = metric_ != SequenceMetric::hamming;
  std::uint64_t bits = 0;
  std::uint32_t* body = has_head ? to + kHeadWords : to;
  if (metric_ == SequenceMetric::jaccard) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      body[i] = row[i];
      bits |= std::uint64_t{1} << item_bit(row[i]);
    }
  } else {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::uint32_t symbol = symbol_of(row[i]);
      body[i / 4] |= symbol << (8 * (i % 4));
      if (!has_head || symbol == kUnknownSymbol || counts[symbol] == longest_) continue;
      const std::uint8_t bit = bit_of_[std::size_t{symbol} * longest_ + counts[symbol]++];
      if (bit != kNoBit) bits |= std::uint64_t{1} << bit;
    }
  }
  if (!has_head) return;
  to[0] = static_cast<std::uint32_t>(row.size());
  to[1] = static_cast<std::uint32_t>(bits);
  to[2] = static_cast<std::uint32_t>(bits >> 32);
}

void SequenceWords::pack(const engine::SequenceRows& rows, std::uint64_t first, std::uint64_t count,
                         std::uint32_t words, std::uint32_t* to, int threads) const {
  runtime::parallel_for((count + kRowsPerTask - 1) / kRowsPerTask, {.threads = threads}, [&](std::uint64_t task) {
    std::vector<std::uint32_t> counts(symbols());
    for (std::uint64_t i = task * kRowsPerTask; i < std::min(count, (task + 1) * kRowsPerTask); ++i) {
      pack_row(rows.row(first + i), words, to + i * words, counts);
    }
  });
}

}  // namespace kith::cuda
