// See build.hpp.
//
//   step                  reads                          leaves
//   describe the points   the files once                 facts, in building/state
//   cut                   the files, a pass each round   the plan so far, in building/state
//   deal out              the files once                 building/rows, numbers
//   build each shard      its rows and numbers           shard-NNNN.kith; its facts, in building/state
//   finish                                               manifest, no building/
//
// What a step leaves is on the disk before the state says so: a build that was killed does its last step again.
#include "shards/stored/build.hpp"

#include "runtime/progress_meter.hpp"
#include "shards/check_rules.hpp"
#include "shards/stored/files.hpp"
#include "shards/stored/memory.hpp"

#include <kith/error.hpp>
#include <kith/shards/shard.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace kith::shards {
namespace {

namespace fs = std::filesystem;

/// One build at a time in a folder.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw IoError(fmt::format("{}: cannot be opened: {}", folder, std::strerror(errno)));
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;  // not all file systems have locks
    close(descriptor_);
    throw IoError(fmt::format("{}: another process builds shards in it", folder));
  }
  ~FolderLock() { close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// All that the shards depend on but their number.
std::string source_of(const StoredPoints& points, const BuildOptions& build) {
  std::string text =
      fmt::format("metric {}, params {}, period {}, split {}, engine {}, builder {}, leaf size {}{}\n",
                  build.metric.name(), build.metric_params, build.period, name_of(build.split), name_of(build.engine),
                  name_of(build.builder), build.leaf_size, build.skip_nonfinite ? ", bad rows left out" : "");
  for (const io::PointRows& file : points.files) text += file.stamp() + "\n";
  return text;
}

bool is_temporary(const std::string& name) { return name.ends_with(".tmp"); }

/// Whether a build may remove it.
bool is_own_name(const std::string& name) {
  return name == "manifest" || name == "numbers" || name == "building" || name.starts_with("shard-") ||
         is_temporary(name);
}

/// f(path, name) for all in a folder.
template <typename F>
void for_each_entry(const std::string& folder, const F& f) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  for (const fs::path& path : paths) f(path, path.filename().string());
}

/// The folder that is built, with what an earlier build left.
class FolderBuild {
 public:
  FolderBuild(const StoredPoints& points, const std::string& folder, const StoredBuildOptions& options,
              const std::function<void()>& after_step)
      : points_(points),
        paths_{folder},
        options_(options),
        after_step_(after_step),
        build_(options.build),
        shape_{points.files.front().dims(), points.files.front().dtype()},
        usable_(usable_memory(options.memory)) {
    build_.device = Device::cpu();
    build_.progress = {};
    build_.times = nullptr;
    source_ = source_of(points, build_);
  }

  void run() {
    make_folder();
    const FolderLock lock(paths_.folder);
    if (is_finished()) return;
    begin();
    try {
      describe();
      cut();
    } catch (const BadData&) {
      remove_all();
      throw;
    } catch (const UsageError&) {
      remove_all();
      throw;
    }
    deal();
    build_shards();
    finish();
  }

 private:
  void note(const std::string& text) const {
    if (options_.note) options_.note(text);
  }
  void did_step() const {
    if (after_step_) after_step_();
    runtime::look_for_stop();
  }
  void keep_state() const {
    write_state(paths_, state_);
    did_step();
  }

  void make_folder() {
    std::error_code error;
    is_new_ = fs::create_directory(paths_.folder, error);
    if (error) throw IoError(fmt::format("{}: cannot be made: {}", paths_.folder, error.message()));
    const bool may_hold_shards = fs::exists(paths_.numbers()) || fs::exists(paths_.building());
    for_each_entry(paths_.folder, [&](const fs::path&, const std::string& name) {
      if (is_own_name(name) && may_hold_shards) return;
      throw UsageError(fmt::format("{}: holds other files, such as {}; name a new folder", paths_.folder, name));
    });
  }

  /// Whether the very same build is done already.
  bool is_finished() {
    if (!fs::exists(paths_.manifest())) return false;
    try {
      const Manifest manifest = read_manifest(paths_);
      bool is_same = manifest.source == source_ && (options_.shards == 0 || options_.shards == manifest.map.size());
      for (std::uint32_t shard = 0; is_same && shard < manifest.map.size(); ++shard) {
        if (manifest.files[shard].index_bytes > 0) require_same_file(paths_.index(shard), manifest.files[shard]);
      }
      if (is_same) {
        note(fmt::format("{} is finished, and its files have not changed since; nothing is left to do", paths_.folder));
        fs::remove_all(paths_.building());
        return true;
      }
      note(fmt::format("{} holds shards of other files or options; they are replaced", paths_.folder));
    } catch (const Error&) {
      note(fmt::format("{} holds damaged shards; they are replaced", paths_.folder));
    }
    return false;
  }

