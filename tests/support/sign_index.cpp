// See sign_index.hpp.
#include "support/sign_index.hpp"

#include "engine/index_file/layout.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace kith::test {

using engine::HeaderRecord;
using engine::SectionRecord;

void sign_index(std::vector<std::byte>& bytes) {
  HeaderRecord header;
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.front_bytes < sizeof header || header.front_bytes > bytes.size() ||
      header.section_count > (header.front_bytes - sizeof header) / sizeof(SectionRecord)) {
    return;
  }
  std::uint64_t sum_at = sizeof header + header.section_count * sizeof(SectionRecord);
  for (std::uint32_t i = 0; i < header.section_count; ++i) {
    SectionRecord section;
    std::memcpy(&section, bytes.data() + sizeof header + i * sizeof section, sizeof section);
    if (section.element_bytes == 0 || section.offset > bytes.size() ||
        section.count > (bytes.size() - section.offset) / section.element_bytes) {
      break;
    }
    const std::span<const std::byte> content(bytes.data() + section.offset, section.bytes());
    for (std::uint64_t at = 0; at < content.size(); at += engine::kBytesPerChecksum) {
      if (header.front_bytes - sum_at < sizeof(std::uint64_t)) break;
      const std::uint64_t sum =
          engine::checksum_of(content.subspan(at, std::min(engine::kBytesPerChecksum, content.size() - at)));
      std::memcpy(bytes.data() + sum_at, &sum, sizeof sum);
      sum_at += sizeof sum;
    }
  }
  std::byte* place = bytes.data() + offsetof(HeaderRecord, checksum);
  std::memset(place, 0, sizeof header.checksum);
  const std::uint64_t sum = engine::checksum_of(std::span(bytes).first(header.front_bytes));
  std::memcpy(place, &sum, sizeof sum);
}

}  // namespace kith::test
