// See layout.hpp.
#include "engine/index_file/layout.hpp"

#include "engine/validate.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace kith::engine {
namespace {

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

std::uint64_t front_bytes_of(const std::vector<SectionRecord>& sections) {
  std::uint64_t bytes = sizeof(HeaderRecord) + sections.size() * sizeof(SectionRecord);
  for (const SectionRecord& section : sections) bytes += section.checksums() * sizeof(std::uint64_t);
  return bytes;
}

/// The metric of the header's two fields, or nothing if no metric is written like that.
std::optional<Metric> metric_of(std::uint32_t kind, double p) {
  if (kind >= metric_table().size()) return std::nullopt;
  const bool has_exponent = !metric_table()[kind].parameter.empty();
  if (has_exponent && !(p >= 1)) return std::nullopt;
  if (!metric_table()[kind].units[0].empty() && p != 0 && p != 1 && p != 2 && p != 3) return std::nullopt;
  const Metric metric = Metric::of(static_cast<Metric::Kind>(kind), p);  // lp: 1, 2 and infinity become other metrics
  const bool is_same = static_cast<std::uint32_t>(metric.kind()) == kind &&
                       std::bit_cast<std::uint64_t>(metric.p()) == std::bit_cast<std::uint64_t>(p);
  return is_same ? std::optional(metric) : std::nullopt;
}

/// Of bits and sequences.
IndexFacts other_facts_of(const HeaderRecord& header, const std::string& name) {
  IndexFacts facts;
  facts.engine = static_cast<Engine>(header.engine);
  facts.content = header.dtype == kBitsType ? IndexContent::bits : IndexContent::sequences;
  if (facts.engine == Engine::kd_tree) {
    throw_damaged(name,
                  fmt::format("engine {} knows no {}", kith::name_of(facts.engine), kith::name_of(facts.content)));
  }
  constexpr std::uint32_t kHamming = kFirstSequenceMetric + static_cast<std::uint32_t>(SequenceMetric::hamming);
  constexpr std::uint32_t kLast = kFirstSequenceMetric + static_cast<std::uint32_t>(SequenceMetric::jaccard);
  const bool are_bits = facts.content == IndexContent::bits;
  if (header.metric < kFirstSequenceMetric || header.metric > kLast || (are_bits && header.metric != kHamming) ||
      std::bit_cast<std::uint64_t>(header.metric_p) != 0) {
    throw_damaged(name, fmt::format("there is no metric of {} with the number {} and exponent {}",
                                    kith::name_of(facts.content), header.metric, header.metric_p));
  }
  facts.sequence_metric = static_cast<SequenceMetric>(header.metric - kFirstSequenceMetric);
  if (are_bits && (header.dims == 0 || header.dims > BitIndex::kMostBits)) {
    throw_damaged(name, fmt::format("rows of {} bits are declared", header.dims));
  }
  if (!are_bits && header.dims > static_cast<std::uint32_t>(SequenceKind::sets)) {
    throw_damaged(name, fmt::format("there is no kind of sequences with the number {}", header.dims));
  }
  if (!are_bits) facts.sequence_kind = static_cast<SequenceKind>(header.dims);
  const bool are_sets = facts.sequence_kind == SequenceKind::sets;
  if (!are_bits && are_sets != (facts.sequence_metric == SequenceMetric::jaccard)) {
    throw_damaged(name, fmt::format("the metric {} is not for {}", kith::name_of(facts.sequence_metric),
                                    kith::name_of(facts.sequence_kind)));
  }
  if (header.rows > kMostPoints || header.points != header.rows) {
    throw_damaged(name,
                  fmt::format("{} rows and {} points are declared; they are as many as each other, and at most {}",
                              header.rows, header.points, kMostPoints));
  }
  facts.dims = are_bits ? header.dims : 0;
  facts.rows = header.rows;
  facts.points = header.points;
  facts.parameters = header.parameters;
  return facts;
}

IndexFacts facts_of(const HeaderRecord& header, const std::string& name) {
  if (header.engine < static_cast<std::uint32_t>(Engine::brute_force) ||
      header.engine > static_cast<std::uint32_t>(Engine::cover_tree)) {
    throw_damaged(name, fmt::format("there is no engine with the number {}", header.engine));
  }
  if (header.dtype == kBitsType || header.dtype == kSequencesType) return other_facts_of(header, name);
  if (header.dtype > static_cast<std::uint32_t>(DType::f64)) {
    throw_damaged(name, fmt::format("there is no type of coordinates with the number {}", header.dtype));
  }
  const std::optional<Metric> metric = metric_of(header.metric, header.metric_p);
  if (!metric) {
    throw_damaged(name,
                  fmt::format("there is no metric with the number {} and exponent {}", header.metric, header.metric_p));
  }
  if (!knows_metric(static_cast<Engine>(header.engine), *metric)) {
    throw_damaged(name, fmt::format("engine {} knows no metric {}", kith::name_of(static_cast<Engine>(header.engine)),
                                    metric->name()));
  }
  if (header.rows > kMostPoints) {
    throw_damaged(name, fmt::format("{} rows are declared, but one index holds at most {}", header.rows, kMostPoints));
  }
  if (header.points > header.rows) {
    throw_damaged(name, fmt::format("{} points are declared, but only {} rows", header.points, header.rows));
  }
  if (header.dims > kMostDims || (header.dims == 0 && header.rows > 0)) {
    throw_damaged(name, fmt::format("{} dimensions are declared", header.dims));
  }
  IndexFacts facts;
  facts.engine = static_cast<Engine>(header.engine);
  facts.metric = *metric;
  facts.dtype = static_cast<DType>(header.dtype);
  facts.dims = header.dims;
  facts.rows = header.rows;
  facts.points = header.points;
  facts.parameters = header.parameters;
  return facts;
}

/// Section by section in the order of the table: inside the file, behind the one before.
void check_section(const SectionRecord& section, std::uint64_t free_from, std::uint64_t file_bytes,
                   const std::string& name) {
  const std::string which = fmt::format("section {} ({})", section.id, name_of(static_cast<SectionId>(section.id)));
  if (section.element_bytes == 0) throw_damaged(name, which + " has elements of 0 bytes");
  if (section.offset % kSectionAlignment != 0) {
    throw_damaged(name, fmt::format("{} starts at byte {}, which is not a multiple of {}", which, section.offset,
                                    kSectionAlignment));
  }
  if (section.offset < free_from) {
    throw_damaged(name, fmt::format("{} starts at byte {}, inside what comes before it", which, section.offset));
  }
  if (section.offset > file_bytes || section.count > (file_bytes - section.offset) / section.element_bytes ||
      file_bytes - section.end() < kReadableAfterSection) {
    throw_damaged(name, fmt::format("{} with {} elements of {} bytes from byte {} on goes beyond the {} bytes of the "
                                    "file",
                                    which, section.count, section.element_bytes, section.offset, file_bytes));
  }
}

}  // namespace

