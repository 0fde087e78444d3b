// What an index file says of itself, without loading it. docs/file_format.md describes the bytes.
#pragma once

#include <kith/dtype.hpp>
#include <kith/index.hpp>
#include <kith/metric.hpp>
#include <kith/sequence_metric.hpp>
#include <kith/sequence_set.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::inline v0 {

/// What was indexed: load it with Index, BitIndex or SequenceIndex.
enum class IndexContent : std::uint8_t { points, bits, sequences };

/// "points", "bits" or "sequences".
KITH_EXPORT std::string_view name_of(IndexContent content);

/// One section of an index file.
struct IndexFileSection {
  std::string name;  ///< "rows", "blocks", …; "unknown" if a newer kith wrote it
  std::uint32_t id = 0;
  std::uint32_t element_bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t bytes = 0;
};

/// The header and the section table of an index file.
struct IndexFileInfo {
  std::uint32_t version = 0;
  std::uint64_t compatible_features = 0;
  std::uint64_t incompatible_features = 0;
  std::uint64_t file_bytes = 0;
  IndexContent content = IndexContent::points;
  Engine engine = Engine::brute_force;
  std::string metric_name;                                ///< "l2", "edit", …
  Metric metric;                                          ///< points only
  DType dtype = DType::f32;                               ///< points only
  std::uint32_t dims = 0;                                 ///< points; of bits how many a row has
  SequenceMetric sequence_metric = SequenceMetric::edit;  ///< sequences only
  SequenceKind sequence_kind = SequenceKind::numbers;     ///< sequences only
  std::uint64_t rows = 0;                                 ///< as the caller numbered them
  std::uint64_t points = 0;                               ///< rows that were not left out because of NaN or infinity
  std::uint32_t leaf_size =
      0;                ///< trees only: the most points that a leaf may hold (cover tree: at which it stays one)
  std::string split;    ///< k-d tree only: "widest" or "cycle"
  std::string builder;  ///< cover tree only: "batch" or "lists"
  std::vector<double> metric_params;  ///< points: BuildOptions::metric_params, or what was computed from them
  std::vector<double> period;         ///< points with periodic axes: the length of each, 0 for one that does not wrap
  std::vector<IndexFileSection> sections;
};

/// True if the path is a regular file that begins as an index file does. Never throws because of the file.
KITH_EXPORT bool is_index_file(const std::string& path);

/// Reads and checks header and table, not the contents (Index::load checks everything). Throws IoError, CorruptFile.
KITH_EXPORT IndexFileInfo describe_index_file(const std::string& path);
/// What the bytes that `to_bytes` made hold. Throws CorruptFile.
KITH_EXPORT IndexContent content_of_index(std::span<const std::byte> bytes);

}  // namespace kith::inline v0
