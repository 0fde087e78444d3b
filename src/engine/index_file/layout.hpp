// The index file as bytes: header, section table, checksums. docs/file_format.md tells the same in words.
#pragma once

#include "runtime/checksum.hpp"

#include <kith/dtype.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>
#include <kith/metric.hpp>
#include <kith/sequence_metric.hpp>
#include <kith/sequence_set.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith::engine {

static_assert(std::endian::native == std::endian::little, "index files are little-endian and are used as they lie");

inline constexpr std::array<unsigned char, 8> kIndexMagic = {0x89, 'K', 'I', 'T', 'H', '\r', '\n', 0x1a};
inline constexpr std::uint32_t kByteOrderMark = 0x01020304;
inline constexpr std::uint32_t kIndexVersion = 1;
/// Sections start at multiples of this.
inline constexpr std::uint64_t kSectionAlignment = 4096;
/// At least that many bytes of the file follow every section, because vector loads may run over its end.
inline constexpr std::uint64_t kReadableAfterSection = 256;
/// One checksum covers that many bytes of a section; the last one of a section what is left.
inline constexpr std::uint64_t kBytesPerChecksum = std::uint64_t{1} << 20;
inline constexpr std::uint32_t kEngineParameters = 8;
/// Of the trees; brute force has none.
inline constexpr std::uint32_t kLeafSizeParameter = 0;
inline constexpr std::uint32_t kSplitRuleParameter = 1;   ///< k-d tree: 0: widest side, 1: x, y, z, x, …
inline constexpr std::uint32_t kSeparationParameter = 1;  ///< cover tree: 0: global, 1: siblings

/// In the place of the type of coordinates, if there are none.
inline constexpr std::uint32_t kBitsType = 2;
inline constexpr std::uint32_t kSequencesType = 3;
/// Metrics of sequences and bits are numbered behind those of points.
inline constexpr std::uint32_t kFirstSequenceMetric = 16;

/// What a section holds. Files keep their sections in this order.
enum class SectionId : std::uint32_t {
  rows = 1,              ///< brute force, cover tree: T[points][dims]
  blocks = 2,            ///< k-d tree: the points, leaf by leaf
  split_dims = 3,        ///< k-d tree: u16 per inner node
  split_values = 4,      ///< k-d tree: T per inner node
  boxes = 5,             ///< k-d tree: T[node][lower, upper][dims]
  smallest = 6,          ///< k-d tree: u32 per node
  original = 7,          ///< u32 per point: its number among the caller's rows
  period = 8,            ///< f64[dims]: the lengths of a periodic box, 0 for axes that do not wrap
  cover_nodes = 9,       ///< cover tree: CoverNode per node
  cover_order = 10,      ///< cover tree: u32 per point, leaf by leaf
  cover_distances = 11,  ///< cover tree: f64 per point, in that order, from the centre of its leaf
  metric_params = 12,    ///< f64: weights or variances per dim, or a matrix
  words = 16,            ///< bits: u64[words per row] per row
  items = 17,            ///< sequences: u32 per item
  offsets = 18,          ///< sequences: u64 per sequence and one more
};
/// Readers skip sections that they do not know if this bit is set in the id, and refuse the file if it is not.
inline constexpr std::uint32_t kOptionalSection = 0x80000000;

/// "blocks", "boxes", …; "unknown" for any other id.
std::string_view name_of(SectionId id);

/// The first 136 bytes of the file, without gaps.
struct HeaderRecord {
  std::array<unsigned char, 8> magic = kIndexMagic;
  std::uint32_t byte_order = kByteOrderMark;
  std::uint32_t version = kIndexVersion;
  std::uint64_t compatible_features = 0;    ///< unknown bits are ignored
  std::uint64_t incompatible_features = 0;  ///< unknown bits: the file is refused
  std::uint64_t file_bytes = 0;
  std::uint64_t front_bytes = 0;  ///< header, table and checksums
  std::uint32_t engine = 0;
  std::uint32_t dtype = 0;   ///< f32 and f64; kBitsType, kSequencesType
  std::uint32_t metric = 0;  ///< Metric::Kind; bits and sequences: kFirstSequenceMetric + SequenceMetric
  std::uint32_t dims = 0;    ///< bits of a row; what the items of sequences are
  double metric_p = 0;
  std::uint64_t rows = 0;    ///< as the caller counts
  std::uint64_t points = 0;  ///< rows that are not left out
  std::array<std::uint32_t, kEngineParameters> parameters = {};
  std::uint32_t section_count = 0;
  std::uint32_t reserved = 0;
  std::uint64_t checksum = 0;  ///< of the front matter with these eight bytes zero
};
static_assert(sizeof(HeaderRecord) == 136 && offsetof(HeaderRecord, file_bytes) == 32 &&
              offsetof(HeaderRecord, metric_p) == 64 && offsetof(HeaderRecord, section_count) == 120 &&
              offsetof(HeaderRecord, checksum) == 128);

/// One line of the section table, which follows the header.
struct SectionRecord {
  std::uint32_t id = 0;
  std::uint32_t element_bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;

  /// Only after the table was checked: before that the product may overflow.
  std::uint64_t bytes() const { return element_bytes * count; }
  std::uint64_t end() const { return offset + bytes(); }
  std::uint64_t checksums() const { return (bytes() + kBytesPerChecksum - 1) / kBytesPerChecksum; }
};
static_assert(sizeof(SectionRecord) == 24);

/// What the header says of the index.
struct IndexFacts {
  Engine engine = Engine::brute_force;
  Metric metric;
  DType dtype = DType::f32;
  std::uint32_t dims = 0;
  std::uint64_t rows = 0;    ///< as the caller counts
  std::uint64_t points = 0;  ///< rows that are not left out
  std::array<std::uint32_t, kEngineParameters> parameters = {};
  IndexContent content = IndexContent::points;            ///< of others the fields above mean what they can
  SequenceMetric sequence_metric = SequenceMetric::edit;  ///< sequences only
  SequenceKind sequence_kind = SequenceKind::numbers;     ///< sequences only
};

/// Everything that comes before the sections.
struct FrontMatter {
  HeaderRecord header;
  IndexFacts facts;
  std::vector<SectionRecord> sections;   ///< ascending ids and offsets
  std::vector<std::uint64_t> checksums;  ///< of all sections, one after the other
};

/// The front matter as bytes. The sections have their offsets, the checksums are complete.
std::vector<std::byte> encode_front(const IndexFacts& facts, const std::vector<SectionRecord>& sections,
                                    const std::vector<std::uint64_t>& checksums, std::uint64_t file_bytes);

/// Gives the sections their places after a front matter that holds their checksums; returns the length of the file.
std::uint64_t place_sections(std::vector<SectionRecord>& sections);

/// Checks the fixed part of the header as far as it is needed to read on: magic, byte order, version, lengths. `bytes`
/// are the first ones of the file, up to sizeof(HeaderRecord). Throws CorruptFile.
HeaderRecord decode_header(std::span<const std::byte> bytes, std::uint64_t file_bytes, const std::string& name);

/// Checks everything in the front matter: checksum, flags, facts in range, sections inside the file and disjoint. Needs
/// no memory but for what it returns, which is no larger than `front`. Throws CorruptFile.
FrontMatter decode_front(std::span<const std::byte> front, std::uint64_t file_bytes, const std::string& name);

/// The error for a file that is not what it should be.
[[noreturn]] void throw_damaged(const std::string& name, const std::string& what);

using runtime::checksum_of;

}  // namespace kith::engine
