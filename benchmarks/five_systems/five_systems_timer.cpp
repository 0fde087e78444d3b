// Times the work of the five systems that kith unites: five_systems_timer RESULTS.json [--device cpu|cuda] [--data
// FOLDER] [--part N]
//
// docs/five_systems.md says what is measured. Points, queries and answers lie in the memory of the device. Sizes are
// divided by N, for a CPU. Exits with 1 if an answer is wrong.
#include "measure.hpp"

#include <kith/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

int main(int argc, char** argv) {
  using namespace kith;
  std::string device = "cuda", data = "../shared/data";
  std::uint64_t part = 1;
  bool is_understood = argc >= 2 && argc % 2 == 0;
  for (int i = 2; is_understood && i < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--device")
      device = value;
    else if (name == "--data")
      data = value;
    else if (name == "--part")
      part = std::strtoull(value.c_str(), nullptr, 10);
    else
      is_understood = false;
  }
  if (!is_understood || part == 0 || (device != "cpu" && device != "cuda")) {
    std::fprintf(stderr, "usage: five_systems_timer RESULTS.json [--device cpu|cuda] [--data FOLDER] [--part N]\n");
    return 2;
  }
  try {
    const std::unique_ptr<five::Machine> machine = device == "cpu" ? five::cpu_machine() : five::gpu_machine();
    Results results;
    const five::Job job{.machine = *machine, .results = results, .part = part, .data = data};
    five::measure_balanced_trees(job);
    five::measure_knn(job);
    five::measure_scans(job);
    five::measure_cover_trees(job);
    five::measure_classification(job);
    return results.write(argv[1], machine->json()) ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
