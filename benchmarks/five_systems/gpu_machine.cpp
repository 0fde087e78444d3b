// See machine.hpp: the first GPU.
#include "machine.hpp"

#include "../gpu_timing.hpp"

#include "cuda/ordered_tree/tree_arrays.hpp"

namespace kith::five {

namespace {

class Gpu : public Machine {
 public:
  Device device() const override { return Device::cuda(); }
  std::shared_ptr<void> allocate(std::uint64_t bytes) const override {
    void* memory = nullptr;
    cuda::check(cudaMalloc(&memory, bytes == 0 ? 1 : bytes), "allocating memory");
    return {memory, [](void* block) { cudaFree(block); }};
  }
  void copy(void* to, const void* from, std::uint64_t bytes) const override {
    cuda::check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying");
  }
  void wait() const override { cuda::check(cudaDeviceSynchronize(), "waiting"); }
  std::string json() const override { return machine_json(); }
  double tree_check_ms(PointView points, const apps::NodeTable& table) const override {
    cuda::BuildPhases steps;
    const bool is_right = cuda::is_right_tree_of_arrays(
        {points,
         {table.point.data(), table.split_dim.data(), table.less.data(), table.greater.data()},
         {table.point.size(), table.root},
         {},
         device()},
        &steps);
    if (!is_right) throw BadData("the tree that the GPU made is wrong");
    double ms = 0;
    for (const cuda::BuildPhase& step : steps.phases) ms += step.ms;
    return ms;
  }
};

}  // namespace

std::unique_ptr<Machine> gpu_machine() { return std::make_unique<Gpu>(); }

}  // namespace kith::five
