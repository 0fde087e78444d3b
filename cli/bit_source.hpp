// Rows of bits for knn and radius under --metric hamming: see prepared_search.hpp.
#pragma once

#include "prepared_search.hpp"

#include <kith/bit_index.hpp>
#include <kith/io/read_bits.hpp>

namespace kith::cli {

class BitSource {
 public:
  using Index = BitIndex;

  void require_flags(const SourceInput& input, bool is_index) const;
  void read_points(const SourceInput& input);
  void require_fitting(const SourceInput& input, const IndexFileInfo& info);
  void read_queries(const SourceInput& input);
  std::uint64_t rows() const { return rows_; }
  DType dtype() const { return DType::f32; }
  BitView queries() const { return queries_.view(); }
  std::uint64_t query_count() const { return queries_.rows; }

  BitIndex build(const BuildOptions& options);
  void take_columns(const SourceInput&, const BitIndex&) const {}  // rows of bits have none
  void add_facts(nlohmann::ordered_json& report, const BitIndex& index) const;
  void add_skipped(nlohmann::ordered_json&, const BitIndex&) const {}  // bits are never bad
  std::string skipped_text(const BitIndex&) const { return {}; }

 private:
  io::BitFile points_;
  io::BitFile queries_;
  std::uint64_t rows_ = 0;
  std::uint32_t bits_ = 0;
};

}  // namespace kith::cli
