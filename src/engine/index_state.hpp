// What an Index shares between its copies.
#pragma once

#include "engine/index_file/index_file.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "core/metric/metric_params.hpp"
#include "engine/searcher.hpp"

#include <kith/index.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace kith {

template <>
struct StateOf<PointView> {
  std::variant<std::unique_ptr<engine::Searcher<float>>, std::unique_ptr<engine::Searcher<double>>> searcher;
  std::uint64_t rows = 0;   ///< as the caller counts
  std::uint64_t clean = 0;  ///< points in the searcher
  std::uint32_t dims = 0;   ///< of the rows that are searched
  DType dtype = DType::f32;
  Metric metric;
  core::RowPreparation preparation;  ///< from the caller's rows to those that are searched
  Engine engine = Engine::brute_force;
  Device device;
  /// The caller's number of each clean point, ascending; empty if none was left out.
  std::vector<std::uint32_t> original;
  /// Lengths of periodic axes, rounded to the type of the points, infinity where one does not wrap; empty: none does.
  std::vector<double> period;
  std::string reason;  ///< why this engine and device

  std::uint32_t callers_dims() const { return core::callers_dims(metric, dims); }
  bool left_out_rows() const { return clean != rows; }
  /// The caller's number of a clean point; the clean count (missing) becomes the caller's count.
  std::uint32_t original_index(std::uint32_t index) const {
    if (index >= clean) return static_cast<std::uint32_t>(rows);
    return original.empty() ? index : original[index];
  }
};

using IndexState = StateOf<PointView>;

/// The searcher of an index of type T.
template <typename T>
const engine::Searcher<T>& searcher_of(const IndexState& state) {
  return *std::get<std::unique_ptr<engine::Searcher<T>>>(state.searcher);
}

namespace engine {

inline SearchedTree searched_tree(const IndexState& state) {
  return state.engine == Engine::kd_tree ? SearchedTree{state.dims, state.clean} : SearchedTree{};
}

/// Saving and loading: index_storage.cpp.
struct PointFiles {
  static void write(const IndexState& state, const SaveOptions& options, const IndexFileWriter::Sink& sink);
  static std::shared_ptr<const IndexState> load(const IndexFile& file, const LoadOptions& options);
};

}  // namespace engine
}  // namespace kith
