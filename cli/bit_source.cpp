// Rows of bits for knn and radius under --metric hamming: see prepared_search.hpp.
#include "sources.hpp"

#include "readable.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace kith::cli {
namespace {

io::BitFile read_bit_file(const SourceInput& input, const std::string& path) {
  io::BitFile file = io::read_bits(path, input.progress.callback());
  input.flags.output.explanation(fmt::format("read {}: npy, {} of {}, {}", path, counted(file.rows, "row"),
                                             counted(file.bits, "bit"),
                                             readable_bytes(static_cast<double>(file.bytes.size()))));
  return file;
}

}  // namespace

void BitSource::require_flags(const SourceInput& input, bool is_index) const {
  const SearchFlags& flags = input.flags;
  const bool may_be_tree = flags.build.engine == Engine::cover_tree || is_index;
  refuse_flags_of_points(flags, "rows of bits", {.eps = may_be_tree, .map = is_index, .leaf_size = may_be_tree});
  refuse_sequence_flags(flags.sequences, "bits");
  if (!flags.self() && is_index_file(flags.queries_path)) {
    throw UsageError(fmt::format("{} is an index file; QUERIES are a .npy of bits", flags.queries_path));
  }
}

void BitSource::read_points(const SourceInput& input) {
  points_ = read_bit_file(input, input.flags.points_path);
  rows_ = points_.rows;
  bits_ = points_.bits;
}

void BitSource::require_fitting(const SourceInput&, const IndexFileInfo& info) {
  rows_ = info.rows;
  bits_ = info.dims;
}

void BitSource::read_queries(const SourceInput& input) {
  queries_ = read_bit_file(input, input.flags.queries_path);
  if (queries_.bits == bits_) return;
  throw UsageError(fmt::format("{} has {}, but {} has {}", input.flags.queries_path, counted(queries_.bits, "bit"),
                               input.flags.points_path, counted(bits_, "bit")));
}

BitIndex BitSource::build(const SourceInput&, const BuildOptions& options) {
  const io::BitFile points = std::move(points_);  // it is copied, and not needed any more
  return BitIndex::build(points.view(), options);
}

void BitSource::add_facts(nlohmann::ordered_json& report, const BitIndex& index) const {
  report["bits"] = index.bits();
  report["metric"] = "hamming";
}

}  // namespace kith::cli
