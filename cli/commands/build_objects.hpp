// kith build for rows of bits, strings and sets.
#pragma once

#include "output_flags.hpp"
#include "sequence_flags.hpp"

#include <kith/apps/wrap_points.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>
#include <kith/io/read_points.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

/// Everything that kith build takes.
struct BuildFlags {
  std::vector<std::string> paths;  ///< of POINTS: more than one only for shards
  std::string points_path;         ///< the first of them
  std::string out;
  std::uint32_t shards = 0;  ///< 0: as few as the memory allows, if shards are wanted
  io::ReadOptions read;
  BuildOptions build;
  std::vector<apps::PeriodicAxis> axes;  ///< those of --period
  SequenceFlags sequences;
  OutputFlags output;
};

/// Builds and saves an index of bits or sequences. Throws UsageError for flags that are for points. Returns 0.
int build_objects(const BuildFlags& flags, IndexContent content);

}  // namespace kith::cli
