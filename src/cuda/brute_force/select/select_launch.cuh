// See select.hpp; included once per type of coordinates.
#pragma once

#include "cuda/brute_force/select/select.hpp"
#include "cuda/brute_force/select/select_steps.cuh"
#include "cuda/queries/search_launcher.cuh"

namespace kith::cuda {

template <typename T>
SelectChoice select_entries(const SelectTask<T>& task, SelectStrategy strategy, const Stream& stream) {
  return launch_select(task, strategy, processors_of(stream.device()), SearchLauncher(stream));
}

}  // namespace kith::cuda
