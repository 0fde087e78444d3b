// Extra bytes of LAS: attributes of any name behind the fields of the point format, described by a record of the
// header.
#pragma once

#include "io/records/record_layout.hpp"

#include <string>
#include <string_view>

namespace kith::io::inline v0 {

/// Adds the fields that the body of an "extra bytes" record describes. They start at `offset` in a record of the
/// points; fields that would end behind `record_bytes` and undocumented bytes are left out.
void add_extra_bytes(RecordLayout& layout, std::string_view description, std::uint64_t offset);

/// The description of one field, which is neither scaled nor part of a byte. Its name is cut after 32 bytes.
std::string describe_extra_bytes(const RecordField& field);

/// The length of a name that a description holds.
inline constexpr std::size_t kLasNameBytes = 32;

}  // namespace kith::io::inline v0