void throw_damaged(const std::string& name, const std::string& what) {
  throw CorruptFile(fmt::format("{}: damaged index file: {}; build the index again", name, what));
}

std::string_view name_of(SectionId id) {
  switch (id) {
    case SectionId::rows:
      return "rows";
    case SectionId::blocks:
      return "blocks";
    case SectionId::split_dims:
      return "split_dims";
    case SectionId::split_values:
      return "split_values";
    case SectionId::boxes:
      return "boxes";
    case SectionId::smallest:
      return "smallest";
    case SectionId::original:
      return "original";
    case SectionId::period:
      return "period";
    case SectionId::metric_params:
      return "metric_params";
    case SectionId::cover_nodes:
      return "cover_nodes";
    case SectionId::cover_order:
      return "cover_order";
    case SectionId::cover_distances:
      return "cover_distances";
    case SectionId::words:
      return "words";
    case SectionId::items:
      return "items";
    case SectionId::offsets:
      return "offsets";
  }
  return "unknown";
}

std::uint64_t place_sections(std::vector<SectionRecord>& sections) {
  std::uint64_t end = front_bytes_of(sections);
  for (SectionRecord& section : sections) {
    section.offset = aligned(end);
    end = section.end();
  }
  return end + kReadableAfterSection;
}

std::vector<std::byte> encode_front(const IndexFacts& facts, const std::vector<SectionRecord>& sections,
                                    const std::vector<std::uint64_t>& checksums, std::uint64_t file_bytes) {
  HeaderRecord header;
  header.file_bytes = file_bytes;
  header.front_bytes = front_bytes_of(sections);
  header.engine = static_cast<std::uint32_t>(facts.engine);
  header.dtype = static_cast<std::uint32_t>(facts.dtype);
  header.metric = static_cast<std::uint32_t>(facts.metric.kind());
  header.dims = facts.dims;
  header.metric_p = facts.metric.p();
  if (facts.content != IndexContent::points) {
    const bool are_bits = facts.content == IndexContent::bits;
    header.dtype = are_bits ? kBitsType : kSequencesType;
    header.metric =
        kFirstSequenceMetric + static_cast<std::uint32_t>(are_bits ? SequenceMetric::hamming : facts.sequence_metric);
    header.dims = are_bits ? facts.dims : static_cast<std::uint32_t>(facts.sequence_kind);
    header.metric_p = 0;
  }
  header.rows = facts.rows;
  header.points = facts.points;
  header.parameters = facts.parameters;
  header.section_count = static_cast<std::uint32_t>(sections.size());

  std::vector<std::byte> front(header.front_bytes);
  const auto put_header = [&] { std::memcpy(front.data(), &header, sizeof header); };
  put_header();
  std::byte* to = front.data() + sizeof header;
  if (!sections.empty()) std::memcpy(to, sections.data(), sections.size() * sizeof(SectionRecord));
  to += sections.size() * sizeof(SectionRecord);
  if (!checksums.empty()) std::memcpy(to, checksums.data(), checksums.size() * sizeof(std::uint64_t));
  header.checksum = checksum_of(front);
  put_header();
  return front;
}

