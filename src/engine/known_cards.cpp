// GPUs by their data sheets: memory as nvidia-smi shows it, bandwidth and compute capability. See kith/job_plan.hpp.
#include <kith/error.hpp>
#include <kith/job_plan.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace kith::inline v0 {
namespace {

constexpr std::uint64_t operator""_MiB(unsigned long long count) { return count << 20; }
constexpr std::uint32_t operator""_KiB(unsigned long long count) { return static_cast<std::uint32_t>(count << 10); }

constexpr GpuCard kCards[] = {{"T4", 15360_MiB, 320, 75, 64_KiB},        {"A10", 23028_MiB, 600, 86, 99_KiB},
                              {"RTX 3090", 24576_MiB, 936, 86, 99_KiB},  {"RTX A6000", 49140_MiB, 768, 86, 99_KiB},
                              {"A100-40", 40960_MiB, 1555, 80, 163_KiB}, {"A100-80", 81920_MiB, 2039, 80, 163_KiB},
                              {"RTX 4090", 24564_MiB, 1008, 89, 99_KiB}, {"L4", 23034_MiB, 300, 89, 99_KiB},
                              {"L40S", 46068_MiB, 864, 89, 99_KiB},      {"H100", 81559_MiB, 3350, 90, 227_KiB},
                              {"H200", 143771_MiB, 4800, 90, 227_KiB},   {"RTX 5090", 32607_MiB, 1792, 120, 99_KiB},
                              {"B200", 183359_MiB, 8000, 100, 227_KiB}};

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

}  // namespace

std::span<const GpuCard> known_cards() { return kCards; }

const GpuCard& card_named(std::string_view name) {
  const auto found = std::find_if(std::begin(kCards), std::end(kCards),
                                  [&](const GpuCard& card) { return plain(card.name) == plain(name); });
  if (found != std::end(kCards)) return *found;
  std::vector<std::string_view> names;
  for (const GpuCard& card : kCards) names.push_back(card.name);
  throw UsageError(fmt::format("\"{}\" is no known device; use auto, cpu, cuda, cuda:N or one of the cards {}", name,
                               fmt::join(names, ", ")));
}

}  // namespace kith::inline v0
