// The reports of kith knn and kith radius: how far neighbours are, how many there are, and where the time went.
#pragma once

#include "report/report_page.hpp"
#include "search_flags.hpp"
#include "search_times.hpp"

#include <kith/neighbors.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

/// A search that is done.
struct DoneSearch {
  std::string command;  ///< "kith knn"
  const SearchFlags& flags;
  const nlohmann::ordered_json& facts;  ///< what --json prints
  const SearchTimes& times;
  std::string explanation;  ///< why this engine and device
  std::string skipped;      ///< rows that were left out, for people; may be empty
};

void write_search_report(const std::string& path, const DoneSearch& done, const Neighbors& found);
void write_search_report(const std::string& path, const DoneSearch& done, const NeighborLists& found);
/// The number of neighbours of each query.
void write_search_report(const std::string& path, const DoneSearch& done, const std::vector<std::uint32_t>& counts);

}  // namespace kith::cli
