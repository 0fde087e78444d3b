// kith build for points that are larger than memory: a folder of shards.
#pragma once

#include "commands/build_objects.hpp"

namespace kith::cli {

/// Whether the flags ask for a folder of shards: by --shards, by the name that --out gives, or by what is there
/// already.
bool wants_shards(const BuildFlags& flags);

/// Builds the folder, or goes on. Throws UsageError for flags and files that do not go with one. Returns 0.
int build_stored(const BuildFlags& flags);

}  // namespace kith::cli
