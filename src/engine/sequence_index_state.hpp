// What a SequenceIndex shares between its copies.
#pragma once

#include "engine/sequence_searcher.hpp"

#include <kith/sequence_index.hpp>

#include <memory>
#include <string>

namespace kith {

struct SequenceIndexState {
  SequenceView sequences;  ///< the first offset is 0
  std::shared_ptr<const void> owner;
  SequenceMetric metric = SequenceMetric::edit;
  Engine engine = Engine::brute_force;
  Device device;
  std::string reason;  ///< why this engine and device
  std::unique_ptr<engine::SequenceSearcher> searcher;

  engine::SequenceRows rows() const { return {sequences.items(), sequences.offsets(), sequences.size()}; }
};

}  // namespace kith
