// Whether the distances in a cover tree are those of its objects: what a file says is measured again.
#pragma once

#include "cpu/cover_tree/prepared_tree.hpp"
#include "runtime/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kith::cpu {

/// What is wrong first, or nothing. The tree has passed engine::first_cover_violation. Measures each object from the
/// centres of all nodes that it is in, but once from a centre that several of them share.
template <Space S>
class CoverDistances {
 public:
  CoverDistances(const PreparedTree<S>& tree, int threads) : tree_(tree), threads_(threads) {}

  std::string first_wrong() {
    // Large nodes are cut, small ones are put together.
    for (std::uint32_t node = 0; node < tree_.tree().nodes.size(); ++node) add_pieces(node);
    std::vector<std::string> wrong(pieces_.size());
    const std::uint64_t tasks = (pieces_.size() + kPiecesPerTask - 1) / kPiecesPerTask;
    runtime::parallel_for(tasks, {.threads = threads_}, [&](std::uint64_t task) {
      const typename ScratchPool<S>::Lease lease(tree_.scratch());
      const std::uint64_t end = std::min<std::uint64_t>(pieces_.size(), (task + 1) * kPiecesPerTask);
      for (std::uint64_t i = task * kPiecesPerTask; i < end; ++i) wrong[i] = check(pieces_[i], (*lease).query);
    });
    for (std::string& text : wrong) {
      if (!text.empty()) return std::move(text);
    }
    return first_wrong_reach();
  }

 private:
  using Value = typename S::Value;
  enum class What : std::uint8_t { children, leaf, inner };
  /// Objects, or child nodes, to be measured from the centre of a node.
  struct Piece {
    std::uint32_t node;
    What what;
    std::uint32_t first;
    std::uint32_t count;
    double reach = 0;  ///< of the objects, as measured
  };
  static constexpr std::uint32_t kMostPerPiece = 512;
  static constexpr std::uint64_t kPiecesPerTask = 16;

  void add_pieces(std::uint32_t number) {
    const engine::CoverNode& node = tree_.node(number);
    if (node.is_leaf()) return add(number, What::leaf, node.first, node.count);
    add(number, What::children, node.first_child + 1, node.children - 1);
    const std::uint32_t shared = tree_.node(node.first_child).count;  // from the same centre
    add(number, What::inner, node.first + shared, node.count - shared);
  }
  void add(std::uint32_t node, What what, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t done = 0; done < count; done += kMostPerPiece) {
      pieces_.push_back({node, what, first + done, std::min(kMostPerPiece, count - done)});
    }
  }

  std::string check(Piece& piece, typename S::Query& query) const {
    const std::uint32_t centre = tree_.node(piece.node).centre;
    Value values[kMostPerPiece];
    tree_.space().ask(query, centre);
    const typename S::Rows& rows = piece.what == What::children ? tree_.centres() : tree_.objects();
    rows.measure(query, piece.first, piece.count, std::numeric_limits<Value>::infinity(), values);
    for (std::uint32_t i = 0; i < piece.count; ++i) {
      const std::uint32_t at = piece.first + i;
      const double distance = tree_.space().metric(values[i]);
      piece.reach = std::max(piece.reach, distance);
      if (piece.what == What::inner) continue;
      const bool is_child = piece.what == What::children;
      const double said = is_child ? tree_.node(at).to_parent : tree_.tree().distances[at];
      if (std::bit_cast<std::uint64_t>(said) == std::bit_cast<std::uint64_t>(distance)) continue;
      return fmt::format("node {}: objects {} and {} are {} apart, not {}", is_child ? at : piece.node, centre,
                         is_child ? tree_.node(at).centre : tree_.tree().order[at], distance, said);
    }
    return {};
  }

  /// Leaves have passed: they reach as far as their last object.
  std::string first_wrong_reach() const {
    std::vector<double> reach(tree_.tree().nodes.size());
    for (const Piece& piece : pieces_) {
      if (piece.what != What::children) reach[piece.node] = std::max(reach[piece.node], piece.reach);
    }
    for (auto i = static_cast<std::uint32_t>(reach.size()); i-- > 0;) {
      const engine::CoverNode& node = tree_.node(i);
      if (!node.is_leaf()) reach[i] = std::max(reach[i], reach[node.first_child]);
    }
    for (std::uint32_t i = 0; i < reach.size(); ++i) {
      if (std::bit_cast<std::uint64_t>(reach[i]) == std::bit_cast<std::uint64_t>(tree_.node(i).reach)) continue;
      return fmt::format("node {}: its farthest object is at {}, not at {}", i, reach[i], tree_.node(i).reach);
    }
    return {};
  }

  const PreparedTree<S>& tree_;
  int threads_;
  std::vector<Piece> pieces_;
};

}  // namespace kith::cpu
