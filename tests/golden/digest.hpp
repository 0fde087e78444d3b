// A digest of an answer: FNV-1a over its bytes, which any language computes in a few lines.
#pragma once

#include <kith/neighbors.hpp>
#include <kith/point_set.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kith::test {

static_assert(std::endian::native == std::endian::little, "digests are of bytes as little-endian machines lay them");

class Digest {
 public:
  Digest& add_bytes(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) state_ = (state_ ^ from[i]) * 0x100000001b3ull;
    return *this;
  }
  template <typename T>
  requires std::is_arithmetic_v<T> Digest& add(T value) { return add_bytes(&value, sizeof value); }
  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) Digest& add(std::span<const T> values) {
    return add_bytes(values.data(), values.size_bytes());
  }
  template <typename T>
  Digest& add(const std::vector<T>& values) {
    return add(std::span<const T>(values));
  }
  Digest& add(std::string_view text) { return add_bytes(text.data(), text.size()); }

  Digest& add(const Distances& distances) {
    return distances.dtype() == DType::f32 ? add(distances.values<float>()) : add(distances.values<double>());
  }
  Digest& add(const Neighbors& found) {
    add(found.queries()).add(found.k()).add(found.missing());
    return add(found.indices()).add(found.distances()).add(found.exact());
  }
  Digest& add(const NeighborLists& found) {
    return add(found.points()).add(found.offsets()).add(found.indices()).add(found.distances());
  }
  Digest& add(const PointLists& found) { return add(found.points()).add(found.offsets()).add(found.indices()); }
  Digest& add(const PointSet& points) {
    add(points.rows()).add(points.dims());
    return points.dtype() == DType::f32 ? add(points.values<float>()) : add(points.values<double>());
  }

  /// 16 hexadecimal digits.
  std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(state_));
    return digits;
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ull;
};

/// The digest of one or several things in a row.
template <typename... Things>
std::string digest_of(const Things&... things) {
  Digest digest;
  (digest.add(things), ...);
  return digest.text();
}

}  // namespace kith::test
