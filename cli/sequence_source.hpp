// Strings and sets for knn and radius: see prepared_search.hpp.
#pragma once

#include "prepared_search.hpp"

#include <kith/io/read_sequences.hpp>
#include <kith/sequence_index.hpp>

namespace kith::cli {

class SequenceSource {
 public:
  using Index = SequenceIndex;

  void require_flags(const SourceInput& input, bool is_index) const;
  void read_points(const SourceInput& input);
  void require_fitting(const SourceInput& input, const IndexFileInfo& info);
  void read_queries(const SourceInput& input);
  std::uint64_t rows() const { return rows_; }
  DType dtype() const { return DType::f32; }
  SequenceView queries() const { return queries_.view(); }
  std::uint64_t query_count() const { return queries_.sequences.size(); }

  SequenceIndex build(const BuildOptions& options);
  void take_columns(const SourceInput& input, const SequenceIndex& index) const;
  void add_facts(nlohmann::ordered_json& report, const SequenceIndex& index) const;
  void add_skipped(nlohmann::ordered_json&, const SequenceIndex&) const {}  // sequences are never left out
  std::string skipped_text(const SequenceIndex&) const { return {}; }

 private:
  io::SequenceFile points_;
  io::SequenceFile queries_;
  std::uint64_t rows_ = 0;
  SequenceMetric metric_ = SequenceMetric::edit;
  SequenceKind kind_ = SequenceKind::text;
};

}  // namespace kith::cli
