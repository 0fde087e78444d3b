// Every column of a file, each with its name, its own type and its values: what commands pass on from file to file.
#pragma once

#include <kith/error.hpp>
#include <kith/io/format.hpp>
#include <kith/io/read_points.hpp>
#include <kith/io/write_points.hpp>
#include <kith/point_set.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::io::inline v0 {

/// What the values of a column are.
enum class ColumnType : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, text };

/// Bytes of one number; 0 for text.
constexpr std::size_t size_of(ColumnType type) {
  constexpr std::size_t kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0};
  return kSizes[static_cast<std::size_t>(type)];
}
/// "i8", …, "f64", "text".
constexpr std::string_view name_of(ColumnType type) {
  constexpr std::string_view kNames[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "text"};
  return kNames[static_cast<std::size_t>(type)];
}
/// The reverse of `name_of`; nothing for anything else.
KITH_EXPORT std::optional<ColumnType> parse_column_type(std::string_view text);
constexpr bool is_float(ColumnType type) { return type == ColumnType::f32 || type == ColumnType::f64; }

/// The ColumnType of a C++ type.
template <typename T>
constexpr ColumnType column_type_of() {
  if constexpr (std::is_same_v<T, float>) {
    return ColumnType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ColumnType::f64;
  } else {
    static_assert(std::is_integral_v<T>);
    constexpr int kBase = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 4 : 6;
    return static_cast<ColumnType>(kBase + (std::is_signed_v<T> ? 0 : 1));
  }
}

/// Texts, one per row, in one block of memory.
class KITH_EXPORT TextValues {
 public:
  std::uint64_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](std::uint64_t row) const {
    const std::uint64_t begin = row == 0 ? 0 : ends_[row - 1];
    return std::string_view(bytes_).substr(begin, ends_[row] - begin);
  }
  void push_back(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  void append(const TextValues& others);

 private:
  std::string bytes_;
  std::vector<std::uint64_t> ends_;
};

/// One column. Numbers that were read from text also keep the text, so that 35.50 stays 35.50.
class KITH_EXPORT Column {
 public:
  Column() = default;
  /// Numbers, all 0. Throws std::bad_alloc.
  Column(std::string name, ColumnType type, std::uint64_t rows)
      : name_(std::move(name)), type_(type), rows_(rows), bytes_(rows * size_of(type)) {}
  /// Texts.
  Column(std::string name, TextValues texts)
      : name_(std::move(name)), type_(ColumnType::text), rows_(texts.size()), texts_(std::move(texts)) {}
  /// A copy of numbers.
  template <typename T>
  Column(std::string name, std::span<const T> values) : Column(std::move(name), column_type_of<T>(), values.size()) {
    std::copy(values.begin(), values.end(), this->values<T>().begin());
  }

  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  ColumnType type() const { return type_; }
  bool is_text() const { return type_ == ColumnType::text; }
  std::uint64_t rows() const { return rows_; }

  std::byte* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }
  /// All numbers; `T` must be the type that `type()` names, else UsageError is thrown.
  template <typename T>
  std::span<T> values() {
    require(column_type_of<T>());
    return {reinterpret_cast<T*>(bytes_.data()), static_cast<std::size_t>(rows_)};
  }
  template <typename T>
  std::span<const T> values() const {
    require(column_type_of<T>());
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<std::size_t>(rows_)};
  }
  /// The texts of a text column, or those that numbers were read from; empty if there are none.
  const TextValues& texts() const { return texts_; }
  void set_texts(TextValues texts) { texts_ = std::move(texts); }

  /// One value as a double; NaN for text.
  double number(std::uint64_t row) const;
  /// Appends one value as text: as it stood in the file, or the shortest that reads back as the same number.
  void print(std::uint64_t row, std::string& to) const;

 private:
  void require(ColumnType type) const;

  std::string name_;
  ColumnType type_ = ColumnType::f64;
  std::uint64_t rows_ = 0;
  std::vector<std::byte> bytes_;
  TextValues texts_;
};

/// The header of a LAS file, for a LAS file that is made of the same points.
struct LasHeader {
  std::string bytes;             ///< the public header block
  std::string variable_records;  ///< those behind it, but for what describes extra bytes
  std::uint32_t record_count = 0;
};

/// What a file holds: its columns, and what some formats have beside them.
struct KITH_EXPORT Table {
  std::vector<Column> columns;
  /// The columns that are coordinates: x, y, z of PLY, PCD and LAS; all numbers of the others.
  std::vector<std::uint32_t> coordinates;
  bool named = false;  ///< whether the file names its columns; otherwise they are called x, y, z or c0, c1, …
  Format format = Format::text;
  std::string viewpoint;                 ///< PCD: what follows VIEWPOINT
  std::vector<std::string> comments;     ///< PLY: the comments of the header
  std::shared_ptr<const LasHeader> las;  ///< LAS only
  std::vector<std::string> notes;        ///< what a person should know, e.g. what was not read

  std::uint64_t rows() const { return columns.empty() ? 0 : columns.front().rows(); }
  /// By exact name, else by the name in any case, else by position from 1; "last" is the last.
  std::optional<std::uint32_t> find(std::string_view column) const;
  /// The same; throws UsageError that lists what there is. `file` is for the message.
  std::uint32_t require(std::string_view column, std::string_view file) const;
  /// Keeps these columns, in this order.
  void keep(std::span<const std::uint32_t> positions);
  bool is_coordinate(std::uint32_t column) const;
};

/// Reads every column of a file of any format; "-" is standard input. Of the options `columns` chooses columns and
/// their order, and `dtype` converts those of floating-point numbers; `label` and `extras` mean nothing here. A value
/// that is missing in a text file is NaN. Throws as `read_points`.
KITH_EXPORT Table read_table(const std::string& path, const ReadOptions& options = {});

/// Writes text (.csv, .tsv, .txt, .xyz), .npy, .npz, .ply, .pcd or .las, each also as .gz; "-" is standard output, as
/// CSV. The columns keep their types; a type that the format lacks becomes one that holds every value. .npy holds the
/// coordinates only, PLY, PCD and LAS hold no text. Returns notes that say what was left out or rounded. Throws
/// UsageError if a column cannot be written, IoError, Interrupted.
KITH_EXPORT std::vector<std::string> write_table(const std::string& path, const Table& table,
                                                 const WriteOptions& options = {});

/// The rows of these numbers, in this order. Throws UsageError if a number is out of range.
KITH_EXPORT Table take_rows(const Table& table, std::span<const std::uint32_t> rows);

/// Puts the rows of `more` behind those of `table`; its columns are found by name if both files name theirs. Types that
/// differ become one that holds every value. Throws UsageError, which names `file`, if a column is missing.
KITH_EXPORT void append_rows(Table& table, const Table& more, std::string_view file);

/// The column with its values as another type; nothing if some value would change. NaN stays NaN.
KITH_EXPORT std::optional<Column> converted(const Column& column, ColumnType type);
/// The same with floating-point values rounded to `type`, which is f32 or f64. Not for text.
KITH_EXPORT Column rounded(const Column& column, ColumnType type);

/// A table of points. Without names the columns are called x, y, z or c0, c1, …
KITH_EXPORT Table table_of(PointView points, const std::vector<std::string>& names = {});

}  // namespace kith::io::inline v0
