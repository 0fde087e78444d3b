// Profiles: what `kith tune` measured on the devices of a user, in a file of JSON.
#pragma once

#include <kith/dtype.hpp>
#include <kith/export.hpp>
#include <kith/index.hpp>
#include <kith/tuning.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::inline v0 {

/// One of the numbers of `Tuning`.
struct TunedValue {
  std::string_view name;  ///< in files, as in `Tuning`
  std::uint64_t Tuning::*member = nullptr;
  std::uint64_t least = 0, most = 0;
  bool is_gpu = false;       ///< a number of a GPU, else of the CPU
  std::string_view meaning;  ///< for people
};
KITH_EXPORT std::span<const TunedValue> tuned_values();

/// How long one job took on the device: uniform points, L2, all threads.
struct TimedRun {
  Engine engine = Engine::kd_tree;
  DType dtype = DType::f32;
  std::uint32_t dims = 0;
  std::uint64_t points = 0;
  std::uint64_t queries = 0;
  std::uint32_t k = 0;
  bool is_self = false;
  double build_ms = 0;
  double search_ms = 0;

  friend bool operator==(const TimedRun&, const TimedRun&) = default;
};

/// What a profile says of one device. It counts for that device and version of kith alone.
struct DeviceProfile {
  bool is_gpu = false;
  std::string name;     ///< of the CPU or GPU, by its vendor
  int threads = 0;      ///< that a CPU runs at a time; 0 for a GPU
  std::string version;  ///< of kith
  Tuning values;        ///< those of other devices are not looked at
  std::vector<TimedRun> times;
};

/// The CPU of this machine and this version of kith, with built-in values.
KITH_EXPORT DeviceProfile profile_of_cpu();

/// All devices in a file, which is not compressed. Throws IoError, CorruptFile also for values out of range, UsageError
/// for "-". Of other versions only device and version are read.
KITH_EXPORT std::vector<DeviceProfile> read_profile(const std::string& path);
/// Adds the device, or replaces what the file has for it and its version; creates the file and its folder. Entries of
/// other devices and versions stay as they are. Throws IoError, and CorruptFile if the file there is no profile.
KITH_EXPORT void write_to_profile(const std::string& path, const DeviceProfile& device);

/// `kith/profile.json` in the folder XDG_CONFIG_HOME, or in `.config` of the home directory; empty without either.
KITH_EXPORT std::string user_profile_path();

/// Where the numbers in use come from.
struct ProfileInUse {
  std::string path;                    ///< empty: none, the numbers are built in
  std::string note;                    ///< why nothing is taken from a profile that is there, for people; else empty
  std::vector<DeviceProfile> devices;  ///< that count here: this CPU, and GPUs, whose values wait for their GPU
};

/// Takes the values of a profile from now on: of the file `path`; if it is empty, of the one that the environment
/// variable KITH_PROFILE names, or of `user_profile_path()` if there is one; "none" stands for the built-in values. A
/// profile of another CPU or version is not taken, and the note says so; the same for one that was found without being
/// named and cannot be read. Throws IoError and CorruptFile for one that was named, UsageError for "-". Thread-safe.
KITH_EXPORT ProfileInUse use_profile(const std::string& path = {});

/// What `use_profile` last did; by itself a process does `use_profile("")` when it first needs a number.
KITH_EXPORT ProfileInUse profile_in_use();

}  // namespace kith::inline v0
