// Points for knn, radius and box: see prepared_search.hpp.
#pragma once

#include "prepared_search.hpp"

#include <kith/io/read_points.hpp>

#include <optional>

namespace kith::cli {

class PointSource {
 public:
  using Index = kith::Index;

  void require_flags(const SourceInput& input, bool is_index) const;
  void read_points(const SourceInput& input);
  void require_fitting(const SourceInput& input, const IndexFileInfo& info);
  void read_queries(const SourceInput& input);
  std::uint64_t rows() const { return rows_; }
  DType dtype() const { return dtype_; }
  PointView queries() const { return queries_; }
  std::uint64_t query_count() const { return queries_.rows(); }

  Index build(const BuildOptions& options) const;
  void take_columns(const SourceInput& input, const Index& index) const;
  void add_facts(nlohmann::ordered_json& report, const Index& index) const;
  void add_skipped(nlohmann::ordered_json& report, const Index& index) const;
  std::string skipped_text(const Index& index) const;

 private:
  std::uint64_t skipped_queries(const Index& index) const { return skipped_queries_.value_or(index.skipped()); }

  io::PointFile points_;
  std::optional<io::PointFile> queries_file_;
  PointView queries_;
  std::uint64_t rows_ = 0;
  std::uint32_t dims_ = 0;
  DType dtype_ = DType::f32;
  std::optional<std::uint64_t> skipped_queries_;  ///< none: the points are the queries
  bool squared_ = false;
  std::vector<double> period_;
};

}  // namespace kith::cli
