// See coded_sequences.hpp.
#include "cpu/cover_tree/coded_sequences.hpp"

#include "runtime/parallel.hpp"

#include <cstring>

namespace kith::cpu {
namespace {

constexpr std::uint64_t kSequencesPerTask = 4096;

template <typename Code>
void encode(const engine::SequenceRows& rows, const ItemCodes& codes, Code* out) {
  for (std::uint64_t i = rows.offsets[0]; i < rows.offsets[rows.count]; ++i) {
    *out++ = static_cast<Code>(codes.code_of(rows.items[i]));
  }
}

}  // namespace

void CodedSequences::reserve() {
  longest_ = 0;
  for (std::uint32_t i = 0; i < count(); ++i) longest_ = std::max(longest_, length(i));
  bytes_.resize((offsets_.back() + longest_) * code_bytes_);
}

CodedSequences::CodedSequences(const engine::SequenceRows& rows, const ItemCodes& codes)
    : code_bytes_(codes.size() <= 0xff     ? 1
                  : codes.size() <= 0xffff ? 2
                                           : 4) {
  if (rows.count == 0) return;
  offsets_.resize(rows.count + 1);
  for (std::uint64_t i = 0; i <= rows.count; ++i) offsets_[i] = rows.offsets[i] - rows.offsets[0];
  reserve();
  if (code_bytes_ == 1) {
    encode(rows, codes, bytes_.data());
  } else if (code_bytes_ == 2) {
    encode(rows, codes, reinterpret_cast<std::uint16_t*>(bytes_.data()));
  } else {
    encode(rows, codes, reinterpret_cast<std::uint32_t*>(bytes_.data()));
  }
}

CodedSequences CodedSequences::taken(std::span<const std::uint32_t> numbers, int threads) const {
  CodedSequences result;
  result.code_bytes_ = code_bytes_;
  result.offsets_.resize(numbers.size() + 1);
  for (std::size_t i = 0; i < numbers.size(); ++i) result.offsets_[i + 1] = result.offsets_[i] + length(numbers[i]);
  result.reserve();
  const auto copy_some = [&](std::uint64_t task) {
    const std::uint64_t end = std::min<std::uint64_t>(numbers.size(), (task + 1) * kSequencesPerTask);
    for (std::uint64_t i = task * kSequencesPerTask; i < end; ++i) {
      const std::uint64_t bytes = std::uint64_t{length(numbers[i])} * code_bytes_;
      if (bytes == 0) continue;
      std::memcpy(result.bytes_.data() + result.offsets_[i] * code_bytes_,
                  bytes_.data() + offsets_[numbers[i]] * code_bytes_, bytes);
    }
  };
  const std::uint64_t tasks = (numbers.size() + kSequencesPerTask - 1) / kSequencesPerTask;
  if (threads == 1 || tasks <= 1) {
    for (std::uint64_t task = 0; task < tasks; ++task) copy_some(task);
  } else {
    runtime::parallel_for(tasks, {.threads = threads}, copy_some);
  }
  return result;
}

}  // namespace kith::cpu