  void remove_own() const {
    fs::remove(paths_.manifest());  // first: what is left is no folder of shards
    for_each_entry(paths_.folder, [](const fs::path& path, const std::string& name) {
      if (name != "building" && name != "numbers") fs::remove_all(path);  // those tell whose folder it is
    });
    fs::remove_all(paths_.building());
    fs::remove(paths_.numbers());
  }
  void remove_all() const {
    remove_own();
    if (is_new_) fs::remove(paths_.folder);
  }

  /// Goes on with an earlier build, or begins.
  void begin() {
    const bool was_begun = fs::exists(paths_.building());
    std::optional<BuildState> earlier = read_state(paths_);
    const bool goes_on =
        !fs::exists(paths_.manifest()) && earlier && earlier->source == source_ &&
        (options_.shards == 0 ? fits(earlier->rules.shards) : options_.shards == earlier->rules.shards);
    if (goes_on) {
      state_ = std::move(*earlier);
      note(fmt::format("goes on with the build in {}: {}", paths_.folder, done_text()));
      for (const std::string& folder : {paths_.folder, paths_.building()}) {
        for_each_entry(folder, [](const fs::path& path, const std::string& name) {
          if (is_temporary(name)) fs::remove(path);
        });
      }
    } else {
      if (was_begun && !fs::exists(paths_.manifest())) {
        note(fmt::format("the build in {} was of other files or options, or was just begun; it begins anew",
                         paths_.folder));
      }
      const std::uint32_t shards =
          options_.shards != 0 ? options_.shards : shards_that_fit(points_.rows(), shape_, build_, usable_);
      state_.source = source_;
      state_.rules = CutRules::of(shards, build_);
    }
    require_rules(state_.rules);
    require_memory();
    if (goes_on) return;
    if (fs::exists(paths_.manifest())) describe_points();  // shards stay if what replaces them cannot be built
    remove_own();
    fs::create_directory(paths_.building());
    keep_state();
  }

  std::string done_text() const {
    if (!state_.files.empty()) {
      return fmt::format("{} of {} shards are built", state_.files.size(), state_.rules.shards);
    }
    if (state_.is_dealt) return "the points are dealt out";
    if (state_.plan) return fmt::format("{} rounds of cuts are known", state_.plan->rounds());
    return "it was just begun";
  }

  std::uint64_t bytes_to_build_one(std::uint32_t shards) const {
    return bytes_to_build((points_.rows() + shards - 1) / shards, shape_, build_);
  }
  bool fits(std::uint32_t shards) const { return bytes_to_build_one(shards) <= usable_; }

  void require_memory() const {
    const std::uint32_t shards = state_.rules.shards;
    if (!fits(shards)) {
      throw OutOfMemory(
          fmt::format("not enough memory: building one of {} shards needs {} bytes; allow as much, or "
                      "build more shards",
                      shards, memory_to_allow(bytes_to_build_one(shards))));
    }
    sizes();
  }
  StoredCutSizes sizes() const {
    return cut_sizes_that_fit(points_.rows(), shape_, state_.rules.shards, build_.threads, usable_);
  }
  StoredCutter cutter() const { return {points_, state_.rules, sizes(), build_.threads, options_.build.progress}; }

  void describe_points() {
    PointFacts facts = cutter().facts();
    facts.require_good();
    state_.facts = std::move(facts);
  }
  void describe() {
    if (state_.facts) return;
    describe_points();
    keep_state();
  }

  void cut() {
    if (!state_.plan) state_.plan.emplace(*state_.facts, state_.rules);
    if (state_.plan->is_done()) return;
    StoredCutter cutter = this->cutter();
    while (!state_.plan->is_done()) {
      const std::uint64_t passes = cutter.passes();
      state_.plan->take(cutter.counts(*state_.plan));
      if (cutter.passes() != passes) keep_state();  // the other rounds take no time
    }
    keep_state();
  }

