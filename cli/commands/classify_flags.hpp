// What kith classify is asked to do: its flags, and which of them go together.
#pragma once

#include "command.hpp"
#include "output_flags.hpp"

#include <kith/apps/neighbor_options.hpp>
#include <kith/apps/scale.hpp>
#include <kith/io/read_points.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

/// The numbers of neighbours that --choose-k tries.
struct KRange {
  std::uint32_t least = 1;
  std::uint32_t most = 1;
};

struct ClassifyFlags {
  std::string file;  ///< a class file; empty if --train is given
  std::string train;
  std::string test;     ///< empty: there is nothing to classify
  std::string regress;  ///< the column of values; empty: labels
  std::string out;
  std::string report;  ///< a page that shows the result; empty: none
  std::optional<std::uint32_t> k;
  std::optional<bool> sequential;
  bool proba = false;
  bool check = false;
  bool skip_nonfinite = false;
  apps::Scaling scaling = apps::Scaling::none;
  std::optional<KRange> range;
  std::optional<std::uint32_t> folds;
  apps::NeighborOptions neighbors;
  io::ReadOptions read;
  OutputFlags output;

  bool is_class_file() const { return !file.empty(); }
  bool is_regression() const { return !regress.empty(); }
  bool is_sequential() const { return sequential.value_or(is_class_file()); }
  /// Whether points get labels or values; else only k is chosen.
  bool classifies() const { return is_class_file() ? !range || !out.empty() : !test.empty(); }
  /// Where the rows go; empty if only the report was asked for.
  std::string result_path() const { return out.empty() && !output.json ? "-" : out; }
  /// The column of labels or values.
  const std::string& target() const { return is_regression() ? regress : read.label; }
};

std::vector<Argument> classify_arguments(ClassifyFlags& flags);
std::vector<FlagGroup> classify_flags(ClassifyFlags& flags);

/// Throws UsageError for flags that contradict each other; before anything is read.
void check_classify_flags(const ClassifyFlags& flags);

}  // namespace kith::cli
