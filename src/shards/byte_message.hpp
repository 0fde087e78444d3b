// Messages as bytes: numbers one after the other, without gaps, as this machine has them; arrays behind their lengths.
#pragma once

#include <kith/error.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_set.hpp>
#include <kith/shards/numbered_points.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kith::shards {

static_assert(std::endian::native == std::endian::little, "messages are those of little-endian machines");

/// The first four bytes of each message: which one it is.
enum class MessageId : std::uint32_t {
  facts = 0x3146'534b,  // "KSF1" and so on
  plan = 0x3143'534b,
  points = 0x3150'534b,
  shard = 0x3153'534b,
  map = 0x314d'534b,
  request = 0x3151'534b,
  reply = 0x3152'534b,
  manifest = 0x3144'534b,
  building = 0x3142'534b
};

class ByteWriter {
 public:
  explicit ByteWriter(MessageId id, std::uint64_t expected_bytes = 0) {
    bytes_.reserve(expected_bytes + 64);
    put(id);
  }

  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { append(&value, sizeof(T)); }
  template <typename T>
  void put_array(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size_bytes());
  }
  template <typename T>
  void put_array(const std::vector<T>& values) {
    put_array(std::span<const T>(values));
  }
  void put_text(const std::string& text) { put_array(std::span<const char>(text.data(), text.size())); }
  void put_points(const PointSet& points) {
    put(points.dtype());
    put(points.rows());
    put(points.dims());
    append(points.view().data(), points.bytes());
  }
  void put_distances(const Distances& distances) {
    put(distances.dtype());
    if (distances.dtype() == DType::f32) {
      put_array(distances.values<float>());
    } else {
      put_array(distances.values<double>());
    }
  }

  Bytes take() && { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    const auto* start = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), start, start + size);
  }

  Bytes bytes_;
};

/// Every read checks what is left: throws CorruptFile.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, MessageId id) : left_(bytes) {
    if (get<MessageId>() != id) throw CorruptFile("message: it begins as no such message does");
  }

  template <typename T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  bool get_flag() { return get<std::uint8_t>() != 0; }
  /// An enumeration whose values go up to `last`.
  template <typename E>
  E get_enum(E last) {
    const auto value = get<std::underlying_type_t<E>>();
    if (value > static_cast<std::underlying_type_t<E>>(last)) throw CorruptFile("message: a number is out of range");
    return static_cast<E>(value);
  }
  template <typename T>
  std::vector<T> get_array() {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(get_size(sizeof(T)));
    take_into(values.data(), values.size());
    return values;
  }
  std::string get_text() {
    const std::vector<char> text = get_array<char>();
    return {text.begin(), text.end()};
  }
  PointSet get_points() {
    const auto dtype = get_enum(DType::f64);
    const auto rows = get<std::uint64_t>();
    const auto dims = get<std::uint32_t>();
    require(rows, std::uint64_t{dims} * size_of(dtype));
    PointSet points(dtype, rows, dims);
    copy_into(points);
    return points;
  }
  /// As an array, but nothing is written twice: replies are long.
  ValueArray<std::uint64_t> get_numbers() {
    ValueArray<std::uint64_t> numbers(get_size(sizeof(std::uint64_t)));
    take_into(numbers.data(), numbers.size());
    return numbers;
  }
  Distances get_distances() {
    const auto dtype = get_enum(DType::f64);
    Distances distances(dtype, get_size(size_of(dtype)));
    if (dtype == DType::f32) {
      take_into(distances.values<float>().data(), distances.size());
    } else {
      take_into(distances.values<double>().data(), distances.size());
    }
    return distances;
  }
  /// Nothing may be left.
  void finish() const {
    if (!left_.empty()) throw CorruptFile("message: it is longer than it says");
  }

 private:
  void require(std::uint64_t count, std::uint64_t each) const {
    if (each != 0 && count > left_.size() / each) throw CorruptFile("message: it is shorter than it says");
  }
  /// Of an array whose elements have so many bytes.
  std::uint64_t get_size(std::uint64_t each) {
    const auto size = get<std::uint64_t>();
    require(size, each);
    return size;
  }
  template <typename T>
  void take_into(T* to, std::size_t count) {
    if (count > 0) std::memcpy(to, take(count * sizeof(T)), count * sizeof(T));
  }
  const std::byte* take(std::size_t size) {
    require(size, 1);
    const std::byte* start = left_.data();
    left_ = left_.subspan(size);
    return start;
  }
  void copy_into(PointSet& points) {
    const std::size_t size = points.bytes();
    if (size == 0) return;
    if (points.dtype() == DType::f32) {
      std::memcpy(points.values<float>().data(), take(size), size);
    } else {
      std::memcpy(points.values<double>().data(), take(size), size);
    }
  }

  std::span<const std::byte> left_;
};

/// Rules within a message; src/shards/messages.cpp.
void put_rules(ByteWriter& writer, const CutRules& rules);
CutRules get_rules(ByteReader& reader);

}  // namespace kith::shards
