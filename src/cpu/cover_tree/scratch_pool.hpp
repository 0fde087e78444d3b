// Memory that searches of a cover tree need while they run, used again by later ones.
#pragma once

#include "core/candidate.hpp"
#include "cpu/cover_tree/space.hpp"

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

/// What one thread needs.
template <Space S>
struct CoverScratch {
  typename S::Query query;
  std::vector<PendingNode<typename S::Value>> pending;
  std::vector<core::Candidate<typename S::Value>> found;
};

/// Hands out scratch; as much is kept as was ever in use at a time.
template <Space S>
class ScratchPool {
 public:
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
  std::unique_ptr<CoverScratch<S>> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.reserve(++made_);  // giving back must not fail
      return std::make_unique<CoverScratch<S>>();
    }
    auto scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<CoverScratch<S>> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<CoverScratch<S>>> free_;
  std::size_t made_ = 0;
};

}  // namespace kith::cpu
