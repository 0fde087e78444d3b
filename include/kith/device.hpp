// Where points live and where work runs.
#pragma once

#include <kith/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::inline v0 {

/// The CPU, one CUDA GPU, or "choose for me". A small value; compare with ==.
class KITH_EXPORT Device {
 public:
  enum class Kind : std::uint8_t { automatic, cpu, cuda };

  /// The default is the CPU.
  constexpr Device() = default;
  /// A GPU if one is there that has enough memory, and the work pays for it: from a million points on, but not for a
  /// few queries that a scan answers before a GPU has started. Else the CPU, also if the GPU fails while an index is
  /// built or loaded. For less work no GPU is looked for.
  static constexpr Device automatic() { return Device(Kind::automatic, 0); }
  static constexpr Device cpu() { return Device(Kind::cpu, 0); }
  static constexpr Device cuda(int ordinal = 0) { return Device(Kind::cuda, ordinal); }
  /// Reads "auto", "cpu", "cuda" or "cuda:N". Throws UsageError on anything else.
  static Device parse(std::string_view text);

  constexpr Kind kind() const { return kind_; }
  /// Which GPU; 0 for the CPU.
  constexpr int ordinal() const { return ordinal_; }
  /// "auto", "cpu" or "cuda:N".
  std::string name() const;

  friend constexpr bool operator==(Device, Device) = default;

 private:
  constexpr Device(Kind kind, int ordinal) : kind_(kind), ordinal_(ordinal) {}

  Kind kind_ = Kind::cpu;
  int ordinal_ = 0;
};

/// What a GPU can do for this build of kith.
struct GpuInfo {
  int compute_capability = 0;            ///< 10 times the major version and the minor one: 75, 90, 120
  std::uint32_t shared_bytes = 0;        ///< shared memory that kith takes for a block, at most
  bool has_code = true;                  ///< whether this build holds code for it; without, nothing runs there
  bool has_full_plan = false;            ///< k-d trees are built by the full plan, not by that for 64 KiB; same tree
  std::uint32_t tensor_filter_dims = 0;  ///< tensor cores filter for brute force up to so many dims; 0: never
};

/// What `available_devices` tells of one device.
struct DeviceInfo {
  Device device;
  std::string name;                  ///< the vendor's name of the chip; "cpu" for the host
  std::uint64_t memory_bytes = 0;    ///< all memory of the device
  int threads = 0;                   ///< what `threads = 0` means (CPU), or multiprocessors (GPU)
  std::optional<GpuInfo> gpu = {};   ///< of GPUs
  std::string instruction_set = {};  ///< of the CPU: the SIMD instruction set in use, e.g. "avx2"; KITH_SIMD chooses
  std::vector<std::string> instruction_sets = {};  ///< of the CPU: those that KITH_SIMD can choose here, best first
};

/// The CPU first, then every GPU; `gpu->has_code` tells whether this build can use it. Never throws because of a
/// missing driver.
KITH_EXPORT std::vector<DeviceInfo> available_devices();

/// True if the CUDA backend was compiled in (a GPU may still be missing).
KITH_EXPORT bool built_with_cuda();

}  // namespace kith::inline v0
