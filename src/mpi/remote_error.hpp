// An error on its way to the other ranks.
#pragma once

#include <kith/shards/numbered_points.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>

namespace kith::mpi {

/// The type of an error and its words, so that another rank can throw the same. An error that is not kith's has the
/// type `other`.
struct RemoteError {
  enum class Type : std::uint8_t {
    usage,
    bad_data,
    bad_row,
    corrupt_file,
    io,
    out_of_memory,
    device,
    lost_peer,
    interrupted,
    other
  };

  Type type = Type::other;
  std::string text;   ///< of a bad row: its problem
  std::string array;  ///< of a bad row
  std::uint64_t row = 0;
  std::optional<std::uint32_t> column = {};

  static RemoteError of(const std::exception_ptr& failure);
  /// The same on every rank, if no rank is given; else in words that name the rank.
  [[noreturn]] void raise(std::optional<int> rank) const;

  shards::Bytes to_bytes() const;
  static RemoteError from_bytes(std::span<const std::byte> bytes);
  friend bool operator==(const RemoteError&, const RemoteError&) = default;
};

}  // namespace kith::mpi
