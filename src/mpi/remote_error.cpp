// See remote_error.hpp.
#include "mpi/remote_error.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <stdexcept>

namespace kith::mpi {
namespace {

RemoteError::Type type_of(const Error& error) {
  using Type = RemoteError::Type;
  if (dynamic_cast<const UsageError*>(&error) != nullptr) return Type::usage;
  if (dynamic_cast<const BadRow*>(&error) != nullptr) return Type::bad_row;
  if (dynamic_cast<const BadData*>(&error) != nullptr) return Type::bad_data;
  if (dynamic_cast<const CorruptFile*>(&error) != nullptr) return Type::corrupt_file;
  if (dynamic_cast<const IoError*>(&error) != nullptr) return Type::io;
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) return Type::out_of_memory;
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) return Type::device;
  if (dynamic_cast<const LostPeer*>(&error) != nullptr) return Type::lost_peer;
  if (dynamic_cast<const Interrupted*>(&error) != nullptr) return Type::interrupted;
  return Type::other;
}

/// All but the texts, which follow it. Ranks run the same program.
struct Fixed {
  RemoteError::Type type = RemoteError::Type::other;
  bool has_column = false;
  std::uint32_t column = 0;
  std::uint64_t row = 0;
  std::uint64_t text_size = 0;
  std::uint64_t array_size = 0;
};

void put(shards::Bytes& bytes, const void* data, std::size_t size) {
  const auto* start = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), start, start + size);
}

}  // namespace

RemoteError RemoteError::of(const std::exception_ptr& failure) {
  RemoteError told;
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    told.type = type_of(error);
    told.text = error.what();
    if (const auto* bad = dynamic_cast<const BadRow*>(&error)) {
      told.text = bad->problem();
      told.array = bad->array();
      told.row = bad->row();
      told.column = bad->column();
    }
  } catch (const std::bad_alloc&) {
    told.type = Type::out_of_memory;
    told.text = "not enough memory for points, queries or results";
  } catch (const std::length_error&) {
    told.type = Type::out_of_memory;
    told.text = "this would take more than any memory";
  } catch (const std::exception& error) {
    told.text = error.what();
  } catch (...) {
    told.text = "an exception without words";
  }
  return told;
}

void RemoteError::raise(std::optional<int> rank) const {
  const std::string words = rank ? fmt::format("rank {}: {}", *rank, text) : text;
  switch (type) {
    case Type::usage:
      throw UsageError(words);
    case Type::bad_data:
      throw BadData(words);
    case Type::bad_row:
      throw BadRow(rank ? fmt::format("{} of rank {}", array, *rank) : array, row, column, text);
    case Type::corrupt_file:
      throw CorruptFile(words);
    case Type::io:
      throw IoError(words);
    case Type::out_of_memory:
      throw OutOfMemory(words);
    case Type::device:
      throw DeviceError(words);
    case Type::interrupted:
      throw Interrupted();
    case Type::lost_peer:
    case Type::other:
      break;
  }
  throw LostPeer(words);
}

shards::Bytes RemoteError::to_bytes() const {
  const Fixed fixed{type, column.has_value(), column.value_or(0), row, text.size(), array.size()};
  shards::Bytes bytes;
  put(bytes, &fixed, sizeof(fixed));
  put(bytes, text.data(), text.size());
  put(bytes, array.data(), array.size());
  return bytes;
}

RemoteError RemoteError::from_bytes(std::span<const std::byte> bytes) {
  Fixed fixed;
  RemoteError told;
  if (bytes.size() < sizeof(fixed)) return told;
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  const auto* texts = reinterpret_cast<const char*>(bytes.data() + sizeof(fixed));
  told.type = fixed.type;
  told.row = fixed.row;
  if (fixed.has_column) told.column = fixed.column;
  told.text.assign(texts, fixed.text_size);
  told.array.assign(texts + fixed.text_size, fixed.array_size);
  return told;
}

}  // namespace kith::mpi
