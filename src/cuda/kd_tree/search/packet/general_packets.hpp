// General packets, which search on periodic axes and with filters: launched from files of their own, because they take
// as long to compile as all others.
#pragma once

#include "cuda/kd_tree/search/packet/packet_types.hpp"
#include "cuda/runtime/stream.hpp"

namespace kith::cuda {

/// Put into the stream; what fails is for others. Throws DeviceError.
template <typename T>
void search_general_packets(const PacketTask<T>& task, const Stream& stream);

}  // namespace kith::cuda
