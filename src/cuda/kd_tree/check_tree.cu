// See check_tree.hpp. PLACEHOLDER: reports that trees cannot be checked yet, so that the rest links.
#include "cuda/kd_tree/check_tree.hpp"

#include <kith/error.hpp>

namespace kith::cuda {

std::uint64_t check_scratch_bytes(const core::KdGeometry&) { return 16; }

template <typename T>
bool is_contract_tree(const TreeArrays<T>&, const TreeShape&, std::uint32_t, std::byte*, cudaStream_t) {
  throw DeviceError("trees cannot be checked on a GPU yet");
}

template bool is_contract_tree(const TreeArrays<float>&, const TreeShape&, std::uint32_t, std::byte*, cudaStream_t);
template bool is_contract_tree(const TreeArrays<double>&, const TreeShape&, std::uint32_t, std::byte*, cudaStream_t);

}  // namespace kith::cuda
