// What the columns of a cloud are to people who look at it: numbers, labels, a colour, a direction.
#pragma once

#include <kith/io/table.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::apps {

enum class ColumnKind { number, label, color, direction };

/// One or several columns that are shown as one thing.
struct ColumnGroup {
  std::string name;
  ColumnKind kind = ColumnKind::number;
  std::vector<const io::Column*>
      parts;  ///< red, green, blue, or one that holds all three; a component per dimension; else one
};

/// Columns in their order. Colours and directions stand where their first part stands.
std::vector<ColumnGroup> grouped_columns(std::span<const io::Column> columns, std::uint32_t dims);

/// The classes of a column of labels.
struct Labels {
  std::vector<std::string> words;    ///< numbers by size, else texts by their bytes
  std::vector<std::uint32_t> codes;  ///< places in `words`, one per row
};

inline constexpr std::size_t kMostLabels = 65535;

/// Of these rows. `words` is empty if there are more than kMostLabels classes.
Labels labels_of(const io::Column& column, std::span<const std::uint32_t> rows);

/// Red (0), green or blue of these rows as 0 to 255. PCD packs the three into one number.
std::vector<double> color_values(const ColumnGroup& color, std::size_t part, std::span<const std::uint32_t> rows);

/// Equal but for the case of ASCII letters.
bool same_name(std::string_view a, std::string_view b);

}  // namespace kith::apps
