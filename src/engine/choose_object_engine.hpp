// Which engine searches rows of bits and sequences on which device, and why.
#pragma once

#include "engine/choose_engine.hpp"

#include <kith/index_file.hpp>

#include <cstdint>
#include <string>

namespace kith::engine {

/// What a caller asks for, and for what.
struct ObjectEngineRequest {
  Engine engine = Engine::automatic;
  Device device = {};
  std::uint64_t objects = 0;
  IndexContent content = IndexContent::sequences;  ///< or bits
  std::uint64_t queries = 0;                       ///< how many will come; 0 if unknown
  std::string reason = {};                         ///< why that engine, if somebody else chose it
};

/// As `choose_engine` for what has no coordinates.
Choice choose_object_engine(const ObjectEngineRequest& wanted);

}  // namespace kith::engine
