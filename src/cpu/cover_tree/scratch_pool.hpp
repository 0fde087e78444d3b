// Memory that searches of a cover tree need while they run, used again by later ones.
#pragma once

#include "core/order/candidate.hpp"
#include "cpu/cover_tree/space.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kith::cpu {

/// A node that a walk has yet to look at.
template <typename Value>
struct PendingNode {
  double bound;     ///< no object of the node is nearer
  double distance;  ///< of its centre
  Value value;      ///< of its centre
  std::uint32_t node;
};

/// A type of its own, not a lambda of every walk: sorting by it is compiled once.
template <typename Value>
struct FartherFirst {
  bool operator()(const PendingNode<Value>& a, const PendingNode<Value>& b) const { return a.distance > b.distance; }
};

/// Siblings among them, from place `first` to the next group.
struct PendingGroup {
  std::size_t first = 0;
  std::uint32_t taken = 0;  ///< how many of the siblings have been looked at
};

/// What one thread needs.
template <Space S>
struct CoverScratch {
  typename S::Query query;
  std::vector<PendingNode<typename S::Value>> pending;
  std::vector<PendingGroup> groups;
  const typename S::Value* first_values = nullptr;  ///< of the root's children, if they were measured before
  std::vector<core::Candidate<typename S::Value>> found;
};

/// Hands out scratch; as much is kept as was ever in use at a time.
template <Space S>
class ScratchPool {
 public:
  /// For walks through that many nodes: those of smaller trees never take more memory.
  explicit ScratchPool(std::size_t nodes) : pending_(std::min(nodes, kMostReserved)) {}

  /// Goes back to the pool at its end.
  class Lease {
   public:
    explicit Lease(ScratchPool& pool) : pool_(pool), scratch_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(scratch_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    CoverScratch<S>& operator*() const { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<CoverScratch<S>> scratch_;
  };

 private:
  static constexpr std::size_t kMostReserved = 1 << 14;
  static constexpr std::size_t kManyLevels = 256;

  std::unique_ptr<CoverScratch<S>> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.reserve(++made_);  // giving back must not fail
      auto scratch = std::make_unique<CoverScratch<S>>();
      scratch->pending.reserve(pending_);
      scratch->groups.reserve(std::min(pending_, kManyLevels));
      return scratch;
    }
    auto scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<CoverScratch<S>> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

  std::size_t pending_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CoverScratch<S>>> free_;
  std::size_t made_ = 0;
};

}  // namespace kith::cpu
