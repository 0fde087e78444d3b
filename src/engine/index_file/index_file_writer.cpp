// See index_file_writer.hpp.
#include "engine/index_file/index_file_writer.hpp"

#include "engine/index_file/layout.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kith::engine {
namespace {

/// Zeros up to `end`.
void pad(const IndexFileWriter::Sink& sink, std::uint64_t from, std::uint64_t end) {
  static constexpr std::array<std::byte, kSectionAlignment> kZeros{};
  while (from < end) {
    const std::uint64_t bytes = std::min<std::uint64_t>(kZeros.size(), end - from);
    sink(std::span(kZeros).first(bytes));
    from += bytes;
  }
}

}  // namespace

void IndexFileWriter::add_bytes(SectionId id, std::uint32_t element_bytes, std::span<const std::byte> bytes,
                                std::shared_ptr<const void> owner) {
  Part part{{static_cast<std::uint32_t>(id), element_bytes, bytes.size() / element_bytes, 0}, bytes, std::move(owner)};
  const auto place =
      std::find_if(parts_.begin(), parts_.end(), [&](const Part& other) { return other.record.id > part.record.id; });
  parts_.insert(place, std::move(part));
}

std::vector<std::uint64_t> IndexFileWriter::checksums(const RunOptions& run) const {
  std::vector<std::span<const std::byte>> pieces;
  for (const Part& part : parts_) {
    for (std::uint64_t at = 0; at < part.bytes.size(); at += kBytesPerChecksum) {
      pieces.push_back(part.bytes.subspan(at, std::min<std::uint64_t>(kBytesPerChecksum, part.bytes.size() - at)));
    }
  }
  std::vector<std::uint64_t> sums(pieces.size());
  runtime::parallel_for(pieces.size(), {.threads = run.threads, .stage = "checksums", .progress = run.progress},
                        [&](std::uint64_t i) { sums[i] = checksum_of(pieces[i]); });
  return sums;
}

void IndexFileWriter::write(const RunOptions& run, const Sink& sink) {
  const std::vector<std::uint64_t> sums = checksums(run);
  std::vector<SectionRecord> records;
  for (const Part& part : parts_) records.push_back(part.record);
  const std::uint64_t file_bytes = place_sections(records);
  const std::vector<std::byte> front = encode_front(facts_, records, sums, file_bytes);
  sink(front);
  std::uint64_t at = front.size();
  runtime::ProgressMeter meter(run.progress, "writing", file_bytes);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    pad(sink, at, records[i].offset);
    for (std::uint64_t done = 0; done < parts_[i].bytes.size(); done += kBytesPerChecksum) {
      meter.report(records[i].offset + done);
      sink(parts_[i].bytes.subspan(done, std::min<std::uint64_t>(kBytesPerChecksum, parts_[i].bytes.size() - done)));
    }
    at = records[i].end();
  }
  pad(sink, at, file_bytes);
  meter.finish();
}

}  // namespace kith::engine