  void require_disk(std::uint64_t needed) const {
    std::error_code unknown;
    const fs::space_info space = fs::space(paths_.folder, unknown);
    if (unknown || space.available >= needed) return;
    throw IoError(
        fmt::format("{}: {} bytes are needed on the disk, but {} are free", paths_.folder, needed, space.available));
  }
  std::uint64_t points_of(std::uint32_t shard) const {
    return state_.plan->first(shard + 1) - state_.plan->first(shard);
  }
  std::uint64_t disk_of_shards() const {
    std::uint64_t bytes = 0;
    for (std::uint32_t shard = 0; shard < state_.rules.shards; ++shard) {
      if (shard >= state_.files.size()) bytes += bytes_on_disk(points_of(shard), shape_, build_);
    }
    return bytes;
  }
  PlacedFile rows() const { return {paths_.rows(), state_.facts->searched * points_.row_bytes()}; }
  PlacedFile numbers() const { return {paths_.numbers(), state_.facts->searched * sizeof(std::uint64_t)}; }

  void deal() {
    if (state_.is_dealt) return;
    fs::remove(paths_.rows());
    fs::remove(paths_.numbers());
    require_disk(state_.facts->searched * points_.row_bytes() + disk_of_shards());
    PlacedFile rows = this->rows(), numbers = this->numbers();
    cutter().deal(*state_.plan, rows, numbers);
    rows.flush();
    numbers.flush();
    did_step();
    state_.is_dealt = true;
    keep_state();
  }

  void build_shards() {
    const std::uint32_t shards = state_.rules.shards;
    if (state_.files.size() == shards) return;
    PlacedFile rows = this->rows();
    const PlacedFile numbers = this->numbers();
    runtime::ProgressMeter meter(&options_.build.progress, "building shards", shards);
    meter.report(state_.files.size());
    for (auto shard = static_cast<std::uint32_t>(state_.files.size()); shard < shards; ++shard) {
      const std::uint64_t first = state_.plan->first(shard) * points_.row_bytes();
      const std::uint64_t bytes = points_of(shard) * points_.row_bytes();
      build_shard(shard, rows, numbers);
      did_step();
      keep_state();
      rows.forget(first, bytes);
      meter.report(shard + 1);
    }
    meter.finish();
  }

  void build_shard(std::uint32_t shard, const PlacedFile& rows, const PlacedFile& numbers) {
    const std::uint64_t first = state_.plan->first(shard), points = points_of(shard);
    if (points == 0) {
      state_.facts_of_shards.emplace_back();
      state_.files.emplace_back();
      return;
    }
    std::vector<ShardPoints> own(1);
    own[0] = {PointSet(shape_.dtype, points, shape_.dims), std::vector<std::uint64_t>(points)};
    rows.read_at(first * points_.row_bytes(), const_cast<void*>(own[0].points.view().data()), own[0].points.bytes());
    numbers.read_at(first * sizeof(std::uint64_t), own[0].numbers.data(), points * sizeof(std::uint64_t));
    const Shard built = Shard::build(std::move(own), state_.rules, build_);
    built.index().save(paths_.index(shard), {.threads = build_.threads});
    state_.files.push_back(describe_shard_file(paths_.index(shard), built.numbers()));
    state_.facts_of_shards.push_back(built.facts());
  }

  void finish() {
    write_manifest(paths_, {source_, ShardMap(*state_.facts, state_.rules, state_.facts_of_shards), state_.files});
    did_step();
    fs::remove_all(paths_.building());
  }

  const StoredPoints& points_;
  StoredPaths paths_;
  const StoredBuildOptions& options_;
  const std::function<void()>& after_step_;
  BuildOptions build_;
  ShardShape shape_;
  std::uint64_t usable_;
  std::string source_;
  bool is_new_ = false;
  BuildState state_;
};

}  // namespace

void build_folder(const StoredPoints& points, const std::string& folder, const StoredBuildOptions& options,
                  const std::function<void()>& after_step) {
  const runtime::Watched watched(&options.build.progress, "building");
  if (points.files.empty()) throw UsageError("shards: there is no file of points");
  if (options.build.device.kind() == Device::Kind::cuda) {
    throw UsageError("shards: those on the disk are built on the CPU");
  }
  if (options.build.threads < 0) {
    throw UsageError(fmt::format("threads must be at least 0, not {}", options.build.threads));
  }
  if (options.shards != 0) require_rules(CutRules::of(options.shards, options.build));
  try {
    FolderBuild(points, folder, options, after_step).run();
  } catch (const fs::filesystem_error& error) {
    throw IoError(error.what());
  }
}

}  // namespace kith::shards
