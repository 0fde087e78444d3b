// The report of kith register --pairs: a row for each pair, and how many went well.
#pragma once

#include "registration_flags.hpp"

#include <kith/apps/registration.hpp>

#include <optional>
#include <span>
#include <string>

namespace kith::cli {

/// A row of the list.
struct CloudFiles {
  std::string source;
  std::string target;
  std::string initial;  ///< empty: as the flags say
};

/// A pair and what became of it; without a result `problem` says why.
struct RegisteredClouds {
  CloudFiles pair;
  std::optional<apps::Registration> result;
  std::string problem;
  int exit_code = 0;
};

void write_pairs_report(const std::string& path, const std::string& list, std::span<const RegisteredClouds> pairs,
                        double register_ms, const RegistrationFlags& flags);

}  // namespace kith::cli
