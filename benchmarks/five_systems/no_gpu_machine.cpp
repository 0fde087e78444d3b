// See machine.hpp: in a build without CUDA there is no GPU.
#include "machine.hpp"

#include <kith/error.hpp>

namespace kith::five {

std::unique_ptr<Machine> gpu_machine() { throw DeviceError("this build has no CUDA; take --device cpu"); }

}  // namespace kith::five
