// See profile.hpp, kith/profile.hpp and kith/tuning.hpp. Numbers in use are never changed or freed: others take their
// place, so that reading them needs no lock.
#include "engine/profile.hpp"

#include "runtime/output_file.hpp"

#include <kith/error.hpp>
#include <kith/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>

namespace kith::inline v0 {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kFormat = "kith profile 1";
constexpr std::uint64_t kMostBytes = 1 << 20;
constexpr std::uint64_t kMost32 = 0xffffffff;

constexpr TunedValue kValues[] = {
    {"thread_nanoseconds", &Tuning::thread_nanoseconds, 1000, 1'000'000'000, false,
     "work in ns for which another thread is woken"},
    {"split_records", &Tuning::split_records, 4096, kMost32, false, "records of a node that several threads split"},
    {"tree_points", &Tuning::tree_points, 1, kMost32, false, "points from which a k-d tree beats a scan, up to 5 dims"},
    {"scanned_coordinates", &Tuning::scanned_coordinates, 1, kMost32, false,
     "coordinates of queries that are scanned sooner than a k-d tree is built, up to 5 dims"},
    {"groups_per_task", &Tuning::groups_per_task, 1, 1 << 16, false, "groups of queries that a thread takes at a time"},
    {"scan_block_bytes", &Tuning::scan_block_bytes, 1 << 10, 1 << 30, false, "bytes of queries that a scan keeps"},
    {"presort_points", &Tuning::presort_points, 0, kMost32, false,
     "points up to which builder presort is taken in 2 dims"},
    {"gpu_points", &Tuning::gpu_points, 1, kMost32, true, "points from which `auto` takes a GPU"},
    {"gpu_scan_queries", &Tuning::gpu_scan_queries, 1, kMost32, true,
     "queries per dim that are scanned sooner than a k-d tree is built, up to 5 dims"},
    {"gpu_packet_queries", &Tuning::gpu_packet_queries, 32, kMost32, true, "queries from which packets are taken"},
    {"gpu_ordered_queries", &Tuning::gpu_ordered_queries, 32, kMost32, true, "queries from which they are sorted"},
    {"gpu_half_sum_pairs", &Tuning::gpu_half_sum_pairs, 1, std::uint64_t{1} << 62, true,
     "pairs from which sums in halves filter"}};

/// One with these numbers that lives as long as the process. There are as many as different numbers were in use.
const Tuning* kept(const Tuning& values) {
  static std::mutex lock;
  static auto& all = *new std::deque<Tuning>;  // threads may read while the process ends
  const std::lock_guard guard(lock);
  const auto found = std::find(all.begin(), all.end(), values);
  return found != all.end() ? &*found : &all.emplace_back(values);
}

std::atomic<const Tuning*> in_use{nullptr};

struct State {
  std::recursive_mutex lock;  // a first use may come from within
  ProfileInUse profile;
  std::exception_ptr error;    ///< of a profile that KITH_PROFILE names
  bool is_overridden = false;  ///< by `use_tuning`: the profile's numbers are not taken, also not when a GPU is used
};
State& state() {
  static auto& only = *new State;
  return only;
}

std::string range_of(const TunedValue& value) { return fmt::format("{} to {}", value.least, value.most); }
bool is_in_range(const TunedValue& value, std::uint64_t number) {
  return number >= value.least && number <= value.most;
}

/// "model name" of x86; other machines have numbers.
std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string implementer, part;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string text = line.substr(colon + 2);
    if (line.starts_with("model name")) return text;
    if (line.starts_with("CPU implementer")) implementer = text;
    if (line.starts_with("CPU part")) part = text;
  }
  return part.empty() ? "unknown CPU" : fmt::format("implementer {} part {}", implementer, part);
}

ordered_json json_of(const DeviceProfile& device) {
  ordered_json values = ordered_json::object(), times = ordered_json::array();
  for (const TunedValue& value : kValues) {
    if (value.is_gpu == device.is_gpu) values[std::string(value.name)] = device.values.*value.member;
  }
  for (const TimedRun& run : device.times) {
    times.push_back({{"engine", name_of(run.engine)},
                     {"dtype", name_of(run.dtype)},
                     {"dims", run.dims},
                     {"points", run.points},
                     {"queries", run.queries},
                     {"k", run.k},
                     {"self", run.is_self},
                     {"build_ms", run.build_ms},
                     {"search_ms", run.search_ms}});
  }
  return {{"device", device.is_gpu ? "cuda" : "cpu"},
          {"name", device.name},
          {"threads", device.threads},
          {"version", device.version},
          {"values", values},
          {"times", times}};
}

/// A whole number in [least, most]; throws std::exception, which says what is wrong.
std::uint64_t whole(const ordered_json& json, const std::string& key, std::uint64_t least, std::uint64_t most) {
  const ordered_json& number = json.at(key);
  if (number.is_number_unsigned() && number >= least && number <= most) return number;
  throw std::runtime_error(fmt::format("{} is {}; it must be {} to {}", key, number.dump(), least, most));
}

