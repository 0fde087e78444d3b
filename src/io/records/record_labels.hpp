// Turns the values of a label column into codes, numbered by first appearance.
#pragma once

#include "io/records/record_type.hpp"

#include <kith/io/read_points.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kith::io::inline v0 {

/// Collects the labels of one file, row by row.
class LabelCollector {
 public:
  /// Room for `rows` labels. Throws std::bad_alloc.
  explicit LabelCollector(std::uint64_t rows) { labels_.codes.reserve(static_cast<std::size_t>(rows)); }

  void add(std::string_view text) { labels_.codes.push_back(code_of(text)); }
  /// Numbers of a file, each widened to 64 bits without change; their texts are the shortest that read back.
  void add_numbers(std::span<const std::uint64_t> bits, NumberType type);
  /// The labels of the rows that follow, with codes of their own.
  void append(const Labels& part);
  Labels take() { return std::move(labels_); }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  std::uint32_t code_of(std::string_view text);

  Labels labels_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> codes_by_text_;
  std::unordered_map<std::uint64_t, std::uint32_t> codes_by_bits_;
};

/// The shortest text that reads back as the number whose bits, widened to 64, are given.
std::string text_of_number(std::uint64_t bits, NumberType type);

}  // namespace kith::io::inline v0
