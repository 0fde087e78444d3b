// See validate_section.hpp.
#include "engine/index_file/validate_section.hpp"

#include "runtime/first_match.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kith::engine {

void require_zero_parameters(const IndexFile& file, std::uint32_t first) {
  for (std::uint32_t i = first; i < kEngineParameters; ++i) {
    if (file.facts().parameters[i] == 0) continue;
    file.refuse(fmt::format("engine parameter {} is {}, but engine {} has no such parameter", i,
                            file.facts().parameters[i], kith::name_of(file.facts().engine)));
  }
}

template <typename T>
void require_finite(const IndexFile& file, SectionId id, std::span<const T> values, int threads) {
  constexpr std::uint64_t kValuesPerTask = std::uint64_t{1} << 16;
  const std::uint64_t wrong = runtime::first_match(values.size(), kValuesPerTask, threads,
                                                   [&](std::uint64_t i) { return !std::isfinite(values[i]); });
  if (wrong < values.size()) file.refuse(fmt::format("section {}: value {} is not finite", name_of(id), wrong));
}

template void require_finite(const IndexFile&, SectionId, std::span<const float>, int);
template void require_finite(const IndexFile&, SectionId, std::span<const double>, int);

}  // namespace kith::engine