double milliseconds(const ordered_json& json, const std::string& key) {
  const double ms = json.at(key);
  if (std::isfinite(ms) && ms >= 0) return ms;
  throw std::runtime_error(fmt::format("{} is {}; it must be a time", key, ms));
}

TimedRun run_of(const ordered_json& json) {
  TimedRun run;
  run.engine = parse_engine(json.at("engine").get<std::string>());
  run.dtype = json.at("dtype") == "f64" ? DType::f64 : DType::f32;
  run.dims = static_cast<std::uint32_t>(whole(json, "dims", 1, 4096));
  run.points = whole(json, "points", 1, kMost32);
  run.queries = whole(json, "queries", 1, kMost32);
  run.k = static_cast<std::uint32_t>(whole(json, "k", 1, kMost32));
  run.is_self = json.at("self");
  run.build_ms = milliseconds(json, "build_ms");
  run.search_ms = milliseconds(json, "search_ms");
  return run;
}

DeviceProfile device_of(const ordered_json& json) {
  DeviceProfile device;
  const std::string kind = json.at("device");
  if (kind != "cpu" && kind != "cuda") throw std::runtime_error(fmt::format("\"{}\" is no device", kind));
  device.is_gpu = kind == "cuda";
  device.name = json.at("name");
  device.threads = static_cast<int>(whole(json, "threads", 0, 1 << 20));
  device.version = json.at("version");
  if (device.version != KITH_VERSION) return device;
  for (const auto& [name, number] : json.at("values").items()) {
    const auto value = std::find_if(std::begin(kValues), std::end(kValues), [&, &key = name](const TunedValue& one) {
      return one.name == key && one.is_gpu == device.is_gpu;
    });
    if (value == std::end(kValues)) throw std::runtime_error(fmt::format("{} is no value of {}", name, kind));
    device.values.*value->member = whole(json.at("values"), name, value->least, value->most);
  }
  for (const ordered_json& run : json.at("times")) device.times.push_back(run_of(run));
  return device;
}

/// Reads no more than a profile may have, and decompresses nothing: a small file may hold gigabytes.
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof()) {
    throw IoError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text.size() <= kMostBytes ? text : std::string();
}

/// The file as JSON with a list of devices.
ordered_json document_of(const std::string& path) {
  const ordered_json json = ordered_json::parse(text_of(path), nullptr, false);
  if (json.is_object() && json.value("format", "") == kFormat && json.contains("devices") &&
      json["devices"].is_array()) {
    return json;
  }
  throw CorruptFile(fmt::format("{}: is no profile of this kith; remove it, then run \"kith tune\"", path));
}

/// What a file says of a device, and the same as far as this version reads it.
struct Entry {
  ordered_json json;
  DeviceProfile device;
};

std::vector<Entry> entries_of(const std::string& path) {
  if (path == "-") throw UsageError("a profile is a file that can be read again, not standard input; name one");
  std::vector<Entry> entries;
  try {
    const ordered_json document = document_of(path);
    for (const ordered_json& json : document.at("devices")) entries.push_back({json, device_of(json)});
  } catch (const CorruptFile&) {
    throw;
  } catch (const IoError&) {
    throw;
  } catch (const std::exception& error) {
    throw CorruptFile(fmt::format("{}: {}; remove it, then run \"kith tune\"", path, error.what()));
  }
  return entries;
}

bool is_same_device(const DeviceProfile& a, const DeviceProfile& b) {
  return a.is_gpu == b.is_gpu && a.name == b.name && a.threads == b.threads;
}

std::string text_of(const DeviceProfile& device) {
  return fmt::format("{}{}, kith {}", device.name, device.is_gpu ? "" : fmt::format(" with {} threads", device.threads),
                     device.version);
}

/// The devices that count on this machine, and a note if none does.
ProfileInUse usable_profile(const std::string& path) {
  ProfileInUse profile;
  profile.path = path;
  const DeviceProfile here = profile_of_cpu();
  std::string other;
  for (DeviceProfile& device : read_profile(path)) {
    if (device.version == here.version && (device.is_gpu || is_same_device(device, here))) {
      profile.devices.push_back(std::move(device));
    } else if (other.empty()) {
      other = text_of(device);
    }
  }
  if (profile.devices.empty() && !other.empty()) {
    profile.note =
        fmt::format("{}: was made for {}, not for {}, and is ignored; \"kith tune\" makes one for this machine", path,
                    other, text_of(here));
  }
  return profile;
}

ProfileInUse profile_named(const std::string& path) {
  if (path == "none") return {};
  if (!path.empty()) return usable_profile(path);
  if (const char* named = std::getenv("KITH_PROFILE"); named != nullptr && *named != '\0') {
    return profile_named(named);
  }
  const std::string found = user_profile_path();
  std::error_code error;
  if (found.empty() || (!std::filesystem::exists(found, error) && !error)) return {};
  try {
    return usable_profile(found);
  } catch (const Error& problem) {
    return {found, fmt::format("{}; it is ignored", problem.what()), {}};
  }
}

