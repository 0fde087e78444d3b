// Labels and values found again by the plain loop, one point after the other.
#pragma once

#include "commands/classify_flags.hpp"
#include "commands/classify_input.hpp"

#include <kith/progress.hpp>

#include <cstdint>
#include <span>

namespace kith::cli {

/// Asks for the neighbours of one query at a time by brute force on one thread, and lets them vote; in sequential mode
/// with the labels that the loop itself gave before. Throws BadData that names the first row that differs.
void check_labels(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const std::uint32_t> found,
                  std::uint32_t k, const ProgressCallback& progress);
void check_values(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const double> found,
                  std::uint32_t k, const ProgressCallback& progress);

}  // namespace kith::cli
