// See zip_write.hpp. Times are fixed, so that the same content gives the same bytes.
#include "io/numpy/zip_write.hpp"

#include <zlib.h>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kLimit32 = 0xffffffff;
constexpr std::uint16_t kDosDate = 0x0021;  // 1 January 1980, the first that ZIP knows

class Bytes {
 public:
  Bytes& u16(std::uint64_t value) { return append(value, 2); }
  Bytes& u32(std::uint64_t value) { return append(value, 4); }
  Bytes& u64(std::uint64_t value) { return append(value, 8); }
  Bytes& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Bytes& append(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>((value >> (8 * i)) & 0xff);
    return *this;
  }
  std::string bytes_;
};

std::uint64_t capped(std::uint64_t value) { return value < kLimit32 ? value : kLimit32; }

}  // namespace

void ZipWriter::add(std::string_view name, const std::function<void(const Sink&)>& produce) {
  Entry entry{std::string(name), 0, 0, file_.position()};
  uLong checksum = 0;
  produce([&](const void* data, std::size_t bytes) {
    checksum = crc32_z(checksum, static_cast<const unsigned char*>(data), bytes);
    entry.bytes += bytes;
  });
  entry.checksum = static_cast<std::uint32_t>(checksum);

  const bool large = entry.bytes >= kLimit32;
  Bytes header;
  header.u32(0x04034b50).u16(large ? 45 : 20).u16(0).u16(0).u16(0).u16(kDosDate).u32(entry.checksum);
  header.u32(capped(entry.bytes)).u32(capped(entry.bytes)).u16(name.size()).u16(large ? 20 : 0).text(name);
  if (large) header.u16(1).u16(16).u64(entry.bytes).u64(entry.bytes);
  file_.write(header.bytes());
  produce([&](const void* data, std::size_t bytes) { file_.write(data, bytes); });
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const std::uint64_t begin = file_.position();
  for (const Entry& entry : entries_) {
    const bool large = entry.bytes >= kLimit32;
    const bool far = entry.offset >= kLimit32;
    const std::uint64_t extra = (large ? 16 : 0) + (far ? 8 : 0);
    Bytes record;
    record.u32(0x02014b50).u16(extra ? 45 : 20).u16(extra ? 45 : 20).u16(0).u16(0).u16(0).u16(kDosDate);
    record.u32(entry.checksum).u32(capped(entry.bytes)).u32(capped(entry.bytes));
    record.u16(entry.name.size()).u16(extra ? extra + 4 : 0).u16(0).u16(0).u16(0).u32(0).u32(capped(entry.offset));
    record.text(entry.name);
    if (extra) record.u16(1).u16(extra);
    if (large) record.u64(entry.bytes).u64(entry.bytes);
    if (far) record.u64(entry.offset);
    file_.write(record.bytes());
  }
  const std::uint64_t end = file_.position();
  const std::uint64_t count = entries_.size();
  Bytes tail;
  if (begin >= kLimit32 || end - begin >= kLimit32) {
    tail.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0).u64(count).u64(count).u64(end - begin).u64(begin);
    tail.u32(0x07064b50).u32(0).u64(end).u32(1);
  }
  tail.u32(0x06054b50).u16(0).u16(0).u16(count).u16(count).u32(capped(end - begin)).u32(capped(begin)).u16(0);
  file_.write(tail.bytes());
}

}  // namespace kith::io::inline v0
