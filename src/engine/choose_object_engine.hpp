// Which engine searches rows of bits and sequences on which device, and why.
#pragma once

#include "engine/choose_engine.hpp"

#include <kith/error.hpp>
#include <kith/index_file.hpp>
#include <kith/sequence_metric.hpp>

#include <cstdint>

namespace kith::engine {

/// What a caller asks for, and for what.
struct ObjectWish {
  Engine engine = Engine::automatic;
  Device device = {};
  std::uint64_t objects = 0;
  IndexContent content = IndexContent::sequences;  ///< or bits
  SequenceMetric metric = SequenceMetric::hamming;
  std::uint64_t queries = 0;  ///< how many will come; 0 if unknown
};

/// As `choose_engine` for what has no coordinates.
Choice choose_object_engine(const ObjectWish& wish);

/// Throws UsageError for one that no leaf has; 0 is fine.
void require_leaf_size(std::uint32_t leaf_size);

/// Makes a searcher by `make(choice)`. A GPU that was chosen here, not by the caller, gives way to the CPU if it fails
/// or refuses.
template <typename Make>
void make_or_fall_back(Device wanted, Choice& choice, Make&& make) {
  if (wanted.kind() != Device::Kind::automatic || choice.device == Device::cpu()) return make(choice);
  try {
    return make(choice);
  } catch (const DeviceError& error) {
    choice.fall_back(error.what());
  } catch (const OutOfMemory& error) {
    choice.fall_back(error.what());
  } catch (const UsageError& error) {
    choice.fall_back(error.what());
  }
  make(choice);
}

}  // namespace kith::engine
