// See edit_space.hpp.
#include "cpu/cover_tree/edit_space.hpp"

namespace kith::cpu {

EditSpace::EditSpace(const engine::SequenceRows& rows)
    : codes_(rows), signature_(codes_.size()), sequences_(rows, codes_), signatures_(rows.count) {
  std::vector<std::uint32_t> sequence;
  for (std::uint32_t i = 0; i < size(); ++i) {
    sequences_.copy(i, sequence);
    signatures_[i] = signature_.of(sequence);
  }
}

void EditSpace::ask(Query& query, std::uint32_t number) const {
  sequences_.copy(number, query.codes_);
  query.pattern_.set(query.codes_, codes_.size());
  query.signature_ = signatures_[number];
}

void EditSpace::ask_outside(Query& query, const Outside& outside) const {
  query.codes_.clear();
  for (const std::uint32_t item : outside) query.codes_.push_back(codes_.code_of(item));
  query.pattern_.set(query.codes_, codes_.size());
  query.signature_ = signature_.of(query.codes_);
}

auto EditSpace::arrange(std::span<const std::uint32_t> numbers, int threads) const -> Rows {
  Rows rows;
  rows.sequences_ = sequences_.taken(numbers, threads);
  rows.signatures_.reserve(numbers.size());
  for (const std::uint32_t number : numbers) rows.signatures_.push_back(signatures_[number]);
  return rows;
}

}  // namespace kith::cpu
