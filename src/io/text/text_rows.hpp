// Parses the rows of one block of a text file straight into their place.
#pragma once

#include "io/text/text_blocks.hpp"
#include "io/text/text_layout.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kith::io::inline v0 {

/// Label texts in order of first appearance.
class LabelNames {
 public:
  std::uint32_t code_of(std::string_view text);
  const std::vector<std::string>& names() const { return names_; }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> codes_;
  std::uint32_t last_ = 0;  // labels often repeat
};

/// How many lines and rows a block holds. A line above the limit is not counted.
struct BlockSize {
  std::uint64_t lines = 0;
  std::uint64_t rows = 0;
  std::uint64_t comments = 0;
};
BlockSize count_rows(const BlockLines& lines);

/// What is wrong with a line.
struct RowError {
  enum class Kind : std::uint8_t { missing_value, bad_data, nul_byte, changed };
  Kind kind = Kind::bad_data;
  std::uint64_t line = 0;  ///< number in the file
  std::string where;       ///< "line 7, column 2 (y)"
  std::string what;
  bool is_about_value = false;  ///< the fields of the row were found, but one is not a number
};

/// What parsing one block gave beside the numbers.
struct BlockResult {
  std::optional<RowError> error;  ///< the first in the block
  std::uint64_t missing = 0;      ///< missing values in the coordinate columns of all rows
  std::uint64_t rounded = 0;      ///< whole numbers in them that T does not hold, from 2^53 on
  std::string first_rounded;      ///< the first of these: "9007199254740993 in line 2, column 1 (id)"
  LabelNames labels;              ///< the codes of the rows refer to these
};

/// Everything that is the same for all blocks.
struct RowFormat {
  const runtime::InputFile* file = nullptr;
  const TextLayout* layout = nullptr;
  const ColumnPlan* plan = nullptr;
  bool missing_as_nan = false;
};

/// Parses all rows of a block; goes on after errors, so that missing values are counted everywhere. `out` has room for
/// size.rows * dims values, or is null if the rows are only to be checked; `codes` has room for size.rows labels, or is
/// null. T is float or double.
template <typename T>
BlockResult parse_rows(const RowFormat& format, const BlockLines& lines, BlockSize size, std::uint64_t first_line,
                       T* out, std::uint32_t* codes);

}  // namespace kith::io::inline v0