/// The numbers of the CPU; those of GPUs wait until one is used.
void publish(const ProfileInUse& profile) {
  const auto cpu = std::find_if(profile.devices.begin(), profile.devices.end(),
                                [](const DeviceProfile& device) { return !device.is_gpu; });
  in_use.store(kept(cpu == profile.devices.end() ? Tuning{} : cpu->values), std::memory_order_release);
}

/// As `use_profile("")`, once, but an error waits for `require_profile`.
void find_profile() noexcept {
  const std::lock_guard guard(state().lock);
  if (in_use.load(std::memory_order_acquire) != nullptr) return;
  static constexpr Tuning kBuiltIn;
  in_use.store(&kBuiltIn, std::memory_order_release);  // reading must not come here again
  try {
    state().profile = profile_named({});
    publish(state().profile);
  } catch (...) {
    state().error = std::current_exception();
  }
}

}  // namespace

std::span<const TunedValue> tuned_values() { return kValues; }

const Tuning& tuning() noexcept {
  if (const Tuning* values = in_use.load(std::memory_order_acquire)) return *values;
  find_profile();
  return *in_use.load(std::memory_order_acquire);
}

void use_tuning(const Tuning& values) {
  for (const TunedValue& value : kValues) {
    if (is_in_range(value, values.*value.member)) continue;
    throw UsageError(fmt::format("{} is {}; it must be {}", value.name, values.*value.member, range_of(value)));
  }
  const std::lock_guard guard(state().lock);
  tuning();  // what a first use finds must not come later
  state().is_overridden = true;
  in_use.store(kept(values), std::memory_order_release);
}

DeviceProfile profile_of_cpu() {
  static const std::string name = cpu_name();
  return {.is_gpu = false,
          .name = name,
          .threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency())),
          .version = KITH_VERSION,
          .values = {},
          .times = {}};
}

std::vector<DeviceProfile> read_profile(const std::string& path) {
  std::vector<DeviceProfile> devices;
  for (Entry& entry : entries_of(path)) devices.push_back(std::move(entry.device));
  return devices;
}

void write_to_profile(const std::string& path, const DeviceProfile& device) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);  // writing says what is wrong
  ordered_json json = {{"format", kFormat}, {"devices", ordered_json::array()}};
  if (std::filesystem::exists(path, error)) {
    for (const Entry& other : entries_of(path)) {
      if (!is_same_device(other.device, device) || other.device.version != device.version) {
        json["devices"].push_back(other.json);
      }
    }
  }
  json["devices"].push_back(json_of(device));
  runtime::OutputFile file(path);
  file.write(json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  file.commit();
}

std::string user_profile_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return fmt::format("{}/kith/profile.json", config);
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return fmt::format("{}/.config/kith/profile.json", home);
}

ProfileInUse use_profile(const std::string& path) {
  const std::lock_guard guard(state().lock);
  ProfileInUse profile = profile_named(path);
  publish(profile);
  state().error = nullptr;
  state().is_overridden = false;
  state().profile = profile;
  return profile;
}

ProfileInUse profile_in_use() {
  tuning();
  const std::lock_guard guard(state().lock);
  return state().profile;
}

}  // namespace kith::inline v0

namespace kith::engine {

void require_profile() {
  tuning();
  const std::lock_guard guard(state().lock);
  if (state().error) std::rethrow_exception(state().error);
}

void take_gpu_values(const std::string& gpu) {
  const std::lock_guard guard(state().lock);
  Tuning values = tuning();
  if (state().is_overridden) return;
  ProfileInUse& profile = state().profile;
  const DeviceProfile *found = nullptr, *other = nullptr;
  for (const DeviceProfile& device : profile.devices) {
    if (device.is_gpu) (device.name == gpu ? found : other) = &device;
  }
  if (found == nullptr && other == nullptr) return;
  if (found == nullptr && profile.note.empty()) {
    profile.note = fmt::format("{}: was made for {}, and is ignored for {}; \"kith tune --device cuda\" adds it",
                               profile.path, text_of(*other), gpu);
  }
  // Those of another GPU may be in use: built-in ones take their place, too.
  const Tuning taken = found == nullptr ? Tuning{} : found->values;
  for (const TunedValue& value : kValues) {
    if (value.is_gpu) values.*value.member = taken.*value.member;
  }
  in_use.store(kept(values), std::memory_order_release);
}

std::uint64_t fewest_gpu_points() {
  const std::lock_guard guard(state().lock);
  std::uint64_t fewest = tuning().gpu_points;
  if (state().is_overridden) return fewest;
  for (const DeviceProfile& device : state().profile.devices) {
    if (device.is_gpu) fewest = std::min(fewest, device.values.gpu_points);
  }
  return fewest;
}

}  // namespace kith::engine
