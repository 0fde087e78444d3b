// Checks of contents that several engines share. All throw CorruptFile and name the first thing that is wrong.
#pragma once

#include "engine/index_file/index_file.hpp"

#include <cstdint>
#include <span>

namespace kith::engine {

/// Parameters from `first` on are not used by the engine and must be zero.
void require_zero_parameters(const IndexFile& file, std::uint32_t first);

/// Every value is a finite number.
template <typename T>
void require_finite(const IndexFile& file, SectionId id, std::span<const T> values, int threads);

}  // namespace kith::engine
