// Which columns of a file become coordinates, and which one the label: the same rules for every binary format.
#pragma once

#include <kith/io/read_points.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// Positions (from 0) of the columns to take.
struct ColumnChoice {
  std::vector<std::uint32_t> coordinates;
  std::optional<std::uint32_t> label;
};

/// The position of a column by its exact name, else by its name in any case, else by its position from 1, else "last".
std::optional<std::uint32_t> find_column(std::span<const std::string> names, std::uint32_t count,
                                         std::string_view wanted);
/// "it has x, y, z", for messages.
std::string what_columns_there_are(std::span<const std::string> names, std::uint32_t count);

/// Resolves `options.columns` and `options.label` among `count` columns. A column is meant by its exact name, else by
/// its name in any case, else by its position from 1. Without `options.columns` the `defaults` are taken, or, where
/// there are none, all columns but the label and the extras. `names` is empty for files that name nothing. Throws
/// UsageError if a column is not there, CorruptFile if a default is not.
ColumnChoice choose_columns(std::string_view file, std::span<const std::string> names, std::uint32_t count,
                            std::span<const std::string> defaults, const ReadOptions& options);

}  // namespace kith::io::inline v0
