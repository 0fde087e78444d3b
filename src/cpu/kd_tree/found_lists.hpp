// Lists of any length that tasks find for queries in an order of their own, joined in the order of the queries.
#pragma once

#include "cpu/kd_tree/collectors.hpp"
#include "engine/searcher.hpp"
#include "runtime/parallel.hpp"

#include <cstdint>
#include <vector>

namespace kith::cpu {

template <typename T>
class FoundLists {
 public:
  using Entry = typename ListEntry<T>::Type;

  explicit FoundLists(std::uint64_t tasks) : parts_(tasks) {}

  /// By one thread at a time for each task.
  void add(std::uint64_t task, std::uint64_t query, const std::vector<Entry>& list) {
    Part& part = parts_[task];
    part.queries.push_back(query);
    part.lengths.push_back(list.size());
    part.entries.insert(part.entries.end(), list.begin(), list.end());
  }

  /// Afterwards there are none here.
  engine::ReducedLists<T> joined(std::uint64_t queries, int threads) {
    engine::ReducedLists<T> lists;
    lists.offsets.resize(queries + 1, 0);
    for (const Part& part : parts_) {
      for (std::size_t i = 0; i < part.queries.size(); ++i) lists.offsets[part.queries[i] + 1] = part.lengths[i];
    }
    for (std::uint64_t q = 0; q < queries; ++q) lists.offsets[q + 1] += lists.offsets[q];
    lists.indices.resize(lists.offsets.back());
    lists.reduced.resize(lists.offsets.back());
    runtime::parallel_for(parts_.size(), {.threads = threads}, [&](std::uint64_t task) {
      Part& part = parts_[task];
      const Entry* next = part.entries.data();
      for (std::size_t i = 0; i < part.queries.size(); ++i) {
        const std::uint64_t offset = lists.offsets[part.queries[i]];
        for (std::uint64_t j = 0; j < part.lengths[i]; ++j, ++next) {
          const core::Candidate<T> candidate = ListEntry<T>::candidate(*next);
          lists.indices[offset + j] = candidate.index;
          lists.reduced[offset + j] = candidate.distance;
        }
      }
      part = {};  // what was copied is given back at once
    });
    return lists;
  }

 private:
  /// What one task found: lists one after the other.
  struct Part {
    std::vector<std::uint64_t> queries;
    std::vector<std::uint64_t> lengths;
    std::vector<Entry> entries;
  };

  std::vector<Part> parts_;
};

}  // namespace kith::cpu
