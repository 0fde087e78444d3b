// Which of 64 bits stands for an item of a set.
#pragma once

#include "core/host_device.hpp"

#include <cstdint>

namespace kith::cuda {

KITH_HOST_DEVICE inline std::uint32_t item_bit(std::uint32_t item) { return (item * 0x9e3779b1u) >> 26; }

}  // namespace kith::cuda
