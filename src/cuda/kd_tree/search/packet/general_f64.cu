// General packets for coordinates of type double.
#include "cuda/kd_tree/search/packet/general_packets.hpp"
#include "cuda/kd_tree/search/search_steps.cuh"
#include "cuda/queries/search_launcher.cuh"

namespace kith::cuda {

template <>
void search_general_packets(const PacketTask<double>& task, const Stream& stream) {
  launch_general_packets(task, SearchLauncher(stream));
}

}  // namespace kith::cuda
