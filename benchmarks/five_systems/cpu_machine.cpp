// See machine.hpp: the CPU.
#include "machine.hpp"

#include "../timer_results.hpp"

#include <kith/apps/verify_tree.hpp>
#include <kith/error.hpp>

#include <chrono>
#include <cstring>
#include <thread>

namespace kith::five {

namespace {

class Cpu : public Machine {
 public:
  Device device() const override { return Device::cpu(); }
  std::shared_ptr<void> allocate(std::uint64_t bytes) const override {
    return std::shared_ptr<char[]>(new char[bytes == 0 ? 1 : bytes]);
  }
  void copy(void* to, const void* from, std::uint64_t bytes) const override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void wait() const override {}
  std::string json() const override {
    return "{\"cpu\": \"" + first_line_of("lscpu | sed -n 's/^Model name: *//p'") +
           "\", \"cores\": " + std::to_string(std::thread::hardware_concurrency()) +
           ", \"system\": \"Linux\", \"commit\": \"" + commit() + "\"}";
  }
  double tree_check_ms(PointView points, const apps::NodeTable& table) const override {
    const auto start = std::chrono::steady_clock::now();
    const apps::TreeVerdict verdict = apps::verify_tree(table, points);
    if (!verdict.first_violation.empty()) throw BadData(verdict.first_violation);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
};

}  // namespace

std::unique_ptr<Machine> cpu_machine() { return std::make_unique<Cpu>(); }

}  // namespace kith::five