HeaderRecord decode_header(std::span<const std::byte> bytes, std::uint64_t file_bytes, const std::string& name) {
  const std::size_t comparable = std::min(bytes.size(), kIndexMagic.size());
  if (comparable == 0) throw CorruptFile(fmt::format("{}: is empty, not an index file", name));
  if (std::memcmp(bytes.data(), kIndexMagic.data(), comparable) != 0) {
    throw CorruptFile(fmt::format("{}: is not an index file of kith; kith build makes one from points", name));
  }
  if (bytes.size() < sizeof(HeaderRecord)) {
    throw_damaged(name,
                  fmt::format("it ends at byte {}, inside the header of {} bytes", bytes.size(), sizeof(HeaderRecord)));
  }
  HeaderRecord header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.byte_order == 0x04030201) {
    throw CorruptFile(
        fmt::format("{}: was written with the other byte order (big-endian), which this kith does not "
                    "read; build the index again on this machine",
                    name));
  }
  if (header.byte_order != kByteOrderMark) throw_damaged(name, "the byte order mark is wrong");
  if (header.version != kIndexVersion) {
    throw CorruptFile(
        fmt::format("{}: is an index file of version {}, but this kith reads version {}; use the kith "
                    "that wrote it, or build the index again",
                    name, header.version, kIndexVersion));
  }
  if (header.file_bytes != file_bytes) {
    throw_damaged(name, fmt::format("it should have {} bytes, but has {}", header.file_bytes, file_bytes));
  }
  if (header.front_bytes < sizeof(HeaderRecord) || header.front_bytes > file_bytes ||
      header.section_count > (header.front_bytes - sizeof(HeaderRecord)) / sizeof(SectionRecord)) {
    throw_damaged(name, fmt::format("{} sections do not fit into a front matter of {} bytes", header.section_count,
                                    header.front_bytes));
  }
  return header;
}

FrontMatter decode_front(std::span<const std::byte> front, std::uint64_t file_bytes, const std::string& name) {
  FrontMatter matter;
  matter.header = decode_header(front.first(std::min(front.size(), sizeof(HeaderRecord))), file_bytes, name);
  const HeaderRecord& header = matter.header;
  if (front.size() != header.front_bytes) throw_damaged(name, "the front matter is cut short");
  std::vector<std::byte> unsigned_front(front.begin(), front.end());
  std::memset(unsigned_front.data() + offsetof(HeaderRecord, checksum), 0, sizeof header.checksum);
  if (checksum_of(unsigned_front) != header.checksum) throw_damaged(name, "the checksum of the header is wrong");
  if (header.incompatible_features != 0) {
    throw CorruptFile(
        fmt::format("{}: needs features that this kith does not have (flags {:#x}); use the kith that "
                    "wrote it, or build the index again",
                    name, header.incompatible_features));
  }
  if (header.reserved != 0) throw_damaged(name, "a reserved field is not zero");
  matter.facts = facts_of(header, name);

  matter.sections.resize(header.section_count);
  const std::byte* table = front.data() + sizeof(HeaderRecord);
  if (header.section_count > 0) {
    std::memcpy(matter.sections.data(), table, header.section_count * sizeof(SectionRecord));
  }
  std::uint64_t free_from = header.front_bytes;
  std::uint64_t checksums = 0;
  for (std::size_t i = 0; i < matter.sections.size(); ++i) {
    const SectionRecord& section = matter.sections[i];
    if (i > 0 && section.id <= matter.sections[i - 1].id) {
      throw_damaged(
          name, fmt::format("section {} comes after section {} in the table", section.id, matter.sections[i - 1].id));
    }
    check_section(section, free_from, file_bytes, name);
    free_from = section.end();
    checksums += section.checksums();  // at most file_bytes / kBytesPerChecksum + 1 each: no overflow
  }
  const std::uint64_t checksum_start = sizeof(HeaderRecord) + header.section_count * sizeof(SectionRecord);
  if ((header.front_bytes - checksum_start) / sizeof(std::uint64_t) != checksums ||
      (header.front_bytes - checksum_start) % sizeof(std::uint64_t) != 0) {
    throw_damaged(name, fmt::format("the sections have {} checksums, but the front matter of {} bytes holds another "
                                    "number of them",
                                    checksums, header.front_bytes));
  }
  matter.checksums.resize(checksums);
  if (checksums > 0) {
    std::memcpy(matter.checksums.data(), front.data() + checksum_start, checksums * sizeof(std::uint64_t));
  }
  return matter;
}

}  // namespace kith::engine
