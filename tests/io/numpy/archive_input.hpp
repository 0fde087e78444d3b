// Builds NumPy arrays and ZIP archives byte by byte.
#pragma once

#include "io/binary_input.hpp"
#include "support/deflated.hpp"

#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::test {

/// An array as NumPy writes it, version 1, C order.
inline std::string npy(std::string_view descr, std::string_view shape, std::string_view data) {
  std::string header =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }";
  header.append(128 - 10 - 1 - header.size(), ' ');
  header += '\n';
  return Bytes("\x93NUMPY\x01")
      .le(std::uint8_t{0})
      .le(static_cast<std::uint16_t>(header.size()))
      .text(header)
      .text(data)
      .str();
}

inline std::string matrix(std::initializer_list<float> values) {  // n x 2
  Bytes data;
  for (const float v : values) data.le(v);
  return npy("<f4", "(" + std::to_string(values.size() / 2) + ", 2)", data.str());
}

inline std::string deflated(std::string_view bytes) { return kith::test::deflated(bytes, kith::test::kRawDeflate); }

/// One member of an archive.
struct Member {
  std::string name;
  std::string content;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  bool zip64 = false;                 // the way NumPy writes: ZIP64 fields even where sizes are small
  std::uint32_t checksum_change = 0;  // to make it wrong
  std::int64_t size_change = 0;       // to make the directory lie
};

/// A whole archive.
inline std::string zip(const std::vector<Member>& members, std::string_view comment = "", bool zip64_end = false) {
  Bytes file;
  Bytes directory;
  for (const Member& m : members) {
    const std::string stored = m.method == 8 ? deflated(m.content) : m.content;
    const auto checksum =
        static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(m.content.data()), m.content.size())) ^
        m.checksum_change;
    const auto size = static_cast<std::uint64_t>(static_cast<std::int64_t>(m.content.size()) + m.size_change);
    const std::uint64_t stored_size = m.method == 8 ? stored.size() : size;
    const std::uint64_t offset = file.size();
    const std::uint32_t full = 0xffffffff;
    const auto name_size = static_cast<std::uint16_t>(m.name.size());
    file.le(std::uint32_t{0x04034b50}).le(std::uint16_t{45}).le(m.flags).le(m.method).le(std::uint32_t{0x210000});
    file.le(checksum).le(m.zip64 ? full : static_cast<std::uint32_t>(stored_size));
    file.le(m.zip64 ? full : static_cast<std::uint32_t>(size)).le(name_size).le(std::uint16_t(m.zip64 ? 20 : 0));
    file.text(m.name);
    if (m.zip64) file.le(std::uint16_t{1}).le(std::uint16_t{16}).le(size).le(stored_size);
    file.text(stored);

    directory.le(std::uint32_t{0x02014b50}).le(std::uint16_t{45}).le(std::uint16_t{45}).le(m.flags).le(m.method);
    directory.le(std::uint32_t{0x210000}).le(checksum).le(m.zip64 ? full : static_cast<std::uint32_t>(stored_size));
    directory.le(m.zip64 ? full : static_cast<std::uint32_t>(size)).le(name_size);
    directory.le(std::uint16_t(m.zip64 ? 28 : 0)).le(std::uint16_t{0}).le(std::uint16_t{0}).le(std::uint16_t{0});
    directory.le(std::uint32_t{0}).le(m.zip64 ? full : static_cast<std::uint32_t>(offset)).text(m.name);
    if (m.zip64) directory.le(std::uint16_t{1}).le(std::uint16_t{24}).le(size).le(stored_size).le(offset);
  }
  const std::uint64_t begin = file.size();
  const auto count = static_cast<std::uint16_t>(members.size());
  file.text(directory.str());
  if (zip64_end) {
    const std::uint64_t record = file.size();
    file.le(std::uint32_t{0x06064b50}).le(std::uint64_t{44}).le(std::uint16_t{45}).le(std::uint16_t{45});
    file.le(std::uint32_t{0}).le(std::uint32_t{0}).le(std::uint64_t{count}).le(std::uint64_t{count});
    file.le(static_cast<std::uint64_t>(directory.size())).le(begin);
    file.le(std::uint32_t{0x07064b50}).le(std::uint32_t{0}).le(record).le(std::uint32_t{1});
  }
  file.le(std::uint32_t{0x06054b50}).le(std::uint16_t{0}).le(std::uint16_t{0}).le(count).le(count);
  file.le(zip64_end ? 0xffffffffu : static_cast<std::uint32_t>(directory.size()));
  file.le(zip64_end ? 0xffffffffu : static_cast<std::uint32_t>(begin));
  file.le(static_cast<std::uint16_t>(comment.size())).text(comment);
  return file.str();
}

}  // namespace kith::io::test
