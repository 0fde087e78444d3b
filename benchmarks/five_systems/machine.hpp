// The device that is measured: its memory, and what to say of it. Nothing here includes a CUDA header.
#pragma once

#include <kith/apps/tree_export.hpp>
#include <kith/device.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::five {

class Machine {
 public:
  virtual ~Machine() = default;
  virtual Device device() const = 0;
  bool is_gpu() const { return device() != Device::cpu(); }
  virtual std::shared_ptr<void> allocate(std::uint64_t bytes) const = 0;
  /// Between the memory of the host and that of the device, or within one.
  virtual void copy(void* to, const void* from, std::uint64_t bytes) const = 0;
  /// Until all work of the device is done.
  virtual void wait() const = 0;
  /// A JSON object with hardware and commit.
  virtual std::string json() const = 0;
  /// Checks a table of points in host memory; copies to the device are not in the time. Throws BadData if it is wrong.
  virtual double tree_check_ms(PointView points, const apps::NodeTable& table) const = 0;
};

std::unique_ptr<Machine> cpu_machine();
/// Throws DeviceError in a build without CUDA.
std::unique_ptr<Machine> gpu_machine();

/// Values in the memory of the device that is measured.
template <typename T>
class Array {
 public:
  Array(const Machine& machine, std::uint64_t count)
      : machine_(&machine), memory_(machine.allocate(count * sizeof(T))), count_(count) {}
  Array(const Machine& machine, std::span<const T> values) : Array(machine, values.size()) {
    machine.copy(data(), values.data(), values.size_bytes());
  }

  T* data() const { return static_cast<T*>(memory_.get()); }
  std::uint64_t size() const { return count_; }
  std::span<T> span() const { return {data(), static_cast<std::size_t>(count_)}; }
  PointView rows(std::uint32_t dims) const { return PointView(data(), count_ / dims, dims, machine_->device()); }
  std::vector<T> on_host() const {
    std::vector<T> values(count_);
    machine_->copy(values.data(), data(), count_ * sizeof(T));
    return values;
  }

 private:
  const Machine* machine_;
  std::shared_ptr<void> memory_;
  std::uint64_t count_;
};

}  // namespace kith::five
