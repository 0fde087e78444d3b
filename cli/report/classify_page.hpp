// The report of kith classify: how good labels or values are, where classes are mixed up, and which k does best.
#pragma once

#include "commands/classify_report.hpp"

#include <kith/apps/classify.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace kith::cli {

/// Whether shares of all classes are few enough to be kept for a report.
bool can_keep_shares(std::uint64_t queries, std::uint32_t classes);

/// How clear the votes were. Of the shares, if there are any, the most contested votes are kept.
LabelVotes votes_of(const apps::Classified& found, std::uint32_t classes);

void write_classify_report(const std::string& path, const ClassifyFlags& flags, const ClassifyInput& input,
                           const ClassifyWork& work);

}  // namespace kith::cli
