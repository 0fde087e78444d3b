// Calls a function with the C++ type of a column's numbers.
#pragma once

#include <kith/io/table.hpp>

namespace kith::io::inline v0 {

/// `action(T{})` for the type of the numbers. Not for text, which calls nothing.
template <typename Action>
void with_column_type(ColumnType type, Action&& action) {
  switch (type) {
    case ColumnType::i8:
      return action(std::int8_t{});
    case ColumnType::u8:
      return action(std::uint8_t{});
    case ColumnType::i16:
      return action(std::int16_t{});
    case ColumnType::u16:
      return action(std::uint16_t{});
    case ColumnType::i32:
      return action(std::int32_t{});
    case ColumnType::u32:
      return action(std::uint32_t{});
    case ColumnType::i64:
      return action(std::int64_t{});
    case ColumnType::u64:
      return action(std::uint64_t{});
    case ColumnType::f32:
      return action(float{});
    case ColumnType::f64:
      return action(double{});
    case ColumnType::text:
      return;
  }
}

}  // namespace kith::io::inline v0
