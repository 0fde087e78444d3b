// Objects of any space prepared for search: in their cover tree, or all in one leaf, which is brute force.
#pragma once

#include "cpu/cover_tree/build.hpp"
#include "cpu/cover_tree/check_distances.hpp"
#include "cpu/cover_tree/search.hpp"
#include "cpu/instruction_set.hpp"
#include "engine/cover_tree/check_invariants.hpp"
#include "engine/cover_tree/one_leaf.hpp"
#include "engine/cover_tree/tree_sections.hpp"
#include "engine/index_file/index_file.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "engine/index_file/validate_section.hpp"

#include <kith/index.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kith::cpu {

/// What is to be built, or was built and is in a file.
struct ObjectTreeOptions {
  Engine engine = Engine::cover_tree;  ///< or brute_force
  std::uint32_t leaf_size = 0;         ///< 0: a good one
  engine::RunOptions run;
};

/// Owns the space and stays where it is.
template <Space S>
class ObjectTree {
 public:
  ObjectTree(S space, const ObjectTreeOptions& options)
      : space_(std::move(space)), tree_(space_, built(options), options.run.threads) {}
  /// Takes the tree of a file, whose other sections the caller knows. Throws CorruptFile.
  ObjectTree(S space, const engine::IndexFile& file, const ObjectTreeOptions& options)
      : space_(std::move(space)), tree_(space_, loaded(file, options), options.run.threads) {
    if (options.engine == Engine::brute_force || file.is_trusted()) return;
    const std::string wrong = CoverDistances<S>(tree_, options.run.threads).first_wrong();
    if (!wrong.empty()) file.refuse(wrong);
  }
  ObjectTree(const ObjectTree&) = delete;
  ObjectTree& operator=(const ObjectTree&) = delete;

  const PreparedTree<S>& prepared() const { return tree_; }

  void save(engine::IndexFileWriter& writer, Engine engine) const {
    if (engine == Engine::cover_tree) engine::save_cover_tree(tree_.tree(), writer);
  }

  /// As engine::Searcher has it.
  std::string first_violation(Engine engine) const {
    if (engine != Engine::cover_tree) return {};
    typename S::Query query;
    std::vector<std::uint32_t> place(tree_.size());
    for (std::uint32_t i = 0; i < tree_.size(); ++i) place[tree_.tree().order[i]] = i;
    std::uint32_t asked = std::numeric_limits<std::uint32_t>::max();
    const auto metric = [&](std::uint32_t a, std::uint32_t b) {
      typename S::Value value = 0;
      if (a != asked) space_.ask(query, a);
      asked = a;
      tree_.objects().measure(query, place[b], 1, std::numeric_limits<typename S::Value>::infinity(), &value);
      return space_.metric(value);
    };
    return engine::check_cover_invariants(tree_.tree(), tree_.size(), space_.rounding(), metric).value_or("");
  }

  std::uint64_t memory_bytes() const { return tree_.memory_bytes(); }
  /// "cover tree: 12 nodes, 9 leaves of up to 40 OBJECTS, 123 bytes"
  std::string describe(Engine engine, const char* objects) const {
    if (engine == Engine::brute_force) {
      return fmt::format("brute force: {} {} in a row, {} bytes", tree_.size(), objects, memory_bytes());
    }
    std::uint64_t leaves = 0;
    std::uint32_t largest = 0;
    for (const engine::CoverNode& node : tree_.tree().nodes) {
      if (!node.is_leaf()) continue;
      ++leaves;
      largest = std::max(largest, node.count);
    }
    return fmt::format("cover tree: {} nodes, {} leaves of up to {} {} ({}), {} bytes", tree_.tree().nodes.size(),
                       leaves, largest, objects, instruction_set(), memory_bytes());
  }

 private:
  engine::CoverTree built(const ObjectTreeOptions& options) const {
    if (options.engine == Engine::brute_force) return engine::one_leaf_tree(space_.size());
    std::uint64_t evaluations = 0;
    CoverBuildOptions build{.run = options.run, .evaluations = &evaluations};
    if (options.leaf_size != 0) build.leaf_size = options.leaf_size;
    engine::CoverTree tree = build_cover_tree(space_, build);
    if (options.run.times != nullptr) options.run.times->evaluations += evaluations;
    return tree;
  }
  engine::CoverTree loaded(const engine::IndexFile& file, const ObjectTreeOptions& options) const {
    if (options.engine == Engine::cover_tree) return engine::cover_tree_in_file(file);
    engine::require_zero_parameters(file, 0);
    return engine::one_leaf_tree(space_.size());
  }

  S space_;
  PreparedTree<S> tree_;
};

}  // namespace kith::cpu
