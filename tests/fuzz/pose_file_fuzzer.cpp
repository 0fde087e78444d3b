// Any bytes as a pose: the reader answers with finite numbers over 0 0 0 1, or throws a typed error that says why.
#include "io/results/pose_read.hpp"

#include <kith/error.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith;
  const runtime::InputFile file("fuzz", std::vector<char>(data, data + size));
  try {
    const apps::Pose pose = io::read_pose_file(file);
    for (const double value : pose.matrix) {
      if (!std::isfinite(value)) std::abort();
    }
    if (pose(3, 0) != 0 || pose(3, 1) != 0 || pose(3, 2) != 0 || pose(3, 3) != 1) std::abort();
  } catch (const Error& error) {
    if (!std::string(error.what()).starts_with("fuzz: ")) std::abort();
  }
  return 0;
}
