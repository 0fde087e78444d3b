// The parts of kith verify: index files, results of searches of strings and sets, exported trees.
#pragma once

#include "output_flags.hpp"
#include "sequence_flags.hpp"

#include <kith/apps/verify_neighbors.hpp>
#include <kith/device.hpp>
#include <kith/io/read_points.hpp>

#include <optional>
#include <string>

namespace kith::cli {

struct IndexCheck {
  std::string index_path;
  std::string points_path;  ///< to compare with; empty: only the file itself is checked
  io::ReadOptions read;     ///< how to read the points
  Device device;            ///< where the contents are checked
  int threads = 0;
  OutputFlags output;
  SequenceFlags sequences;  ///< how to read strings and sets
};

/// Loads the index, which checks all of it, and compares coordinates row by row. Returns 0, or throws CorruptFile that
/// names the first violation, BadData that names the first row that differs.
int verify_index(const IndexCheck& check);

struct SequenceResult {
  std::string neighbors_path;
  std::string points_path;
  std::string queries_path;  ///< empty: the sequences themselves
  std::optional<double> radius;
  apps::VerifyOptions options;
};

/// Throws BadData that names the first list that is wrong.
int verify_sequence_result(SequenceResult result, const SequenceFlags& flags, const OutputFlags& output);

/// Reads the tree and its points, checks all, reports. Throws BadData that names the first violation; returns 0.
int verify_tree_file(const std::string& tree_path, const std::string& points_path, io::ReadOptions read, Device device,
                     const OutputFlags& output);

}  // namespace kith::cli
