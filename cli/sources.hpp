// What is searched: points, rows of bits, strings and sets. See prepared_search.hpp.
#pragma once

#include "prepared_search.hpp"

#include <kith/bit_index.hpp>
#include <kith/io/read_bits.hpp>
#include <kith/io/read_points.hpp>
#include <kith/io/read_sequences.hpp>
#include <kith/io/tree_file.hpp>
#include <kith/sequence_index.hpp>

#include <optional>
#include <variant>

namespace kith::cli {

/// Where indexes are single files.
struct IndexFileSource {
  static bool is_index(const std::string& path) { return is_index_file(path); }
  static IndexFileInfo describe(const std::string& path) { return describe_index_file(path); }
};

/// What reports say of an index of points, in one piece or in shards.
struct PointFacts {
  std::uint64_t points, skipped;
  std::uint32_t dims;
  DType dtype;
  Metric metric;

  template <typename Index>
  PointFacts(const Index& index)  // NOLINT(google-explicit-constructor)
      : points(index.size()),
        skipped(index.skipped()),
        dims(index.dims()),
        dtype(index.dtype()),
        metric(index.metric()) {}
};

class PointSource : public IndexFileSource {
 public:
  using Index = kith::Index;
  using Tree = std::variant<apps::NodeTable, apps::InOrderTree>;

  void require_flags(const SourceInput& input, bool is_index) const;
  void read_points(const SourceInput& input);
  void require_fitting(const SourceInput& input, const IndexFileInfo& info);
  void read_queries(const SourceInput& input);
  std::uint64_t rows() const { return rows_; }
  DType dtype() const { return dtype_; }
  PointView queries() const { return queries_; }
  std::uint64_t query_count() const { return queries_.rows(); }
  std::uint64_t bytes() const { return points_.points.bytes() + bytes_of(queries_); }

  Index build(const SourceInput& input, const BuildOptions& options) const;
  void take_columns(const SourceInput& input, const Index& index) const;
  void add_facts(nlohmann::ordered_json& report, const PointFacts& index) const;
  void add_skipped(nlohmann::ordered_json& report, const PointFacts& index) const;
  std::string skipped_text(const PointFacts& index) const;

 protected:
  /// What an index is built from.
  PointView points() const { return rows_ == 0 ? PointView(nullptr, dtype_, 0, dims_, dims_) : points_.view(); }
  bool is_tree() const { return tree_.has_value(); }

 private:
  std::uint64_t skipped_queries(const PointFacts& index) const { return skipped_queries_.value_or(index.skipped); }

  void read_tree(const SourceInput& input);

  io::PointFile points_;
  std::optional<Tree> tree_;  ///< if POINTS is one; `points_` are those of a node table
  std::optional<io::PointFile> queries_file_;
  PointView queries_;
  std::uint64_t rows_ = 0;
  std::uint32_t dims_ = 0;
  DType dtype_ = DType::f32;
  std::optional<std::uint64_t> skipped_queries_;  ///< none: the points are the queries
  bool squared_ = false;
  std::vector<double> period_;
};

/// Bits and sequences: their distances are f32, and none of them is ever left out.
class ObjectSource : public IndexFileSource {
 public:
  std::uint64_t rows() const { return rows_; }
  DType dtype() const { return DType::f32; }
  template <typename Index>
  void add_skipped(nlohmann::ordered_json&, const Index&) const {}
  template <typename Index>
  std::string skipped_text(const Index&) const {
    return {};
  }

 protected:
  std::uint64_t rows_ = 0;
};

class BitSource : public ObjectSource {
 public:
  using Index = BitIndex;

  void require_flags(const SourceInput& input, bool is_index) const;
  void read_points(const SourceInput& input);
  void require_fitting(const SourceInput& input, const IndexFileInfo& info);
  void read_queries(const SourceInput& input);
  BitView queries() const { return queries_.view(); }
  std::uint64_t query_count() const { return queries_.rows; }
  std::uint64_t bytes() const { return points_.bytes.size() + queries_.bytes.size(); }

  BitIndex build(const SourceInput& input, const BuildOptions& options);
  void take_columns(const SourceInput&, const BitIndex&) const {}  // rows of bits have none
  void add_facts(nlohmann::ordered_json& report, const BitIndex& index) const;

 private:
  io::BitFile points_;
  io::BitFile queries_;
  std::uint32_t bits_ = 0;
};

class SequenceSource : public ObjectSource {
 public:
  using Index = SequenceIndex;

  void require_flags(const SourceInput& input, bool is_index) const;
  void read_points(const SourceInput& input);
  void require_fitting(const SourceInput& input, const IndexFileInfo& info);
  void read_queries(const SourceInput& input);
  SequenceView queries() const { return queries_.view(); }
  std::uint64_t query_count() const { return queries_.sequences.size(); }
  std::uint64_t bytes() const { return bytes_of(points_.view()) + bytes_of(queries_.view()); }

  SequenceIndex build(const SourceInput& input, const BuildOptions& options);
  void take_columns(const SourceInput& input, const SequenceIndex& index) const;
  void add_facts(nlohmann::ordered_json& report, const SequenceIndex& index) const;

 private:
  io::SequenceFile points_;
  io::SequenceFile queries_;
  SequenceMetric metric_ = SequenceMetric::edit;
  SequenceKind kind_ = SequenceKind::text;
};

}  // namespace kith::cli
