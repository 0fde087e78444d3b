// See tree_sections.hpp.
#include "engine/cover_tree/tree_sections.hpp"

#include "engine/cover_tree/check_invariants.hpp"
#include "engine/index_file/validate_section.hpp"
#include "engine/validate.hpp"

#include <fmt/format.h>

#include <string>

namespace kith::engine {

void save_cover_tree(const CoverTree& tree, IndexFileWriter& writer) {
  writer.set_parameter(kLeafSizeParameter, tree.leaf_size);
  writer.set_parameter(kSeparationParameter, static_cast<std::uint32_t>(tree.separation));
  writer.add(SectionId::cover_nodes, tree.nodes);
  writer.add(SectionId::cover_order, tree.order);
  writer.add(SectionId::cover_distances, tree.distances);
}

CoverTree cover_tree_in_file(const IndexFile& file) {
  const IndexFacts& facts = file.facts();
  require_zero_parameters(file, kSeparationParameter + 1);
  const std::uint32_t leaf_size = facts.parameters[kLeafSizeParameter];
  const std::uint32_t separation = facts.parameters[kSeparationParameter];
  if (leaf_size < 1 || leaf_size > kMostPerLeaf) {
    file.refuse(fmt::format("a leaf size of {} is not between 1 and {}", leaf_size, kMostPerLeaf));
  }
  if (separation > 1) file.refuse(fmt::format("there is no separation with the number {}", separation));
  CoverTree tree;
  tree.leaf_size = leaf_size;
  tree.separation = static_cast<CoverSeparation>(separation);
  tree.nodes = file.values<CoverNode>(SectionId::cover_nodes, file.count(SectionId::cover_nodes));
  tree.order = file.values<std::uint32_t>(SectionId::cover_order, facts.points);
  tree.distances = file.values<double>(SectionId::cover_distances, facts.points);
  tree.owner = file.owner();
  if (file.is_trusted()) return tree;
  const std::string violation = first_cover_violation(tree, facts.points);
  if (!violation.empty()) file.refuse(violation);
  return tree;
}

}  // namespace kith::engine
