// kith verify for results of searches of strings and sets.
#pragma once

#include "output_flags.hpp"
#include "sequence_flags.hpp"

#include <kith/apps/verify_neighbors.hpp>

#include <optional>
#include <string>

namespace kith::cli {

struct SequenceResult {
  std::string neighbors_path;
  std::string points_path;
  std::string queries_path;  ///< empty: the sequences themselves
  std::optional<double> radius;
  apps::VerifyOptions options;
};

/// Throws BadData that names the first list that is wrong.
int verify_sequence_result(SequenceResult result, const SequenceFlags& flags, const OutputFlags& output);

}  // namespace kith::cli
